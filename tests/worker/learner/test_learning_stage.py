"""The learning stage: a step streamed through its queue is the whole step; what the spec forbids comes back."""

from pathlib import Path

import numpy as np
import pytest

from tests.support.about import RANKS
from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.update.learner import Learner
from trainer_core.update.streaming import CannotStream
from worker.learner.stage import LearningStage

pytestmark = [
    pytest.mark.live,
    pytest.mark.expensive(5, "learns on ranks in other processes", about=RANKS),
    pytest.mark.usefixtures("kept_ranks"),
]


def test_pieces_are_queued_and_make_the_update_of_the_whole(policy_dir: Path) -> None:
    spec = make_spec(optimizer={"learning_rate": 1e-3, "epsilon": 1e-3})
    alone, stage = Learner(policy_dir, spec), LearningStage()
    try:
        stage.start(policy_dir, spec, {}, None).result()
        for step in (1, 2):
            expected, found = make_groups(step), make_groups(step)
            metrics = alone.update(expected, spec, step)
            stage.begin(spec, step)
            pieces = [stage.accumulate([group]) for group in found]
            learned = stage.finish().result()
            assert learned.metrics == pytest.approx(metrics, rel=1e-4, abs=1e-6)
            assert learned.learn_s >= sum(piece.result() for piece in pieces) > 0
            bundle = learned.weights.open()
            assert bundle.version == step
            for name, weight in alone.weights().items():
                np.testing.assert_allclose(bundle.tensors[name], weight, atol=1e-6)
            for group, other in zip(found, expected, strict=True):
                for mine, theirs in zip(group.trajectories, other.trajectories, strict=True):
                    np.testing.assert_allclose(mine.learner_logprobs, theirs.learner_logprobs, atol=1e-5)
        with pytest.raises(CannotStream, match="prompt_mean cannot be streamed"):
            stage.begin(make_spec(aggregation={"type": "prompt_mean"}), 3).result()
        with pytest.raises(RuntimeError, match="no step is open"):
            stage.finish().result()
    finally:
        stage.close()
