"""Faults planted between learner and engine, in 16 bits and in FP8: each is found at the first update."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.bench.probe_faults import DENSE, MATRIX, Pair, Tensors, faults
from worker.learner.probe.check import apply_and_probe
from worker.learner.probe.errors import ProbeFailed
from worker.learner.transport import TRANSPORTS
from worker.messages.probe import Floor

BY_NAME = {fault.name: fault for fault in faults()}
PLANTED = ("a tensor half written", "a tensor scaled by 1 %", "float16 read as bfloat16")
RATE = 1e-4
Learnt = tuple[Pair, Tensors, Floor]


@pytest.fixture(
    scope="module",
    params=[(kind, sharpen) for kind in ("bfloat16", "fp8") for sharpen in (1.0, 10.0)],
    ids=lambda row: f"{row[0]}-{'soft' if row[1] == 1.0 else 'sharp'}",
)
def learnt(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Learnt]:
    """A learner and its engine after one update; the version before it; the noise of the start."""
    kind, sharpen = request.param
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOCAL_RANK", "0")  # put back behind the pair, which sets it, too
        pair = Pair(tmp_path_factory.mktemp("policy"), (DENSE, kind, sharpen), RATE)
        floor = apply_and_probe(pair.engine, pair.bundle, pair.spec.rollout.engine.tolerance).floor
        old = {name: tensor.clone() for name, tensor in pair.bundle.unpacked().items()}
        pair.learn()
        yield pair, old, floor
        pair.engine.close()


@pytest.mark.parametrize("planted", PLANTED)
def test_a_fault_is_found_at_the_first_update_and_a_clean_one_passes(learnt: Learnt, planted: str) -> None:
    pair, old, floor = learnt
    tolerance, bundle = pair.spec.rollout.engine.tolerance, pair.bundle
    held = BY_NAME[planted].change(old, dict(bundle.unpacked()))
    faulty = replace(bundle, tensors=TRANSPORTS[bundle.transport].pack(bundle.version, [held]), base_key="")
    with pytest.raises(ProbeFailed) as caught:
        apply_and_probe(pair.engine, faulty, tolerance, floor)
    first = caught.value.findings[0]
    assert first.startswith("1 of ") and f" not as published: {MATRIX}" in first, first
    assert caught.value.by_noise is False
    passed = apply_and_probe(pair.engine, bundle, tolerance, floor)
    assert (passed.read_share, passed.retried) == (1.0, "")
    assert passed.mean <= 4 * passed.floor.mean
