"""A whole update by two learner ranks on Ray that share out the tokens of every micro-batch."""

from pathlib import Path

import numpy as np
import pytest

from tests.support.about import RANKS
from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.update.learner import Learner
from worker.learner.ranks import LearnerGroup

pytestmark = [
    pytest.mark.live,
    pytest.mark.expensive(8, "learns on ranks in other processes", about=RANKS),
    pytest.mark.usefixtures("kept_ranks"),
]


def test_two_ranks_that_share_tokens_learn_and_save_as_one(policy_dir: Path, tmp_path: Path) -> None:
    parts = {"kl": {"coefficient": 0.1}, "optimizer": {"learning_rate": 1e-3, "epsilon": 1e-3}}
    cut = {"learner_ranks": 2, "context_parallel_size": 2, "zero_stage": 3, "max_tokens_per_microbatch": 64}
    whole, shared = make_spec(**parts), make_spec(**parts, parallelism=cut)
    alone, group = Learner(policy_dir, whole), LearnerGroup(policy_dir, shared)
    try:
        expected, found = make_groups(1, groups=5), make_groups(1, groups=5)
        metrics = group.update(found, shared, 1)
        assert metrics == pytest.approx(alone.update(expected, whole, 1), rel=1e-4, abs=1e-6)
        for ours, theirs in zip(found, expected, strict=True):
            for one, other in zip(ours.trajectories, theirs.trajectories, strict=True):
                assert one.learner_logprobs is not None and other.learner_logprobs is not None
                np.testing.assert_allclose(one.learner_logprobs, other.learner_logprobs, atol=1e-4)
        bundle = group.publish().open()
        for name, weight in alone.weights().items():
            np.testing.assert_allclose(bundle.tensors[name], weight, atol=1e-6)
        saved = group.save(tmp_path / "checkpoint", {"kept": 1})
    finally:
        group.close()
    assert saved.version == 1
    # One rank reads what two have written in parts.
    again = Learner(policy_dir, whole)
    assert again.load(tmp_path / "checkpoint") == {"kept": 1}
    for name, weight in alone.weights().items():
        np.testing.assert_allclose(again.weights()[name], weight, atol=1e-6)
