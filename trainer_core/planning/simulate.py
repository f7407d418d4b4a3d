"""A discrete-event model of the loop: one engine that stands for all, one learner, and the rule of staleness.

    dispatch ─► [running] ─► rewards ─► ready ─► [learner: hand over, learn, publish] ─► weights ─► [engine loads]
       ▲                                                                                    │
       └──────────── while accepted + unfinished groups < (η + version + 1) · batch ◄───────┘

Running sequences share the engine: each grows by one token per ``step_seconds(running)``. So one clock that counts
tokens per sequence serves all, and only admissions, ends and weight updates are events. Engines are alike and requests
are balanced over them; a weight says how many groups of the real engine one group of the model stands for.
"""

import heapq
import math
import random
from collections import deque
from dataclasses import dataclass

from trainer_core.planning.lengths import longest, strata
from trainer_core.planning.workload import LoopMode, Workload

MAX_MODELLED = 160
"""Sequences per engine and step that are followed one by one; more are followed in bundles."""
SETTLING = 2
"""Rounds at the start that do not count. A round has as many steps as batches that may be on their way at once: these
are dispatched together at first, end together, and go on in bursts."""
_NOW = 1e-9
"""Work left, in seconds or tokens, that counts as done."""


@dataclass(frozen=True, slots=True)
class SimulatedStep:
    """Timeline of a step, averaged over steps after the start. Seconds are per step."""

    step_seconds: float
    engine_seconds: float
    """Time in which the mean engine decodes or prefills."""
    learner_seconds: float
    """Time in which the learner learns or publishes."""
    load_seconds: float
    """Time in which the engines stand still for new weights."""
    tokens_per_step: float
    """Completion tokens learned."""
    staleness: float
    """Mean number of updates between a group's dispatch and its own."""


@dataclass(slots=True, eq=False)
class _SimulatedGroup:
    version: int
    left: int
    tokens: float = 0.0
    ready_at: float = math.inf


def simulate(
    work: Workload, mode: LoopMode, engines: int, ranks: int, *, steps: int = 8, seed: int = 0
) -> SimulatedStep:
    """Run the model for a few steps.

    Args:
        work: the step.
        mode: how generation and learning interleave.
        engines: rollout engines, at most ``most_engines(work, mode)`` of which can be busy.
        ranks: learner ranks.
        steps: the steps that are averaged over, after the start; rounds of bursts are counted whole.
        seed: the seed of the order of lengths.
    """
    loop = _Loop(work, mode, min(engines, most_engines(work, mode)), min(ranks, work.max_ranks()), seed)
    round_of = mode.max_staleness + 1
    return loop.run(warm=1 + SETTLING * round_of, steps=math.ceil(steps / round_of) * round_of)


def most_engines(work: Workload, mode: LoopMode) -> int:
    """Engines that can have a group: the samples of a group stay together."""
    return max(1, math.floor(work.prompts * (mode.max_staleness + 1 + mode.surplus)))


class _Loop:
    def __init__(self, work: Workload, mode: LoopMode, engines: int, ranks: int, seed: int) -> None:
        rates = work.rates
        self.mode, self.rates, self.ranks, self.work = mode, rates, ranks, work
        share = work.prompts / engines
        # Without overlap the batch waits for the engine that has a group more than the others.
        carried = math.ceil(share) if mode.max_staleness == 0 else max(share, 1.0)
        self.batch = max(1, min(round(carried), MAX_MODELLED // work.group_size))
        self.weight = carried / self.batch
        self.batches = work.prompts / self.batch
        """Real groups that are learned per group of the model."""
        self.slots = max(1.0, work.max_running / self.weight)
        self.lengths = strata(rates.lengths, self.batch * work.group_size, work.max_tokens)
        self.longest = longest(rates.lengths, work.samples, work.max_tokens)
        self.straggle = (self.longest - self.lengths[-1]) * rates.engine.step_seconds(1.0)
        """Ratio of the longest sequence of all engines to this engine's longest."""
        self.random = random.Random(seed)
        self.surplus = math.ceil(mode.surplus * self.batch)
        self.keeps = mode.interrupts or self.surplus > 0
        """Whether unfinished sequences outlive a weight update."""

        self.now = 0.0
        self.clock = 0.0
        """Tokens by which a sequence that has always run has grown."""
        self.running: list[tuple[float, int]] = []
        """Heap of (clock at the end, group)."""
        self.waiting: deque[tuple[int, float]] = deque()
        """(group, length) of sequences without a slot."""
        self.groups: dict[int, _SimulatedGroup] = {}
        """Unfinished groups in the order of their dispatch, so the oldest version comes first."""
        self.ready: list[_SimulatedGroup] = []
        self.dispatched = self.accepted = 0
        self.version = 0
        self.debt = self.load = 0.0
        """Seconds of prefill and of loading that the engine owes before it decodes on."""
        self.published = 0
        self.loading: int | None = None
        """Version that is being loaded."""
        self.phase = "idle"
        self.left = self.learn = 0.0
        """Seconds of work left in the learner's phase; seconds of its learning."""
        self.part = 0
        """Groups of the present batch that the learner has taken."""
        self.engine_s = self.learner_s = self.load_s = self.tokens = self.age = 0.0
        self.drawn: list[float] = []

    def run(self, *, warm: int, steps: int) -> SimulatedStep:
        before = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        while self.published < warm + steps:
            at = self.published
            self._settle()
            self._advance(self._until_next())
            self._end_phase()
            if self.published == warm and at < warm:
                before = self._totals()
        spent = [(now - then) / steps for now, then in zip(self._totals(), before, strict=True)]
        groups = self.batch
        return SimulatedStep(spent[0], spent[1], spent[2], spent[3], spent[4] * self.batches, spent[5] / groups)

    def _totals(self) -> tuple[float, float, float, float, float, float]:
        return self.now, self.engine_s, self.learner_s, self.load_s, self.tokens, self.age

    # ── what can happen at once ──

    def _settle(self) -> None:
        self._begin_load()
        self._dispatch()
        self._admit()
        if self.phase == "idle":
            self._begin_learning()

    def _begin_load(self) -> None:
        """End a load that is done; begin the next one, if weights are there and the engine may take them."""
        while True:
            if self.loading is None and self.published > self.version and (self.keeps or not self.running):
                self.loading, self.load = self.published, self.rates.sync.load_seconds
            if self.loading is None or self.load > _NOW:
                return
            self.version, self.loading, self.load = self.loading, None, 0.0
            if self.mode.recomputes_kv and self.running:
                self.debt += self.rates.engine.prefill_seconds(self._context())

    def _context(self) -> float:
        """Tokens whose keys and values the running sequences hold, each at half of a mean completion."""
        grown = sum(self.lengths) / len(self.lengths) / 2
        return (self.rates.prompt_tokens + grown) * len(self.running) * self.weight

    def _dispatch(self) -> None:
        """Admit groups while the bound allows, as the loop does."""
        if not self.keeps and self.published > self.version:
            return  # the engine runs empty for the new weights
        limit = (self.mode.max_staleness + self.version + 1) * self.batch + self.surplus
        while self.dispatched < limit and len(self.running) + len(self.waiting) < self.slots:
            self.groups[self.dispatched] = _SimulatedGroup(self.version, self.work.group_size)
            self.waiting.extend((self.dispatched, self._draw()) for _ in range(self.work.group_size))
            self.dispatched += 1

    def _draw(self) -> float:
        if not self.drawn:
            self.drawn = self.lengths.copy()
            self.random.shuffle(self.drawn)
        return self.drawn.pop()

    def _admit(self) -> None:
        if self.loading is not None or (self._paused and not self.running):
            return
        prefill = self.rates.engine.prefill_seconds(self.rates.prompt_tokens * self.weight)
        while self.waiting and len(self.running) < self.slots:
            group, length = self.waiting.popleft()
            heapq.heappush(self.running, (self.clock + length, group))
            self.groups[group].tokens += length
            self.debt += prefill

    def _begin_learning(self) -> None:
        wanted = self.batch - self.part if not self.mode.streams else 1
        arrived = [group for group in self.ready if group.ready_at <= self.now + _NOW]
        if len(arrived) < wanted or self._must_wait():
            return
        taken = sorted(arrived, key=lambda group: group.version)[: self.batch - self.part]
        self.ready = [group for group in self.ready if group not in taken]
        self.part += len(taken)
        tokens = sum(group.tokens for group in taken)
        self.tokens += tokens
        self.age += sum(self.published - group.version for group in taken)
        whole = (tokens + len(taken) * self.work.group_size * self.rates.prompt_tokens) * self.batches
        whole *= self.rates.learned_share
        last = self.part == self.batch
        longest_one = self.longest + self.rates.prompt_tokens if last else 0.0
        self.learn = self.work.learn_seconds(whole, longest_one, self.ranks)
        if last:
            self.learn += self.work.updates * self.work.epochs * self.rates.learner.seconds_per_update
        self.phase, self.left = "hand over", self.rates.loop_seconds if last else 0.0

    def _must_wait(self) -> bool:
        """Whether a group is unfinished, or without its reward, that would be too old for the batch after this one."""
        if self.mode.max_staleness == 0:
            return False
        oldest = self.published - self.mode.max_staleness
        unfinished = next(iter(self.groups.values()), None)
        return (unfinished is not None and unfinished.version <= oldest) or any(
            group.version <= oldest and group.ready_at > self.now + _NOW for group in self.ready
        )

    @property
    def _paused(self) -> bool:
        """A loop without overlap holds unfinished sequences back until the new weights are there."""
        return self.mode.max_staleness == 0 and self.phase != "idle" and self.part == self.batch

    # ── time ──

    def _speeds(self) -> tuple[float, float, bool]:
        """Seconds of work done per second by engine and learner, and whether the engine works."""
        engine = self.loading is None and not self._paused and bool(self.running)
        learner = self.phase in ("learn", "publish")
        speed = 1.0 / self.rates.overlap_slowdown if engine and learner else 1.0
        return speed, speed if learner else 1.0, engine

    def _until_next(self) -> float:
        speed, learner, engine = self._speeds()
        waits = [group.ready_at - self.now for group in self.ready if group.ready_at > self.now + _NOW]
        if self.phase != "idle":
            waits.append(self.left / learner)
        if self.loading is not None:
            waits.append(self.load)
        elif engine and self.debt > 0:
            waits.append(self.debt / speed)
        elif engine:
            waits.append((self.running[0][0] - self.clock) * self._step_seconds() / speed)
        return max(0.0, min(waits))

    def _step_seconds(self) -> float:
        return self.rates.engine.step_seconds(len(self.running) * self.weight)

    def _advance(self, seconds: float) -> None:
        speed, learner, engine = self._speeds()
        self.now += seconds
        if self.phase != "idle":
            self.left -= seconds * learner
            self.learner_s += seconds * (self.phase in ("learn", "publish"))
        if self.loading is not None:
            self.load -= seconds
            self.load_s += seconds
        elif engine:
            self.engine_s += seconds
            if self.debt > 0:
                self.debt = max(0.0, self.debt - seconds * speed)
            else:
                self.clock += seconds * speed / self._step_seconds()
                self._finish()

    def _finish(self) -> None:
        while self.running and self.running[0][0] <= self.clock + _NOW:
            _, number = heapq.heappop(self.running)
            group = self.groups[number]
            group.left -= 1
            if group.left == 0:
                del self.groups[number]
                self.accepted += 1
                barrier = self.mode.max_staleness == 0 and not self.surplus and self.accepted % self.batch == 0
                group.ready_at = self.now + self.rates.reward_seconds + (self.straggle if barrier else 0.0)
                self.ready.append(group)

    def _end_phase(self) -> None:
        """The learner's next phase, where one has ended."""
        if self.phase == "idle" or self.left > _NOW:
            return
        if self.phase == "hand over":
            self.phase, self.left = "learn", self.learn
        elif self.phase == "learn" and self.part < self.batch:
            self.phase = "idle"
        elif self.phase == "learn":
            self.phase, self.left = "publish", self.rates.sync.publish_seconds
        else:
            self.published, self.part, self.phase = self.published + 1, 0, "idle"
