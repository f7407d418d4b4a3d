"""Batches are made of whole groups, oldest first; a token that is too old is refused even if the books are right."""

from typing import Any

import numpy as np
import pytest

from trainer_core.episodes import Group, Trajectory, Verdict
from trainer_core.spec import RunSpec
from trainer_core.steering.staleness import GroupState, StalenessError, StalenessLedger
from trainer_core.steering.token_age import staleness_metrics
from worker.loop.buffer import TrajectoryBuffer
from worker.loop.dispatch import may_have_signal, sampling
from worker.messages.jobs import Parked
from worker.messages.ticket import Ticket


def trajectory(versions: list[int], reward: float | None = None) -> Trajectory:
    """One token per version; a version of −1 stands for a forced token."""
    return Trajectory(
        trajectory_id="t",
        prompt_ids=np.zeros(1, np.int32),
        token_ids=np.zeros(len(versions), np.int32),
        behaviour_logprobs=np.zeros(len(versions), np.float32),
        versions=np.array(versions, np.int32),
        sampled=np.array([version >= 0 for version in versions]),
        finish_reason="stop",
        temperature=1.0,
        verdict=Verdict(reward=reward),
    )


def ticket(name: str, spec: Any, revision: int = 0, **changes: Any) -> Ticket:
    document = RunSpec.model_validate(spec(**changes))
    group = Group(name, "add:0", "add", "add@1", {}, "", revision)
    return Ticket(group, np.zeros(1, np.int32), document, 2, sampling(document), applications=revision)


def scored(buffer: TrajectoryBuffer, entry: Ticket, *versions: list[int]) -> None:
    buffer.add(entry)
    buffer.ledger.dispatch(entry.name)
    entry.group.trajectories = [trajectory(row) for row in versions]
    buffer.ledger.score(entry.name)


def test_a_batch_is_the_oldest_groups_and_bears_their_newest_spec(spec: Any) -> None:
    buffer = TrajectoryBuffer(StalenessLedger(1, 2))
    scored(buffer, ticket("1-0", spec, 3), [0])
    scored(buffer, ticket("1-1", spec, 4, rollout__temperature=0.5), [0, 0])
    scored(buffer, ticket("2-0", spec, 5), [0])
    batch = buffer.take(1)
    assert [group.group_id for group in batch.groups] == ["1-0", "1-1"]
    assert (batch.revision, batch.spec.rollout.temperature) == (4, 0.5)
    assert list(buffer.tickets) == ["2-0"]


def test_a_token_that_is_too_old_is_refused_when_the_batch_is_taken(spec: Any) -> None:
    buffer = TrajectoryBuffer(StalenessLedger(1, 1, version=4))
    scored(buffer, ticket("5-0", spec), [4], [2])
    with pytest.raises(StalenessError, match="2 versions old: bound 1"):
        buffer.take(5)


def test_parked_groups_keep_their_tokens_and_reset_ones_lose_them(spec: Any) -> None:
    buffer = TrajectoryBuffer(StalenessLedger(2, 1))
    for name in ("1-0", "1-1"):
        buffer.add(ticket(name, spec))
        buffer.ledger.dispatch(name)
    prefix = Parked({}, {})
    buffer.park({"1-0": prefix}, keep=True)
    buffer.park({"1-1": prefix}, keep=False)
    assert [t.name for t in buffer.held(GroupState.PARKED, GroupState.WAITING)] == ["1-0", "1-1"]
    assert buffer.tickets["1-0"].job().parked is prefix and buffer.tickets["1-1"].job().parked is None


def test_a_group_that_is_let_go_is_gone(spec: Any) -> None:
    buffer = TrajectoryBuffer(StalenessLedger(0, 1))
    entry = ticket("1-0", spec)
    scored(buffer, entry, [0])
    buffer.report(entry)
    assert not buffer.tickets and not buffer.ledger.ready()


def test_staleness_is_told_over_sampled_tokens() -> None:
    group = Group("1-0", "s:0", "s", "s@1", {}, "", 0, trajectories=[trajectory([3, -1, 1]), trajectory([3, 3])])
    told = {"staleness/mean": 0.5, "staleness/max": 2.0, "staleness/share/0": 0.75, "staleness/share/2": 0.25}
    assert staleness_metrics([group], 3) == told
    forced = Group("1-1", "s:0", "s", "s@1", {}, "", 0, trajectories=[trajectory([-1])])
    assert staleness_metrics([forced], 3) == {}


@pytest.mark.parametrize(
    ("rewards", "signal"), [([1.0, 1.0], False), ([1.0, 0.0], True), ([None, 1.0], True), ([0.0], False)]
)
def test_a_group_has_signal_when_rewards_differ_or_one_is_unknown(rewards: list[float | None], signal: bool) -> None:
    group = Group("g", "s:0", "s", "s@1", {}, "", 0, trajectories=[trajectory([0], reward) for reward in rewards])
    assert may_have_signal(group) is signal
    pruned = trajectory([0], None)
    pruned.finish_reason = "pruned"
    group.trajectories.append(pruned)
    assert may_have_signal(group) is signal, "a pruned sample has no reward, and none is missed"
