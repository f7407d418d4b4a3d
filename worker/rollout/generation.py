"""The generation stage: groups go to the engines, their completions to the reward workers, and scored groups come back.

    dispatch ──► Router ──(a thread per engine)──► reward workers ──► [scoring thread] ──► scored() · evaluation

Nothing is decided here: the loop decides what is dispatched, and when weights change.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from trainer_core.episodes import Group, Trajectory, Verdict
from trainer_core.link.reward import Versions
from trainer_core.rewards.score import Score
from worker.engine import KvOnUpdate
from worker.judge.use import Tally, Use
from worker.judge.use import metrics as judge_metrics
from worker.messages.chunk import repack, unpack
from worker.messages.jobs import Collected, Parked
from worker.messages.probe import ProbeFigures
from worker.messages.ticket import Batch, Ticket
from worker.rewards.pool import PendingScores, RewardPool
from worker.rewards.worker import Scored
from worker.rollout.branches import Brancher, Branches
from worker.rollout.router import Router
from worker.rollout.stopwatch import Stopwatch
from worker.rollout.timeline import Timeline
from worker.seeds import derive_seed

if TYPE_CHECKING:
    from worker.learner.weights import WeightHandle

Progress = Callable[[int, int], None]
"""(groups done, total groups)."""


@dataclass(slots=True)
class _Evaluation:
    batch: Batch
    left: set[str]
    progress: Progress
    future: Future[Batch] = field(default_factory=Future)


class GenerationStage:
    """Engines and reward workers. Driven by the loop's thread."""

    def __init__(
        self, engines: Router, rewards: RewardPool, timeline: Timeline, wake: Callable[[], None], brancher: Brancher
    ) -> None:
        """``wake`` wakes the loop: a group was scored, or the last engine was lost."""
        self.brancher = brancher
        """Values the states of groups whose advantage needs it, before they are handed over."""
        self._branching: dict[str, Branches] = {}
        """Branches being sampled or scored, by the name of their ticket."""
        self._branched: list[Branches] = []
        """Branches that wait to be sampled."""
        self._scoring = 0
        """Number of chunks that wait for their rewards."""
        self._seed = 0
        self._engines, self._rewards, self._timeline, self._wake = engines, rewards, timeline, wake
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="scoring")
        self._lock = threading.Lock()
        self._out: dict[str, Ticket] = {}
        """Tickets that are with the engines."""
        self._scored: deque[Ticket] = deque()
        self._evaluation: _Evaluation | None = None
        self._failure: BaseException | None = None
        self._updating = False
        """Whether idle engines are receiving new weights. Groups sent in the meantime wait for them."""
        self._generating, self._rewarding = Stopwatch(), Stopwatch()
        self._judges = Use()
        """Use of judges by reward workers, not yet reported."""
        self.tally = Tally()
        """Counts this process's own requests to judges."""
        self.pauses: deque[float] = deque()
        """Seconds without a token around each weight update, not yet reported."""
        self.kv_usage = 0.0
        """Largest share of a KV cache in use, since it was last set to 0."""
        engines.serve(self._deliver, wake)

    @property
    def engines(self) -> Router:
        return self._engines

    def check(self) -> None:
        """Raise an error that occurred in the stage's threads."""
        self._engines.check()
        if self._failure is not None:
            raise self._failure

    def dispatch(self, tickets: Sequence[Ticket], seed: int, alone: bool) -> None:
        """Sample and score groups. With ``alone`` nothing else shares the engines."""
        self._seed = seed
        self._send(tickets, seed, alone)

    def scored(self) -> list[Ticket]:
        """Groups scored since the last call, in order of arrival."""
        found = []
        while self._scored:
            found.append(self._scored.popleft())
        return found

    def update(self, weights: WeightHandle, version: int, kv: KvOnUpdate, alone: bool) -> Future[ProbeFigures]:
        """Send new weights to the engines; see ``Router.update``."""
        started = time.time()
        with self._lock:
            self._updating = not self._out
        future = self._engines.update(weights, version, kv, alone)
        future.add_done_callback(lambda _: self._updated(started))
        return future

    def park(self) -> dict[str, Parked]:
        """Stop unfinished groups. Finished ones still come out of ``scored``."""
        parked = self._engines.park()
        with self._lock:
            for name in parked:
                del self._out[name]
            self._clock()
        return parked

    def evaluate(self, batch: Batch, seed: int, alone: bool, progress: Progress) -> Future[Batch]:
        """Sample and score a batch that is not trained on."""
        evaluation = _Evaluation(batch, {ticket.name for ticket in batch.tickets}, progress)
        self._evaluation = evaluation
        self.dispatch(batch.tickets, seed, alone)
        return evaluation.future

    def equip(self, versions: Versions) -> str | None:
        """Prepare the reward workers for more versions. Returns None, or a sentence that says why this fails."""
        return self._rewards.equip(versions)

    def rescore(self, tickets: Sequence[Ticket]) -> Future[int]:
        """Score failed rewards once more. Result: the number of rewards that still fail."""
        return self._thread.submit(self._rescore, tickets)

    def regrade(
        self, trajectories: Sequence[Trajectory], items: Sequence[Mapping[str, Any]], tickets: Sequence[Ticket]
    ) -> Future[list[Score]]:
        """Score answers against rows other than their own. The answers do not change.

        Args:
            trajectories: the answers, shape [M].
            items: the row for each, shape [M].
            tickets: the ticket of each, which names the reward that scores it, shape [M].
        """
        return self._thread.submit(self._regrade, trajectories, items, tickets)

    @property
    def generated_s(self) -> float:
        """Total seconds in which any group was with the engines, without updates of idle ones."""
        with self._lock:
            return self._generating.seconds

    @property
    def reward_s(self) -> float:
        """Total seconds in which rewards were computed and nothing was generated."""
        with self._lock:
            return self._rewarding.seconds

    def judge_metrics(self) -> dict[str, float]:
        """The ``judge/…`` metrics of requests since the last call; empty if there were none."""
        with self._lock:
            use, self._judges = self._judges, Use()
        use.add(self.tally.take())
        return judge_metrics(use)

    def close(self) -> None:
        """Kill the actors. Work in progress ends with an error that no caller waits for."""
        self._engines.close()
        self._rewards.close()
        self._thread.shutdown(wait=False, cancel_futures=True)

    # ── an engine's thread ──

    def _deliver(self, worker: int, collected: Collected) -> None:
        for span in collected.spans:
            self._timeline.add(f"engine-{worker}", span.phase, span.start, span.end)
        self.pauses.extend(collected.pauses)
        self.kv_usage = max(self.kv_usage, collected.kv_usage)
        if collected.chunk is None:
            return
        with self._lock:
            tickets = [self._out.pop(name) for name in collected.names]
            self._scoring += 1
            self._clock()
        places = collected.chunk.groups.tolist()
        items = [tickets[place].group.item for place in places]
        limits = [tickets[place].sampling.max_tokens for place in places]
        versions = [tickets[place].rewards for place in places]
        pending = self._rewards.submit(collected.chunk, items, limits, versions)
        self._thread.submit(self._score, tickets, pending)

    def _send(self, tickets: Sequence[Ticket], seed: int, alone: bool) -> None:
        with self._lock:
            self._out.update((ticket.name, ticket) for ticket in tickets)
            self._clock()
        self._engines.submit([ticket.job() for ticket in tickets], seed, alone)

    def _updated(self, started: float) -> None:
        self._timeline.add("sync", "sync", started, time.time())
        with self._lock:
            self._updating = False
            self._clock()

    def _clock(self) -> None:
        """Update the stopwatches. Called with the lock held."""
        self._generating.turn(bool(self._out) and not self._updating)
        self._rewarding.turn(bool(self._scoring) and not self._out)

    # ── the scoring thread ──

    def _score(self, tickets: list[Ticket], pending: PendingScores) -> None:
        try:
            scored = self._rewards.result(pending)
            groups = [ticket.group for ticket in tickets]
            unpack(
                pending.chunk,
                groups,
                [ticket.prompts for ticket in tickets],
                [ticket.sampling.temperature for ticket in tickets],
            )
            _assign(groups, pending, scored)
        except BaseException as error:
            self._failure = error
        else:
            with self._lock:
                self._judges.add(scored.judges)
            self._timeline.add("reward", "reward", time.time() - scored.seconds, time.time())
            self._hand_over(tickets)
            self._send_branches()
        self._wake()

    def _hand_over(self, tickets: list[Ticket]) -> None:
        evaluation = self._evaluation
        for ticket in tickets:
            ticket.parked = None
            if evaluation is None or ticket.name not in evaluation.left:
                self._value(ticket)
                continue
            evaluation.left.discard(ticket.name)
            total = len(evaluation.batch.tickets)
            evaluation.progress(total - len(evaluation.left), total)
            if not evaluation.left:
                self._evaluation = None
                evaluation.future.set_result(evaluation.batch)

    def _value(self, ticket: Ticket) -> None:
        """Pass a group to the loop. If its advantage needs branches, they are scored first."""
        if (settled := self._branching.pop(ticket.name, None)) is not None:
            self.brancher.settle(settled)
            self._scored.append(settled.parent)
        elif (branches := self.brancher.branch(ticket)) is not None:
            self._branched.append(branches)
        else:
            self._scored.append(ticket)

    def _send_branches(self) -> None:
        """Send branches to the engines.

        Overlapping modes send them immediately. Other modes wait for all groups, so that the same seed draws the same
        branches.
        """
        with self._lock:
            self._scoring -= 1
            self._clock()
            busy = bool(self._out or self._scoring)
        if not self._branched or (busy and not self._branched[0].parent.spec.rollout.overlaps):
            return
        waiting, self._branched = sorted(self._branched, key=lambda branches: branches.ticket.name), []
        self._branching.update((branches.ticket.name, branches) for branches in waiting)
        alone = not waiting[0].parent.spec.rollout.overlaps
        seed = derive_seed(self._seed, "branches", waiting[0].ticket.name)
        self._send([branches.ticket for branches in waiting], seed, alone)

    def _regrade(
        self, trajectories: Sequence[Trajectory], items: Sequence[Mapping[str, Any]], tickets: Sequence[Ticket]
    ) -> list[Score]:
        limits = [ticket.sampling.max_tokens for ticket in tickets]
        versions = [(ticket.group.reward_ref,) for ticket in tickets]
        return self._rewards.result(self._rewards.submit(repack(trajectories), items, limits, versions)).scores

    def _rescore(self, tickets: Sequence[Ticket]) -> int:
        failed = [(ticket, t) for ticket in tickets for t in ticket.group.trajectories if t.verdict.error is not None]
        if not failed:
            return 0
        limits = [ticket.sampling.max_tokens for ticket, _ in failed]
        items = [ticket.group.item for ticket, _ in failed]
        versions = [ticket.rewards for ticket, _ in failed]
        scored = self._rewards.result(self._rewards.submit(repack([t for _, t in failed]), items, limits, versions))
        for row, (_, trajectory) in enumerate(failed):
            _take(trajectory, scored, row)
        return sum(t.verdict.error is not None for _, t in failed)


def _assign(groups: list[Group], pending: PendingScores, scored: Scored) -> None:
    """Write texts and scores into the trajectories of a chunk, in the chunk's order."""
    places = pending.chunk.groups.tolist()
    seen: dict[int, int] = {}
    for row, index in enumerate(places):
        sample = seen.get(index, 0)
        seen[index] = sample + 1
        _take(groups[index].trajectories[sample], scored, row)


def _take(trajectory: Trajectory, scored: Scored, row: int) -> None:
    """Write a row of ``scored`` into its trajectory."""
    score, shadows = scored.scores[row], scored.shadows[row]
    trajectory.output_text = scored.texts[row]
    if trajectory.turns and scored.turns:
        lengths = scored.turns[row]
        trajectory.turns = tuple(
            replace(turn, characters=size) for turn, size in zip(trajectory.turns, lengths, strict=True)
        )
    if trajectory.finish_reason == "pruned":
        return  # half an answer means nothing: it gets no reward, and is left out of its group's statistics
    trajectory.verdict = Verdict(
        reward=score.reward,
        parts=dict(score.parts),
        explained=dict(score.explained),
        error=score.error,
        forgiven=tuple(score.forgiven),
        stops=score.stop,
        shadow_rewards={ref: shadow.reward for ref, shadow in shadows.items() if shadow.reward is not None},
        shadow_errors={ref: shadow.error for ref, shadow in shadows.items() if shadow.error is not None},
    )
