"""Advantages that the ranks must agree on: entropies and weights are gathered before anyone decides."""

from pathlib import Path

import numpy as np
import pytest

from tests.support.about import RANKS
from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.episodes import Group, Verdict
from trainer_core.update.learner import Learner
from worker.learner.ranks import LearnerGroup
from worker.loop.advantages import assign_advantages

pytestmark = [
    pytest.mark.live,
    pytest.mark.expensive(9, "learns on ranks in other processes", about=RANKS),
    pytest.mark.usefixtures("kept_ranks"),
]

PARTS = {
    "advantage": {"type": "vcpo"},
    "filters": [{"type": "high_entropy", "share": 0.3}],
    "optimizer": {"learning_rate": 1e-3, "epsilon": 1e-3},
}


def rewarded(step: int) -> list[Group]:
    groups, rng = make_groups(step, groups=9), np.random.default_rng(step)
    for trajectory in (t for group in groups for t in group.trajectories):
        trajectory.verdict = Verdict(float(rng.integers(0, 2)))
    return groups


def test_two_ranks_refine_as_one(policy_dir: Path) -> None:
    whole = make_spec(**PARTS)
    shared = make_spec(**PARTS, parallelism={"learner_ranks": 2, "zero_stage": 2, "max_tokens_per_microbatch": 128})
    alone, group = Learner(policy_dir, whole), LearnerGroup(policy_dir, shared)
    try:
        for step in (1, 2):
            expected, found = rewarded(step), rewarded(step)
            for groups in (expected, found):
                assign_advantages(groups, whole)
            metrics = group.update(found, shared, step)
            assert metrics == pytest.approx(alone.update(expected, whole, step), rel=1e-4, abs=1e-6)
        bundle = group.publish().open()
        for name, weight in alone.weights().items():
            np.testing.assert_allclose(bundle.tensors[name], weight, atol=1e-6)
    finally:
        group.close()
