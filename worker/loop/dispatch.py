"""Dispatch: which groups are started, when, and under which spec, within the bound on staleness.

Modes that take turns (sync, streamed) start a *round* per step; those that overlap keep the engines supplied all the
time. Stopped groups are continued first; then the curriculum draws new ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from trainer_core.episodes import Group
from trainer_core.methods.advantages.equality import are_equal
from trainer_core.prompting.plan import SamplePlan, plan_group
from trainer_core.spec import RunSpec
from trainer_core.spec.generation.rollout import TailBatchingScheduler
from trainer_core.spec.generation.thinking import TaggedThinking
from trainer_core.steering.curriculum import Curriculum, StageBegun, outcome
from trainer_core.steering.fates import DYNAMIC_SAMPLING, Fate, fate_of
from trainer_core.steering.length_schedule import LengthSchedule
from trainer_core.steering.prompt_ledger import LedgerCounts
from trainer_core.steering.staleness import GroupState, StalenessLedger
from worker.engine import Sampling
from worker.engine.from_spec import with_early_stops
from worker.engine.tokenizer import PolicyTokenizer
from worker.loop.buffer import TrajectoryBuffer
from worker.loop.parts import PromptRows
from worker.loop.settling import SettledPrompt, Settling
from worker.loop.steering import Steering
from worker.messages.jobs import Ask
from worker.messages.ticket import Batch, Ticket
from worker.rollout.generation import GenerationStage
from worker.seeds import derive_seed

AHEAD = 2.0
"""Sequences in progress in overlapping modes, as a multiple of what the engines run: the rest are being scored, or
wait for a free place. Kept low, so that prompts get the newest possible weights and controls."""


class Dispatcher:
    """Draws prompts, pins them and sends them out. Used only by the loop's thread."""

    def __init__(
        self,
        steering: Steering,
        curriculum: Curriculum,
        sources: Mapping[str, PromptRows],
        generation: GenerationStage,
        tokenizer: PolicyTokenizer,
        *,
        after: int,
        threshold: Callable[[str], float],
        state: Mapping[str, Any] | None,
    ) -> None:
        """Continue after step ``after``.

        ``state`` is the ``snapshot`` of that step; ``threshold`` returns a reward version's success threshold. The
        ledger counts steps: tokens are never more versions old than steps, because a step makes at most one.
        """
        spec = steering.spec
        self._steering, self._curriculum, self._sources = steering, curriculum, sources
        self._generation, self._tokenizer, self._threshold = generation, tokenizer, threshold
        self._batch = spec.schedule.prompts_per_step
        self._tails = isinstance(spec.rollout.scheduler, TailBatchingScheduler)
        self._ledger = StalenessLedger(
            spec.rollout.max_staleness,
            self._batch,
            after,
            renews=self._tails,
            token_budget=spec.rollout.partial.token_budget,
        )
        self._rollout = spec.rollout
        sequences = spec.parallelism.rollout_workers * spec.rollout.engine.max_num_seqs
        self._max_running = math.ceil(AHEAD * sequences / spec.rollout.group_size)
        self._settling = Settling(curriculum.drawn, state)
        self._datasets = {source.name: source.dataset for source in spec.data.sources}
        self._lengths = LengthSchedule(spec)
        self._ids: dict[int, int] = {}
        """Groups named so far, by the step they were drawn for."""
        self._opened = after
        """Last step whose round was opened."""
        self._target, self._dispatches, self._rejected = 0, 0, 0
        self._long = False
        """Tail batching: whether this round takes the prompts that were deferred."""
        self.buffer = TrajectoryBuffer(self._ledger)
        self._counts = {"parked": 0, "continued": 0, "deferred": 0, "rejected": 0}
        self.starved = False
        """Whether the data could not fill the last batch with groups that carry a signal."""
        if state is not None:
            self._ids = {int(step): count for step, count in state["ids"].items()}
            self._lengths.load(state["lengths"])
            self._rejected = state.get("refilled", 0)
            for name, prompt_id, samples, hint in state["pending"]:
                self.buffer.add(self.ticket(name, prompt_id, samples, hint, self._settling.ordinal(name)))

    # ── called by the loop ──

    def wants(self, step: int) -> bool:
        """Whether a dispatch for ``step`` would draw anything, now or (in overlapping modes) once there is room."""
        return self._left() > 0 if self._rollout.overlaps else step > self._opened

    def next_group(self) -> tuple[int, str]:
        """The step that the next new group is drawn for, and the group's name."""
        step = (self._ledger.taken + len(self._ledger)) // self._batch + 1
        return step, f"{step}-{self._ids.get(step, 0)}"

    def open(self, step: int) -> None:
        """Start the round of ``step`` in modes that take turns, then supply the engines."""
        if step > self._opened:
            self._opened = step
            self._long = self._tails and len(self._ledger.names(GroupState.WAITING)) >= self._batch
            share = 1.0 if self._long else self._rollout.partial.over_provision
            self._target, self._dispatches = math.ceil(self._batch * share), 0
        self.feed()

    def feed(self) -> None:
        """Send as many groups as allowed: stopped ones first, then new ones."""
        if self._rollout.overlaps:
            under_way = len(self._ledger.names(GroupState.DISPATCHED, GroupState.RUNNING))
            room = self._max_running - under_way
        else:
            room = self._target - len(self._ledger.names(GroupState.DISPATCHED, GroupState.RUNNING, GroupState.SCORED))
        if room <= 0:
            return
        held = [] if self._tails and not self._long else self.buffer.held(GroupState.PARKED, GroupState.WAITING)
        again = held[:room]
        fresh = room - len(again)
        if not self._tails:  # their groups are generated again, so they never become stale
            fresh = min(fresh, self._ledger.capacity(), self._left())
        tickets = [self._again(ticket) for ticket in again]
        tickets += self._draw(fresh) if fresh > 0 else []
        if not tickets:
            return
        for ticket in tickets:
            self._ledger.dispatch(ticket.name)
        place = (self._opened,) if self._dispatches == 0 else (self._opened, self._dispatches)
        seed = derive_seed(self._steering.spec.schedule.seed, "batch", *place)
        self._generation.dispatch(tickets, seed, alone=not self._rollout.overlaps and self._dispatches == 0)
        self._dispatches += 1

    def absorb(self) -> None:
        """Collect scored groups. Dynamic sampling drops groups without signal, and ``feed`` replaces them."""
        dynamic = self._rollout.dynamic_sampling.enabled
        for ticket in self._generation.scored():
            self._ledger.score(ticket.name, sum(t.length for t in ticket.group.trajectories))
            wanted = self._rejected < self._refills and not self.has_ended
            if dynamic and wanted and not may_have_signal(ticket.group):
                self._rejected += 1
                self._counts["rejected"] += 1
                self.observe([ticket.group])
                self.buffer.report(ticket)
                self._settling.settle(ticket, Fate.rejected(DYNAMIC_SAMPLING))

    def counted(self) -> dict[str, float]:
        """Counts of parked, continued, deferred and rejected groups since the last call; the curriculum's metrics."""
        counts, self._counts = self._counts, dict.fromkeys(self._counts, 0)
        found = {f"rollouts/{name}": float(count) for name, count in counts.items()}
        return {**found, **self._curriculum.metrics(), "curriculum/fallbacks": float(self._curriculum.fallbacks)}

    @property
    def ready(self) -> bool:
        """Whether the next batch is complete."""
        return self._ledger.ready()

    @property
    def progress(self) -> tuple[int, int]:
        """Groups of the next batch that are ready, and its size."""
        return min(self._batch, len(self._ledger.names(GroupState.SCORED))), self._batch

    def take(self, step: int, version: int) -> Batch:
        """Take the batch of ``step``, which ``version`` learns. No more groups are started for it."""
        batch = self.buffer.take(step, version)
        self.starved = self._rejected >= self._refills
        self._target, self._rejected = 0, 0
        return batch

    @property
    def unfinished(self) -> bool:
        """Whether groups are with the engines or being scored."""
        return bool(self._ledger.names(GroupState.DISPATCHED, GroupState.RUNNING))

    def stop(self) -> None:
        """Stop unfinished groups once the batch is full. They continue later or (tail batching) are generated again."""
        parked = self._generation.park()
        self.buffer.park(parked, keep=not self._tails)
        self._counts["deferred" if self._tails else "parked"] += len(parked)

    @property
    def drops_left_over(self) -> bool:
        """Whether groups that miss their batch are generated again (tail batching) instead of continued."""
        return self._tails

    def defer(self) -> None:
        """Tail batching: groups scored too late for their batch are generated again, too."""
        late = self._ledger.names(GroupState.SCORED)
        for name in late:
            self.buffer.reset(name)
        self._counts["deferred"] += len(late)

    def advance(self, step: int, metrics: Mapping[str, float]) -> None:
        """Record that ``step`` was learned. Its weights sample new groups, and its metrics set their lengths."""
        self._ledger.advance(step)
        self._settling.close(last=self.has_ended)
        if metrics:
            self._lengths.observe(step, metrics)

    def update_spec(self) -> None:
        """Adopt the spec after dispatch controls have been applied."""
        self._curriculum.update_spec(self._steering.spec)
        self._lengths.update_spec(self._steering.spec)

    def observe(self, groups: Sequence[Group]) -> None:
        """Update the curriculum with the outcomes of these groups."""
        for group in groups:
            found = outcome(group)
            self._curriculum.count(found)
            self._settling.note(group.group_id, found)
            if found.graded:
                self._curriculum.observe(group.prompt_id, found.right / found.graded, found.graded)

    def settle(self, batch: Batch) -> None:
        """Record the fates of a batch's groups, after the learner's update: trained, or left out of it."""
        for ticket in batch.tickets:
            self._settling.settle(ticket, fate_of(ticket.group))

    @property
    def settled(self) -> Sequence[SettledPrompt]:
        """Prompts settled in the step of the present version."""
        return self._settling.closed

    @property
    def ledger(self) -> LedgerCounts:
        """Figures of all prompts up to the present version."""
        return self._settling.counts

    def end_step(self, step: int) -> None:
        """End the curriculum's step: it has seen all groups of ``step``."""
        self._curriculum.end_step(step)

    def begun(self) -> list[StageBegun]:
        """Data stages that have begun since the last call."""
        return self._curriculum.begun()

    def snapshot(self) -> dict[str, Any]:
        """State from which a resumed attempt continues. Drawn prompts that were not trained on come first again."""
        oldest = self._ledger.taken // self._batch
        held = self.buffer.held()
        ids = {str(step): count for step, count in self._ids.items() if step > oldest}
        return {
            "curriculum": self._curriculum.state(),
            "pending": [[t.name, t.group.prompt_id, t.samples, t.hint] for t in held],
            "ids": ids,
            "lengths": self._lengths.state(),
            "refilled": self._rejected,
            **self._settling.state([t.name for t in held]),
        }

    # ── helpers ──

    @property
    def has_ended(self) -> bool:
        """Whether the run's last batch was taken."""
        return self._ledger.taken >= self._steering.spec.schedule.steps * self._batch

    def _left(self) -> int:
        """New groups that the rest of the run needs."""
        return self._steering.spec.schedule.steps * self._batch - self._ledger.taken - len(self._ledger)

    @property
    def _refills(self) -> int:
        """Groups that one step may replace."""
        return self._rollout.dynamic_sampling.max_refills * self._batch

    def _draw(self, count: int) -> list[Ticket]:
        tickets = []
        for draw in self._curriculum.draw(count, self.next_group()[0]):
            step, name = self.next_group()
            self._ids[step] = self._ids.get(step, 0) + 1
            self._settling.hand_out(name, draw.ordinal)
            tickets.append(self.ticket(name, draw.prompt_id, draw.samples, draw.hint, draw.ordinal))
            self.buffer.add(tickets[-1])
        return tickets

    def _again(self, ticket: Ticket) -> Ticket:
        """Return a stopped group unchanged, or pin one without tokens again."""
        if self._ledger.state(ticket.name) is GroupState.PARKED:
            self._counts["continued"] += 1
            return ticket
        fresh = self.ticket(ticket.name, ticket.group.prompt_id, ticket.samples, ticket.hint, ticket.ordinal)
        self.buffer.renew(fresh)
        return fresh

    def ticket(self, name: str, prompt_id: str, samples: int, hint: str = "", ordinal: int | None = None) -> Ticket:
        """Create a group for a prompt, pinned to the run's current state.

        Args:
            name: ``<step>-<index>``.
            prompt_id: ``<source>:<row number>``.
            samples: number of samples in the group.
            hint: beginning of the reference solution that the prompt shows.
            ordinal: number of its prompt among all that the curriculum handed out; None if it did not.
        """
        source, _, row = prompt_id.rpartition(":")
        data, step = self._sources[source], int(name.partition("-")[0])
        spec = self._lengths.applied(self._steering.spec, step)
        reward = spec.reward.definition
        group = Group(
            group_id=name,
            prompt_id=prompt_id,
            source=source,
            dataset=self._datasets[source],
            item=data.rows[int(row)],
            prompt_text="",
            steering_revision=self._steering.revision,
            reward_ref=reward,
            success_threshold=self._threshold(reward),
        )
        plans = plan_group(spec, group.item, name, samples, hint)
        drawn = replace(sampling(spec), thinking_budget=plans[0].thinking_budget)
        asks = self._asks(spec, data, int(row), plans)
        prompt = asks[0].prompt if asks else data.prompts[int(row)]
        shadows = tuple(ref for ref in spec.reward.shadow if ref != reward)
        applications = self._steering.applications
        return Ticket(
            group,
            prompt,
            spec,
            samples,
            drawn,
            asks=asks,
            hint=hint,
            applications=applications,
            form=data.format,
            shadows=shadows,
            ordinal=ordinal,
        )

    def _asks(self, spec: RunSpec, data: PromptRows, row: int, plans: Sequence[SamplePlan]) -> tuple[Ask, ...]:
        """Ask of each sample; empty if all use the bare prompt and the usual end of thinking."""
        usual = spec.thinking.forced_end if isinstance(spec.thinking, TaggedThinking) else None
        texts = list(dict.fromkeys(plan.text for plan in plans))
        if texts == [""] and all(plan.forced_end == usual for plan in plans):
            return ()
        behind = [text for text in texts if text]
        encoded = self._tokenizer.encode_rows([data.rows[row]] * len(behind), data.format, behind)
        prompts = {"": data.prompts[row], **dict(zip(behind, encoded, strict=True))}
        return tuple(Ask(prompts[plan.text], self._forced_end(plan.forced_end)) for plan in plans)

    def _forced_end(self, text: str | None) -> tuple[int, ...]:
        return self._tokenizer.encode_tag(text) if text else ()


def sampling(spec: RunSpec) -> Sampling:
    """Sampling of training samples, except for what their group decides."""
    rollout = spec.rollout
    drawn = Sampling(
        temperature=rollout.temperature,
        top_p=rollout.top_p,
        top_k=rollout.top_k or -1,
        max_tokens=rollout.max_tokens,
        thinking_budget=spec.thinking.budget if isinstance(spec.thinking, TaggedThinking) else None,
        top_logprobs=spec.loss.top_tokens,
    )
    return with_early_stops(drawn, rollout.early_stop)


def may_have_signal(group: Group) -> bool:
    """Whether rewards differ, or one is unknown, in which case the batch decides."""
    rewards = [t.reward for t in group.trajectories if t.finish_reason != "pruned"]
    known = [reward for reward in rewards if reward is not None]
    return len(known) < len(rewards) or (bool(known) and not are_equal(min(known), max(known)))
