"""Packed log-probabilities whose bits no company changes, and policies that have to be scored one by one for it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from tests.support.about import LEARNING
from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.episodes import Trajectory
from trainer_core.update.formats.precision import Flows
from trainer_core.update.learner import Learner
from trainer_core.update.model.adapter import attach
from trainer_core.update.model.invariance import use_batch_invariance
from trainer_core.update.model.policy import load_policy, score
from trainer_core.update.packed import attention, segments
from trainer_core.update.packed.packing import Packing, pack

LORA = {"type": "lora", "rank": 4, "alpha": 8.0}
TOGETHER = Packing(16_384, exact=True)
ASKED = {"batch_invariant": True}
SUMS = ("mm", "addmm", "bmm", "mean", "sum", "amax", "linalg_vector_norm", "_softmax", "_log_softmax")


def samples() -> list[Trajectory]:
    found = [t for group in make_groups(0, groups=5, longest=60) for t in group.trajectories]
    for index, trajectory in enumerate(found):
        trajectory.temperature = 0.5 + index / 20
    return found


class Sums(TorchDispatchMode):
    """Remembers the shapes of what is summed, where the sum has more than one term."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[tuple[Any, ...]] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, shapes = func.overloadpacket.__name__, [tuple(one.shape) for one in args if isinstance(one, Tensor)]
        of_one_term = name == "bmm" and shapes[1][1] == 1  # rotary angles
        if name in SUMS and not of_one_term:
            self.seen.add((name, *shapes))
        return func(*args, **(kwargs or {}))


@pytest.mark.expensive(2, "builds a learner and steps it", about=LEARNING)
@pytest.mark.parametrize("invariant", [True, False])
def test_no_company_changes_the_shape_of_a_sum(policy_dir: Path, invariant: bool) -> None:
    """On some machines a library's sums are the same in all shapes: then bits alone would tell nothing."""
    model = load_policy(policy_dir)
    if invariant:
        assert use_batch_invariance(model)
    with Sums() as alone, torch.no_grad():
        for trajectory in samples():
            score(model, pack([trajectory], TOGETHER)[0])
    with Sums() as together, torch.no_grad():
        score(model, pack(samples(), TOGETHER)[0])
    assert (together.seen <= alone.seen) is invariant


@pytest.mark.expensive(8, "builds a learner and steps it", about=LEARNING)
@pytest.mark.parametrize(
    ("threads", "plain_keys"),
    [
        pytest.param(1, 256, id="one thread"),
        pytest.param(
            2,
            24,
            id="masked and long attention",
            marks=pytest.mark.expensive(17, "attention in many pieces", about=("trainer_core/update", "kernels")),
        ),
    ],
)
@pytest.mark.parametrize(
    "settings",
    [{}, {"precision": {"type": "half", "dtype": "bfloat16"}}, {"policy": {"base": "tiny", "adapter": LORA}}],
    ids=["float32", "bfloat16", "lora"],
)
def test_no_company_changes_a_bit(
    policy_dir: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], threads: int, plain_keys: int
) -> None:
    monkeypatch.setattr(attention, "MAX_PLAIN_KEYS", plain_keys)
    if plain_keys == 24:
        monkeypatch.setattr(segments, "MAX_MASKED_KEYS", 40)
    spec = make_spec(**settings)
    model = load_policy(policy_dir, flows=Flows.of(spec))
    adapter = attach(model, spec.policy.adapter, seed=0, base="tiny")
    if adapter is not None:
        for name, parameter in model.named_parameters():
            if "lora_B" in name:  # it begins with zeros, and would hide what the adapter does
                torch.nn.init.normal_(parameter, std=0.1, generator=torch.Generator().manual_seed(1))
    assert use_batch_invariance(model)
    given, rng = samples(), np.random.default_rng(0)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        alone = [torch.stack(score(model, pack([one], TOGETHER)[0])) for one in given]
        for size in (2, 3, 7, 13, len(given)):
            chosen = [given[index] for index in rng.permutation(len(given))[:size]]
            [batch] = pack(chosen, TOGETHER)
            found = torch.stack(score(model, batch))
            for place, trajectory in enumerate(chosen):
                own = next(index for index, one in enumerate(given) if one is trajectory)
                assert torch.equal(found[:, batch.sequence == place], alone[own]), (size, place)
    finally:
        torch.set_num_threads(before)


def test_they_are_those_of_the_usual_mode(policy_dir: Path) -> None:
    usual, invariant = load_policy(policy_dir), load_policy(policy_dir)
    assert use_batch_invariance(invariant)
    [one], [other] = pack(samples(), 16_384), pack(samples(), TOGETHER)
    grads = []
    for model, batch in ((usual, one), (invariant, other)):
        logprobs, _ = score(model, batch)
        (logprobs * batch.advantages).sum().backward()
        grads.append((logprobs.detach(), [parameter.grad for parameter in model.parameters()]))
    torch.testing.assert_close(grads[1][0], grads[0][0], rtol=0, atol=2e-5)
    for mine, theirs in zip(grads[1][1], grads[0][1], strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5 * float(theirs.abs().max()))


def test_a_learner_packs_what_it_can_and_scores_the_rest_one_by_one(policy_dir: Path) -> None:
    twice = make_spec(parallelism=ASKED, kl={"coefficient": 0.1}, proximal={"type": "snapshot"})
    assert Learner(policy_dir, twice)._packing == TOGETHER
    assert Learner(policy_dir, make_spec())._packing == Packing(16_384)
    topk = make_spec(parallelism=ASKED, loss={"type": "dppo", "approximation": "top_k"}, corrections=[])
    fp8 = make_spec(
        parallelism=ASKED,
        rollout={"engine": {"dtype": "bfloat16", "lm_head_dtype": "float32", "quantization": {"type": "fp8"}}},
        precision={"type": "unified"},
    )
    stored = make_spec(parallelism={**ASKED, "zero_stage": 2}, policy={"base": "tiny", "dtype": "bfloat16"})
    for spec in (topk, fp8, stored):
        assert Learner(policy_dir, spec)._packing == Packing(16_384, alone=True)


@pytest.mark.expensive(3, "builds a learner and steps it", about=LEARNING)
@pytest.mark.parametrize("stage", [1, 3])
def test_partitioned_weights_make_the_same_update(policy_dir: Path, stage: int) -> None:
    found = []
    for parallelism in ({}, {**ASKED, "zero_stage": stage}):
        spec = make_spec(parallelism=parallelism, optimizer={"learning_rate": 1e-3, "epsilon": 1e-3})
        learner = Learner(policy_dir, spec)
        learner.update(make_groups(1), spec, 1)
        found.append(learner.weights())
    for name, weight in found[0].items():
        np.testing.assert_allclose(found[1][name], weight, atol=1e-6)
