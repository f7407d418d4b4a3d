"""An adapter on two ranks: the update of one, with the reference asked between the micro-batches."""

from pathlib import Path

import numpy as np
import pytest

from tests.support.about import RANKS
from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.update.learner import Learner
from worker.learner.ranks import LearnerGroup

pytestmark = [
    pytest.mark.live,
    pytest.mark.expensive(19, "learns on ranks in other processes", about=RANKS),
    pytest.mark.usefixtures("kept_ranks"),
]

PARTS = {
    "policy": {"base": "tiny", "adapter": {"type": "lora", "rank": 4}},
    "kl": {"coefficient": 0.1},
    "optimizer": {"learning_rate": 1e-3, "epsilon": 1e-3},
}


def test_two_ranks_train_the_adapter_of_one(policy_dir: Path, tmp_path: Path) -> None:
    whole = make_spec(**PARTS)
    shared = make_spec(**PARTS, parallelism={"learner_ranks": 2, "zero_stage": 3, "max_tokens_per_microbatch": 128})
    alone, group = Learner(policy_dir, whole), LearnerGroup(policy_dir, shared)
    try:
        for step in (1, 2):
            expected, found = make_groups(step, groups=5), make_groups(step, groups=5)
            metrics = group.update(found, shared, step)
            assert metrics == pytest.approx(alone.update(expected, whole, step), rel=1e-3, abs=1e-6)
        bundle = group.publish().open()
        for name, weight in alone.weights().items():
            np.testing.assert_allclose(bundle.tensors[name], weight, atol=1e-6)
        group.save(tmp_path / "c")
        alone.load(tmp_path / "c")
        assert all(np.array_equal(bundle.tensors[name], weight) for name, weight in alone.weights().items())
    finally:
        group.close()
