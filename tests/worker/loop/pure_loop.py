"""The real loop of a run on engines and a learner that only count: no Ray, no weights, no clock.

Everything that decides about groups is a run's own code: ``controller.train``, ``ActiveRun``, dispatch, buffer,
updates, advantages, replay, saving. Time passes when the loop waits: each wait is one round of the engines, and may end
the learner's next piece of work. A ``World`` outlives the attempts of its run, as the disk and the platform do.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np

from trainer_core.episodes import Group, Trajectory, Verdict
from trainer_core.link.reward import RewardVersion
from trainer_core.planning.compute import Peaks
from trainer_core.rewards.definition import RewardDefinition
from trainer_core.spec import RunSpec
from trainer_core.update.saving.saved import SavedCheckpoint
from worker.errors import RolloutError
from worker.learner.stage import Learned
from worker.loop.controller import train
from worker.loop.parts import PromptRows, RunParts
from worker.loop.run import ActiveRun
from worker.messages.probe import Floor, ProbeFigures
from worker.messages.ticket import Ticket
from worker.rollout.branches import BranchCost
from worker.rollout.timeline import Timeline

REWARD = {"components": [{"name": "right", "weight": 1.0, "grader": {"type": "numeric"}}]}
FIGURES = ProbeFigures(0.0, 0.0, 0.0, Floor(0.0, 0.0, 0.0), 1.0)
Outcome = Callable[[int, int], tuple[int, float | None]]
"""(row, sample) → tokens, and the reward; None for one that could not be computed."""


class Killed(BaseException):
    """The process that trains is gone."""


def rows(count: int) -> list[dict[str, Any]]:
    return [{"prompt": f"row {number}", "answer": str(number)} for number in range(count)]


class World:
    """One run: its checkpoints and its events, whichever attempt has written them."""

    def __init__(
        self, spec: RunSpec, folder: Path, outcome: Outcome, data: Sequence[dict[str, Any]], seed: int
    ) -> None:
        self.spec, self.folder, self.outcome, self.data = spec, folder, outcome, list(data)
        self.chance = Random(seed)
        self.disk: dict[int, str] = {}
        """The loop's state after a step, as JSON."""
        self.learned: dict[int, list[Group]] = {}
        """Groups of each step that the learner was handed, by the last attempt that has learned it."""
        self.steps: dict[int, dict[str, Any]] = {}
        """Data of the last report of each step."""
        self.settled: dict[int, list[dict[str, Any]]] = {}
        """Prompts that were reported with each step."""
        self.logs: list[str] = []
        self.attempts = 0
        self._left: int | None = None

    def attempt(self, calls: int | None = None) -> bool:
        """One attempt, from the newest checkpoint. Killed at its ``calls``-th call to the outside, unless None.

        Returns whether the run has succeeded.
        """
        self.attempts += 1
        self._left = calls
        state = json.loads(self.disk[max(self.disk)]) if self.disk else {}
        since = state["step"] if state else 0
        for of_steps in (self.learned, self.steps, self.settled):
            for step in [step for step in of_steps if step > since]:
                del of_steps[step]
        run = _Attempt(self, state).run
        try:
            train(run)
        except Killed:
            return False
        finally:
            run.close()
        return True

    def danger(self) -> None:
        """A moment at which the process may be killed."""
        if self._left is not None:
            self._left -= 1
            if self._left <= 0:
                raise Killed

    def emit(self, data: Any, step: int | None = None) -> int:
        self.danger()
        if data.kind == "step":
            assert step is not None
            self.steps[step] = data.wire()
        elif data.kind == "outcomes":
            assert step is not None
            self.settled.setdefault(step, []).extend(data.wire()["prompts"])
        elif data.kind == "log":
            self.logs.append(data.message)
            assert data.level != "error", data.message
        return 1


class _Attempt:
    """The machinery around one ``ActiveRun``."""

    def __init__(self, world: World, state: dict[str, Any]) -> None:
        self.generation = _Generation(world, state.get("policy_version", 0))
        self.learning = _Learning(world, state.get("policy_version", 0))
        bundle: Any = SimpleNamespace(
            run_id="run_pure",
            attempt=world.attempts,
            spec=world.spec,
            versions={"calculation@1": RewardVersion(definition=RewardDefinition.model_validate(REWARD))},
            revision=0,
            ramps=(),
            run_dir=world.folder,
            measure_noise=False,
            evaluated=True,
            resume=SimpleNamespace(step=state["step"]) if state else None,
        )
        tokens = np.arange(3, dtype=np.int32)
        prompts = PromptRows(world.data, world.spec.data.sources[0].format, [tokens] * len(world.data), 3)
        tokenizer: Any = SimpleNamespace(
            prompt_text=lambda item, form: item["prompt"], token_text=str, encode_rows=lambda *_: []
        )
        woken: Any = SimpleNamespace(wait=self._round, set=lambda: None, clear=lambda: None)
        parts = RunParts(
            generation=self.generation,  # type: ignore[arg-type]
            learning=self.learning,  # type: ignore[arg-type]
            tokenizer=tokenizer,
            sources={source.name: prompts for source in world.spec.data.sources},
            evaluations=[],
            state=state,
            timeline=Timeline(),
            judges=lambda: None,  # type: ignore[arg-type,return-value]
            woken=woken,
            seconds={},
            parameters=1,
            peaks=Peaks(1.0, 1.0),
            device="cpu",
        )
        link: Any = SimpleNamespace(
            emit=world.emit,
            phase=lambda *_: world.danger(),
            commands=lambda: [],
            control=lambda *_: None,
            desired_state="running",
            acked_seq=0,
            flush=lambda seconds: True,
            fenced=None,
        )
        upload: Any = SimpleNamespace(stop=lambda: None, close=lambda: None)
        (world.folder / "checkpoints").mkdir(exist_ok=True)
        self.run = ActiveRun(bundle, parts, link, world.danger, upload)

    def _round(self, timeout_s: float) -> None:
        self.generation.sample()
        self.learning.work()


class _Generation:
    """Engines and reward workers. A row decides how long its samples are and what they are worth."""

    def __init__(self, world: World, version: int) -> None:
        """``version`` is that of the weights that the engines start with: the checkpoint's."""
        self._world = world
        self._left: dict[str, tuple[Ticket, int]] = {}
        """Tokens that each group still needs."""
        self._scored: deque[Ticket] = deque()
        self._version = version
        self.engines: Any = SimpleNamespace(floor=None, regenerated=0, loads={}, sample=self._no_text)
        self.brancher: Any = SimpleNamespace(cost=BranchCost())
        self.pauses: deque[float] = deque()
        self.kv_usage = self.generated_s = self.reward_s = 0.0

    def dispatch(self, tickets: Sequence[Ticket], seed: int, alone: bool) -> None:
        self._world.danger()
        for ticket in tickets:
            assert ticket.name not in self._left
            if ticket.parked is None:
                longest = max(self._world.outcome(_row(ticket), sample)[0] for sample in range(ticket.samples))
                ticket.parked = SimpleNamespace(left=longest, version=self._version)  # type: ignore[assignment]
            self._left[ticket.name] = ticket, ticket.parked.left  # type: ignore[union-attr]

    def sample(self) -> None:
        """One round of the engines: some groups get a token."""
        for name, (ticket, left) in list(self._left.items()):
            if self._world.chance.random() < 0.2:
                continue
            self._left[name] = ticket, left - 1
            if left <= 1:
                del self._left[name]
                self._score(ticket)

    def scored(self) -> list[Ticket]:
        found, self._scored = list(self._scored), deque()
        return found

    def park(self) -> dict[str, Any]:
        stopped, self._left = self._left, {}
        return {
            name: SimpleNamespace(left=left, version=ticket.parked.version)  # type: ignore[union-attr]
            for name, (ticket, left) in stopped.items()
        }

    def update(self, weights: Any, version: int, kv: str, alone: bool) -> Future[ProbeFigures]:
        self._world.danger()
        self._version = version
        return _done(FIGURES)

    def rescore(self, tickets: Sequence[Ticket]) -> Future[int]:
        return _done(0)

    def equip(self, versions: Any) -> None:
        return None

    def check(self) -> None:
        self._world.danger()

    def judge_metrics(self) -> dict[str, float]:
        return {}

    def _no_text(self, *_: Any) -> Future[Any]:
        refused: Future[Any] = Future()
        refused.set_exception(RolloutError("these engines write no text"))
        return refused

    def _score(self, ticket: Ticket) -> None:
        began: int = ticket.parked.version  # type: ignore[union-attr]
        ticket.parked = None
        for sample in range(ticket.samples):
            length, reward = self._world.outcome(_row(ticket), sample)
            versions = np.full(length, self._version, np.int32)
            versions[0] = began
            error = "the grader has failed" if reward is None else None
            ticket.group.trajectories.append(
                Trajectory(
                    trajectory_id=f"{ticket.name}-{sample}",
                    prompt_ids=ticket.prompt,
                    token_ids=np.zeros(length, np.int32),
                    behaviour_logprobs=np.zeros(length, np.float32),
                    versions=versions,
                    sampled=np.ones(length, np.bool_),
                    finish_reason="stop",
                    temperature=1.0,
                    verdict=Verdict(reward=reward, parts={} if reward is None else {"right": reward}, error=error),
                )
            )
        self._scored.append(ticket)


class _Learning:
    """A learner whose work waits in a queue, and ends one piece at a time."""

    def __init__(self, world: World, version: int) -> None:
        """``version`` is that of the checkpoint's weights."""
        self._world = world
        self._version = version
        self._queue: deque[Callable[[], None]] = deque()
        self._step = 0
        self._streamed: list[Group] = []

    def work(self) -> None:
        if self._queue and self._world.chance.random() < 0.7:
            self._queue.popleft()()

    def publish(self) -> Future[Any]:
        return _done(_weights(self._version))

    def probe_with(self, text: Any) -> None:
        raise AssertionError("there is no text")

    def learn(self, groups: list[Group], spec: RunSpec, step: int) -> Future[Learned]:
        self._world.danger()
        return self._later(lambda: self._learn(step, groups))

    def begin(self, spec: RunSpec, step: int) -> None:
        self._step, self._streamed = step, []

    def accumulate(self, groups: list[Group]) -> None:
        self._world.danger()
        self._streamed = [*self._streamed, *groups]

    def finish(self) -> Future[Learned]:
        step, groups = self._step, self._streamed
        return self._later(lambda: self._learn(step, groups))

    def save(self, folder: Path, extra: dict[str, Any], done: Any, failed: Any) -> Future[SavedCheckpoint]:
        self._world.danger()
        text = json.dumps(extra)
        return self._later(lambda: self._save(folder, extra["step"], text, done))

    def _learn(self, step: int, groups: list[Group]) -> Learned:
        self._world.learned[step] = groups
        self._version += 1
        return Learned({}, _weights(self._version), 0.0, 0.0)

    def _save(self, folder: Path, step: int, text: str, done: Any) -> SavedCheckpoint:
        self._world.disk[step] = text
        saved = SavedCheckpoint(str(folder), len(text), "0" * 64, step)
        done(saved)
        return saved

    def _later(self, work: Callable[[], Any]) -> Future[Any]:
        future: Future[Any] = Future()
        self._queue.append(lambda: future.set_result(work()))
        return future


def _weights(version: int) -> Any:
    return SimpleNamespace(transport="none", why="a test", version=version)


def _done(value: Any) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_result(value)
    return future


def _row(ticket: Ticket) -> int:
    return int(ticket.group.prompt_id.rpartition(":")[2])
