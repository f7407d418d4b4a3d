"""The buffer's bound on staleness, and the order of steps."""

from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest

from trainer_core.spec import RunSpec
from trainer_core.trajectory import Group, Trajectory
from worker.buffer import Batch, StalenessError, TrajectoryBuffer, batch_staleness


def batch(step: int, versions: list[list[int]], spec: Any) -> "Future[Batch]":
    trajectories = [
        Trajectory(
            trajectory_id=str(index),
            prompt_ids=np.zeros(1, np.int32),
            token_ids=np.zeros(len(row), np.int32),
            behaviour_logprobs=np.zeros(len(row), np.float32),
            versions=np.array(row, np.int32),
            sampled=np.array([version >= 0 for version in row]),
            finish_reason="stop",
            temperature=1.0,
        )
        for index, row in enumerate(versions)
    ]
    group = Group(f"{step}-0", "s:0", "s", "s@1", {}, "", 0, trajectories)
    future: Future[Batch] = Future()
    future.set_result(Batch(step, RunSpec.model_validate(spec()), 0, 0, [group], []))
    return future


def test_sync_holds_one_batch_of_the_present_weights(spec: Any) -> None:
    buffer = TrajectoryBuffer(0)
    buffer.admit(4, 3, batch(4, [[3, 3], [3]], spec))
    assert 4 in buffer and 5 not in buffer and not buffer.overlaps
    with pytest.raises(StalenessError, match="out of order"):
        buffer.admit(5, 4, batch(5, [[4]], spec))
    taken, staleness = buffer.take(4)
    assert (taken.step, staleness) == (4, (0.0, 0))


def test_weights_beyond_the_bound_are_refused_at_dispatch(spec: Any) -> None:
    with pytest.raises(StalenessError, match="bound 0"):
        TrajectoryBuffer(0).admit(4, 2, batch(4, [[2]], spec))
    with pytest.raises(StalenessError, match="bound 1"):
        TrajectoryBuffer(1).admit(4, 1, batch(4, [[1]], spec))


def test_async_holds_two_batches_in_step_order(spec: Any) -> None:
    buffer = TrajectoryBuffer(1)
    buffer.admit(1, 0, batch(1, [[0]], spec))
    buffer.admit(2, 0, batch(2, [[0, 1]], spec))
    with pytest.raises(StalenessError, match="not next"):
        buffer.future(2)
    assert buffer.take(1)[1] == (0.0, 0)
    assert buffer.take(2)[1] == (0.5, 1)


def test_tokens_older_than_the_bound_are_refused_when_taken(spec: Any) -> None:
    buffer = TrajectoryBuffer(1)
    buffer.admit(5, 3, batch(5, [[4], [2]], spec))
    with pytest.raises(StalenessError, match="2 versions old"):
        buffer.take(5)


def test_forced_tokens_have_no_staleness(spec: Any) -> None:
    group = batch(3, [[2, -1, 2]], spec).result().groups
    assert batch_staleness(group, 2) == (0.0, 0)
    assert batch_staleness([], 2) == (0.0, 0)
