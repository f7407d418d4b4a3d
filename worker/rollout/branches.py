"""Branches: Monte-Carlo values of the states inside completions (VinePPO, arXiv 2410.01679, §4).

    scored group ──cut──► K continuations of each prefix ──► engines · rewards ──► mean reward = value ──► group

A branch continues like a parked request: with the prompt, tokens and thinking of its completion so far. The
completion's limits therefore apply to it. The prompt is valued once for all samples that share it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from trainer_core.episodes import Group, Trajectory
from trainer_core.methods.advantages.steps import step_starts
from trainer_core.spec.methods.branching import VineAdvantage
from worker.engine import PartialCompletion, ThinkingState, ThinkTokens
from worker.engine.request.thinking import ThinkingTracker
from worker.messages.jobs import Parked
from worker.messages.ticket import Ticket


@dataclass(frozen=True, slots=True)
class BranchPoint:
    """Point of a trajectory at which branches begin."""

    samples: tuple[int, ...]
    """The completions that it belongs to: one, or at the beginning all that share the prompt."""
    start: int
    """Tokens of the completion before it."""


@dataclass(frozen=True, slots=True)
class Branches:
    """The branches of one group, ``count`` from each state in turn."""

    parent: Ticket
    ticket: Ticket
    states: tuple[BranchPoint, ...]
    count: int


@dataclass(slots=True)
class BranchCost:
    """Cost of branches so far."""

    states: int = 0
    rollouts: int = 0
    tokens: int = 0
    """Tokens sampled by the branches themselves, without their prefixes."""
    failed: int = 0
    """Branches whose reward failed."""
    value_sum: float = 0.0
    """Sum of the values of the states."""


class Brancher:
    """Cuts completions and values their states. Used only by the scoring thread."""

    def __init__(self, token_text: Callable[[int], str], markers: ThinkTokens | None) -> None:
        """``token_text`` returns the text of a token; ``markers`` surround thinking."""
        self._text = lru_cache(maxsize=None)(token_text)
        self._markers = markers
        self.cost = BranchCost()

    def branch(self, parent: Ticket) -> Branches | None:
        """The branches that the advantage of a scored group needs; None if it needs none."""
        spec = parent.spec.advantage
        if not isinstance(spec, VineAdvantage):
            return None
        states = self._states(spec, parent)
        if not states:
            return None
        asks = [parent.asks[state.samples[0]] for state in states for _ in range(spec.branches)] if parent.asks else []
        prefixes: dict[int, PartialCompletion] = {}
        for number, state in enumerate(states):
            if state.start:
                partial = self._partial(parent, state)
                prefixes |= {number * spec.branches + k: partial for k in range(spec.branches)}
        ticket = Ticket(
            group=_namesake(parent.group),
            prompt=parent.prompt,
            spec=parent.spec,
            samples=len(states) * spec.branches,
            # No branch may be pruned in favour of others: they are not compared.
            sampling=replace(parent.sampling, prune=None, top_logprobs=0),
            parked=Parked({}, prefixes),
            asks=tuple(asks),
            applications=parent.applications,
        )
        return Branches(parent, ticket, tuple(states), spec.branches)

    def settle(self, branches: Branches) -> None:
        """Write the values of the states into the parent's trajectories, from the rewards of the branches.

        A failed reward does not count, unless the run scores it zero. A state whose branches all failed is left
        out: its step is merged with the previous one.
        """
        found = branches.ticket.group.trajectories
        zero = branches.parent.spec.reward.on_error == "zero"
        values: dict[int, list[tuple[int, float]]] = {}
        for number, state in enumerate(branches.states):
            part = found[number * branches.count : (number + 1) * branches.count]
            rewards = [0.0 if zero and t.reward is None else t.reward for t in part]
            known = [reward for reward in rewards if reward is not None]
            self._count(state, part, known)
            for sample in state.samples if known else ():
                values.setdefault(sample, []).append((state.start, float(np.mean(known))))
        for sample, trajectory in enumerate(branches.parent.group.trajectories):
            pairs = sorted(values.get(sample, []))
            if pairs and pairs[0][0] == 0:
                trajectory.step_starts = np.array([start for start, _ in pairs], np.int32)
                trajectory.state_values = np.array([value for _, value in pairs], np.float64)

    def _states(self, spec: VineAdvantage, parent: Ticket) -> list[BranchPoint]:
        roots: dict[bytes, list[int]] = {}
        inner: list[BranchPoint] = []
        for sample, trajectory in enumerate(parent.group.trajectories):
            if trajectory.reward is None:
                continue
            roots.setdefault(trajectory.prompt_ids.tobytes(), []).append(sample)
            texts = [self._text(token) for token in trajectory.token_ids.tolist()]
            inner += [BranchPoint((sample,), start) for start in step_starts(spec, texts, trajectory.sampled)]
        return [*(BranchPoint(tuple(samples), 0) for samples in roots.values()), *inner]

    def _partial(self, parent: Ticket, state: BranchPoint) -> PartialCompletion:
        trajectory = parent.group.trajectories[state.samples[0]]
        prompt, tokens = tuple(trajectory.prompt_ids.tolist()), trajectory.token_ids[: state.start].tolist()
        forced = parent.asks[state.samples[0]].forced_end_ids if parent.asks else ()
        return PartialCompletion(
            request_id="",
            prompt_ids=prompt,
            token_ids=tokens,
            logprobs=trajectory.behaviour_logprobs[: state.start].tolist(),
            versions=trajectory.versions[: state.start].tolist(),
            sampled=trajectory.sampled[: state.start].tolist(),
            thinking=self._thinking(prompt, tokens, forced),
            segments=0,
            started_at=0.0,
            seconds=0.0,
        )

    def _thinking(self, prompt: Sequence[int], tokens: list[int], forced: tuple[int, ...]) -> ThinkingState | None:
        if self._markers is None:
            return None
        tracker, seen = ThinkingTracker(self._markers, prompt, None, forced), []
        for token in tokens:
            seen.append(token)
            tracker.feed(seen)
        return tracker.state

    def _count(self, state: BranchPoint, part: Sequence[Trajectory], known: Sequence[float]) -> None:
        cost = self.cost
        cost.states += 1
        cost.rollouts += len(part)
        cost.tokens += sum(t.length - state.start for t in part)
        cost.failed += sum(t.reward is None for t in part)
        cost.value_sum += float(np.mean(known)) if known else 0.0


def _namesake(group: Group) -> Group:
    return replace(group, group_id=f"{group.group_id}/branches", trajectories=[])


def branch_metrics(before: BranchCost, now: BranchCost, batch_tokens: int) -> dict[str, float]:
    """Metrics of the cost of branches since ``before``, relative to ``batch_tokens`` learned from; empty if none."""
    states, rollouts = now.states - before.states, now.rollouts - before.rollouts
    if not rollouts:
        return {}
    tokens = now.tokens - before.tokens
    return {
        "vine/states": float(states),
        "vine/branches": float(rollouts),
        "vine/tokens": float(tokens),
        "vine/token_share": tokens / max(1, tokens + batch_tokens),
        "vine/error_share": (now.failed - before.failed) / rollouts,
        "vine/value/mean": (now.value_sum - before.value_sum) / max(1, states),
    }
