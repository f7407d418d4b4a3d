"""What ranks agree on before the first update: two that share a step find what one finds. Threads stand for ranks."""

import copy
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch

from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.episodes import Group, Trajectory, Verdict
from trainer_core.spec import RunSpec
from trainer_core.update.objective import guidance, penalised, standardise
from trainer_core.update.objective.returns import KnownTokens
from trainer_core.update.packed.packing import TokenBatch, pack
from trainer_core.update.packed.sharding import shards

Found = dict[tuple[str, int], float]
PENALTY = {"estimator": "k1", "placement": "reward", "coefficient": 0.7}
SPECS: dict[str, dict[str, Any]] = {
    "reinforce_pp": {"advantage": {"type": "reinforce_pp", "std": "sample"}, "kl": PENALTY},
    "reinforce_pp_baseline": {"advantage": {"type": "reinforce_pp_baseline", "weighting": "samples"}, "kl": PENALTY},
    "rloo": {"advantage": {"type": "rloo", "whiten": "batch"}, "kl": PENALTY},
    "scope": {"distillation": {"teacher": "t", "weighting": {"type": "scope"}}},
}


class Meeting:
    """A place where as many threads as there are ranks tell one another their values."""

    def __init__(self, ranks: int) -> None:
        self._barrier = threading.Barrier(ranks, timeout=60)
        self._told: list[Any] = [None] * ranks
        self.own = threading.local()

    def gather(self, value: Any) -> list[Any]:
        self._told[self.own.rank] = value
        self._barrier.wait()
        told = list(self._told)
        self._barrier.wait()
        return told


def score(trajectory: Trajectory, offset: int, which: int) -> float:
    """A number that depends on the token alone."""
    return -float(np.random.default_rng((int(trajectory.trajectory_id[1:]), offset, which)).random())


def look(mine: list[Trajectory], batch: TokenBatch) -> KnownTokens:
    keys = list(zip(batch.sequence.tolist(), batch.offset.tolist(), strict=True))
    columns = [torch.tensor([score(mine[s], o, which) for s, o in keys]) for which in range(3)]
    return KnownTokens(before=columns[0], reference=columns[1], teacher=columns[2])


def found_by(spec: RunSpec, groups: list[Group], mine: list[Trajectory]) -> Found:
    """Advantage, or weight under the teacher, of each of this rank's tokens."""
    batches = pack(mine, 60)
    known = [look(mine, batch) for batch in batches]
    if spec.distillation is None:
        [renewed] = penalised.penalise(spec, groups, [(mine, batches, known)])
        values = [batch.advantages for batch in renewed]
    else:
        guidance.guide(spec, groups, [(mine, batches, known)])
        values = [one.guide for one in known if one.guide is not None]
    return {
        (mine[s].trajectory_id, o): value
        for batch, own in zip(batches, values, strict=True)
        for s, o, value in zip(batch.sequence.tolist(), batch.offset.tolist(), own.tolist(), strict=True)
    }


def step() -> list[Group]:
    groups, rng = make_groups(5, groups=3, longest=12), np.random.default_rng(5)
    for trajectory in (t for group in groups for t in group.trajectories):
        trajectory.verdict = Verdict(float(rng.integers(0, 2)))
    groups[0].trajectories[1].excluded = "truncated"
    return groups


@pytest.mark.parametrize("name", SPECS)
def test_two_ranks_find_what_one_does(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    spec = make_spec(filters=[], **SPECS[name])
    whole = step()
    expected = found_by(spec, whole, [t for group in whole for t in group.trajectories])
    meeting = Meeting(2)
    places: list[tuple[Any, str]] = [(penalised, "gather"), (guidance, "gather"), (standardise, "gather_tensors")]
    for module, function in places:
        monkeypatch.setattr(module, function, meeting.gather)

    def work(rank: int) -> Found:
        meeting.own.rank = rank
        own = copy.deepcopy(step())  # every rank has its own copy of the whole step
        return found_by(spec, own, shards([t for group in own for t in group.trajectories], 2)[rank])

    run: Callable[[int], Found] = work
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(run, range(2))
    assert first.keys() and second.keys() and not first.keys() & second.keys()
    assert first | second == pytest.approx(expected, rel=1e-6, abs=1e-9)
