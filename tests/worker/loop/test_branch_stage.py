"""When branches are sent, and when their groups are handed over: the stage between engines that answer at once."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.trainer_core.specs import document
from trainer_core.episodes import Group
from trainer_core.rewards.score import Score
from trainer_core.spec import RunSpec
from worker.engine import Completion, Sampling
from worker.messages.chunk import pack
from worker.messages.jobs import Collected, GroupJob
from worker.messages.ticket import Ticket
from worker.rewards.worker import Scored
from worker.rollout.branches import Brancher
from worker.rollout.generation import GenerationStage
from worker.rollout.timeline import Timeline

VINE = {"type": "vine", "branches": 2, "steps": {"type": "tokens", "every": 2}, "whiten": "none"}


@dataclass
class Engines:
    """Keeps what is submitted until it is told to finish it: each sample has four tokens, a prefix included."""

    submissions: list[tuple[list[str], int, bool]] = field(default_factory=list)
    jobs: dict[str, GroupJob] = field(default_factory=dict)
    deliver: Any = None
    update_ended: Future[float] = field(default_factory=Future)

    def update(self, weights: Any, version: int, kv: Any, alone: bool) -> Future[float]:
        return self.update_ended

    def serve(self, deliver: Any, failed: Any) -> None:
        self.deliver = deliver

    def submit(self, jobs: Sequence[GroupJob], seed: int, alone: bool) -> None:
        self.submissions.append(([job.name for job in jobs], seed, alone))
        self.jobs.update({job.name: job for job in jobs})

    def finish(self, name: str) -> None:
        job = self.jobs.pop(name)
        done = [self._completion(job, sample) for sample in range(job.samples)]
        chunk = pack([(0, done)])
        load: Any = SimpleNamespace()
        self.deliver(0, Collected((name,), chunk, load, 0.0, (), ()))

    def _completion(self, job: GroupJob, sample: int) -> Completion:
        prefix = job.parked.prefixes.get(sample) if job.parked else None
        start = list(prefix.token_ids) if prefix else []
        tokens = [*start, *range(10 + len(start), 14)]
        size = len(tokens)
        return Completion(
            str(sample), (1, 2), tokens, [-1.0] * size, [0] * size, [True] * size, "stop", 0, False, 0.0, 1.0
        )


class Rewards:
    """Scores every sample with 1, while it may."""

    def __init__(self) -> None:
        self.may = threading.Event()
        self.may.set()

    def submit(self, chunk: Any, items: Any, limits: Any, versions: Any) -> Any:
        return SimpleNamespace(chunk=chunk)

    def result(self, pending: Any) -> Scored:
        assert self.may.wait(20.0)
        count = len(pending.chunk)
        return Scored([""] * count, [Score(reward=1.0)] * count, 0.0, [{}] * count)

    def close(self) -> None:
        return


@pytest.fixture
def stage() -> Any:
    engines, handed = Engines(), threading.Condition()

    def wake() -> None:
        with handed:
            handed.notify_all()

    made = GenerationStage(engines, Rewards(), Timeline(), wake, Brancher(str, None))  # type: ignore[arg-type]
    found: list[Ticket] = []

    def scored(count: int) -> list[str]:
        """Names of the groups that have come, once there are ``count`` of them."""

        def arrived() -> bool:
            made.check_failure()
            found.extend(made.scored())
            return len(found) >= count

        with handed:
            assert handed.wait_for(arrived, 20.0), (found, engines.submissions)
        return [ticket.name for ticket in found]

    def settled() -> None:
        """All that was delivered has been scored."""
        made._thread.submit(lambda: None).result(20.0)

    made.check_failure = lambda: _raise(made._failure)  # type: ignore[attr-defined]
    yield SimpleNamespace(stage=made, engines=engines, scored=scored, settled=settled, found=found)
    made._thread.shutdown()


def _raise(failure: BaseException | None) -> None:
    if failure is not None:
        raise failure


def tickets(mode: dict[str, Any], names: Sequence[str], advantage: dict[str, Any] | None = None) -> list[Ticket]:
    spec = RunSpec.model_validate(document(advantage=advantage or VINE, rollout={"mode": mode}))
    prompt = np.array([1, 2], np.int32)
    groups = [Group(name, "sums:0", "sums", "sums@1", {}, "", 0) for name in names]
    return [Ticket(group, prompt, spec, 2, Sampling(1.0, max_tokens=8)) for group in groups]


def test_modes_that_take_turns_send_branches_when_all_groups_are_there(stage: Any) -> None:
    made = tickets({"type": "sync"}, ["1-0", "1-1"])
    stage.stage.dispatch(made, 7, True)
    stage.engines.finish("1-1")
    stage.settled()
    assert len(stage.engines.submissions) == 1  # its branches wait for the other group
    stage.engines.finish("1-0")
    stage.settled()
    (_, first, _), (names, seed, alone) = stage.engines.submissions
    assert (names, alone) == (["1-0/branches", "1-1/branches"], True)
    assert first == 7 and seed != 7
    assert stage.stage.scored() == []
    stage.engines.finish("1-0/branches")
    assert stage.scored(1) == ["1-0"]
    stage.engines.finish("1-1/branches")
    assert stage.scored(2) == ["1-0", "1-1"]
    for ticket in stage.found:
        assert len(ticket.group.trajectories) == 2
        for trajectory in ticket.group.trajectories:
            assert trajectory.step_starts.tolist() == [0, 2]
            assert trajectory.state_values.tolist() == [1.0, 1.0]
    cost = stage.stage.brancher.cost
    # For each group one prompt and two states; every branch has two or four tokens of its own.
    assert (cost.states, cost.rollouts, cost.tokens) == (6, 12, 2 * (2 * 4 + 4 * 2))

    again = tickets({"type": "sync"}, ["1-0", "1-1"])
    stage.stage.dispatch(again, 7, True)
    for name in ("1-0", "1-1"):
        stage.engines.finish(name)
    stage.settled()
    assert stage.engines.submissions[-1] == (names, seed, alone)


def test_modes_that_overlap_send_them_at_once(stage: Any) -> None:
    stage.stage.dispatch(tickets({"type": "async"}, ["1-0", "1-1"]), 7, False)
    stage.engines.finish("1-1")
    stage.settled()
    assert stage.engines.submissions[1][0] == ["1-1/branches"]
    assert stage.engines.submissions[1][2] is False
    stage.engines.finish("1-1/branches")
    assert stage.scored(1) == ["1-1"]


def test_rewards_are_timed_where_generation_does_not_hide_them(stage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    now = SimpleNamespace(perf_counter=lambda: now.at, at=0.0)
    monkeypatch.setattr("worker.rollout.stopwatch.time", now)
    rewards = stage.stage._rewards
    rewards.may.clear()
    stage.stage.dispatch(tickets({"type": "sync"}, ["1-0", "1-1"], {"type": "grpo"}), 7, True)
    now.at = 1.0
    stage.engines.finish("1-0")
    now.at = 3.0
    stage.engines.finish("1-1")
    now.at = 5.0
    assert (stage.stage.generated_s, stage.stage.reward_s) == (3.0, 2.0)
    rewards.may.set()
    stage.settled()
    now.at = 9.0
    assert (stage.stage.generated_s, stage.stage.reward_s) == (3.0, 2.0)


def test_other_advantages_are_handed_over_as_they_come(stage: Any) -> None:
    stage.stage.dispatch(tickets({"type": "sync"}, ["1-0", "1-1"], {"type": "grpo"}), 7, True)
    stage.engines.finish("1-1")
    assert stage.scored(1) == ["1-1"]
    assert len(stage.engines.submissions) == 1
    assert stage.stage.brancher.cost.rollouts == 0


def test_new_weights_of_idle_engines_are_no_generation(stage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    now = SimpleNamespace(perf_counter=lambda: now.at, at=0.0)
    monkeypatch.setattr("worker.rollout.stopwatch.time", now)
    stage.stage.update(None, 1, "keep", True)
    stage.stage.dispatch(tickets({"type": "sync"}, ["1-0"], {"type": "grpo"}), 7, True)
    now.at = 1.0
    assert stage.stage.generated_s == 0.0
    stage.engines.update_ended.set_result(0.0)
    now.at = 3.0
    assert stage.stage.generated_s == 2.0
    stage.engines.update_ended = Future()
    stage.stage.update(None, 2, "keep", False)  # under a running group, which goes on
    now.at = 4.0
    stage.engines.finish("1-0")
    assert stage.stage.generated_s == 3.0
