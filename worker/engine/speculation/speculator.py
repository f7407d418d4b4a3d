"""Plans the drafts of each step, and learns from their results."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from worker.engine.speculation.acceptance import DraftAcceptance
from worker.engine.speculation.costs import StepCosts
from worker.engine.speculation.drafter import Draft, draft
from worker.engine.speculation.gate import Gate
from worker.engine.speculation.library import TextLibrary
from worker.engine.types import SpeculationStats

MOST_RUNNING = 32
"""Number of running sequences above which nothing is tried or indexed. Below it, step costs decide."""
MOST_DRAFTED = 24
"""Most drafted tokens of one answer in a step."""
LEAST_GAIN = 1.03
"""Smallest expected speed-up, in tokens per second, for which drafts are used."""


@dataclass(slots=True)
class _Plan:
    """One step's drafts."""

    running: int
    drafts: dict[str, Draft]
    """Drafts by vLLM's request id."""
    vain_s: float = 0.0
    """Seconds spent on drafts that were not worth their time."""


class Speculator:
    """Drafts for one engine."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        """``clock``, in seconds, measures the time to make drafts."""
        self._clock = clock
        self._library = TextLibrary()
        self._acceptance = DraftAcceptance()
        self._costs = StepCosts()
        self._gate = Gate()
        self._plan: _Plan | None = None
        self._drafted = self._accepted = self._drafts = self._drafted_steps = self._steps = 0

    @property
    def stats(self) -> SpeculationStats:
        """Totals since start."""
        return SpeculationStats(self._drafted, self._accepted, self._drafts, self._drafted_steps, self._steps)

    def enter(self, request_id: str, prompt: tuple[int, ...], tokens: list[int]) -> None:
        """Follow an answer that vLLM begins or continues. ``tokens`` is the engine's own list, which grows."""
        self._library.enter(request_id, prompt, tokens)

    def leave(self, request_id: str, *, ended: bool) -> None:
        """Forget an answer that the engine no longer writes; keep its text if it has ``ended``."""
        self._library.leave(request_id, ended=ended)

    def propose(self, requests: Sequence[Any], *, most_tokens: int, max_model_len: int) -> dict[str, list[int]]:
        """Drafts by request id for a step in which vLLM's ``requests`` decode; empty if none is worth its time.

        ``most_tokens`` is the limit for the whole step.
        """
        count, began = len(requests), self._clock()
        if count > MOST_RUNNING:
            self._plan = None
            return {}
        self._plan = plan = _Plan(count, {})
        if not self._costs.known or not self._gate.opens(count):
            return {}
        plan.drafts = self._make(requests, most_tokens - count, max_model_len)
        self._drop_unworthy(plan)
        if not plan.drafts:
            plan.vain_s = self._clock() - began
            self._gate.tried_in_vain(count, plan.vain_s, self._costs.plain(count))
        return {request_id: found.tokens for request_id, found in plan.drafts.items()}

    def withdraw(self) -> None:
        """Account for drafts that cannot be computed; the step runs without them."""
        self._plan = None

    def observe(self, seconds: float, sampled: dict[str, int] | None) -> None:
        """Account for a step that took ``seconds``.

        ``sampled`` is the number of tokens by request id, empty if each got one; None for a step with prompts.
        """
        plan, self._plan = self._plan, None
        self._steps += 1
        if plan is None or sampled is None:
            return
        if not plan.drafts:
            self._costs.learn_plain(plan.running, seconds - plan.vain_s)
            return
        drafted = accepted = 0
        for request_id, found in plan.drafts.items():
            came = sampled[request_id] - 1
            self._acceptance.learn(found.kinds, came)
            drafted += len(found.tokens)
            accepted += came
        saved = self._costs.learn_drafted(plan.running, drafted, accepted, seconds)
        self._gate.drafted(plan.running, saved, self._costs.plain(plan.running))
        self._drafted += drafted
        self._accepted += accepted
        self._drafts += len(plan.drafts)
        self._drafted_steps += 1

    def _make(self, requests: Sequence[Any], room: int, max_model_len: int) -> dict[str, Draft]:
        """Drafts with up to ``room`` tokens in total."""
        self._acceptance.fade()
        count = len(requests)
        least = self._costs.token * count / self._costs.plain(count)
        drafts: dict[str, Draft] = {}
        for request in requests:
            left = min(request.max_tokens - len(request._output_token_ids), max_model_len - len(request._all_token_ids))
            most = min(MOST_DRAFTED, left - 1, room)
            known = self._library.find(request.request_id.partition("\x00")[0]) if most > 0 else None
            found = None if known is None else draft(*known, self._acceptance, most=most, least_expected=least)
            if found is not None:
                drafts[request.request_id] = found
                room -= len(found.tokens)
        return drafts

    def _drop_unworthy(self, plan: _Plan) -> None:
        """Drop tokens that are not worth their time, and all drafts if they are not worth it together."""
        drafts, plain = plan.drafts, self._costs.plain(plan.running)
        gain, size = _totals(drafts)
        least = self._costs.token * (plan.running + gain) / (plain + self._costs.added(size))
        for request_id, found in list(drafts.items()):
            found.cut(least)
            if not found.tokens:
                del drafts[request_id]
        gain, size = _totals(drafts)
        if (plan.running + gain) * plain < LEAST_GAIN * plan.running * (plain + self._costs.added(size)):
            drafts.clear()


def _totals(drafts: dict[str, Draft]) -> tuple[float, int]:
    """Expected number of accepted tokens, and number of drafted tokens."""
    return sum(sum(found.expected) for found in drafts.values()), sum(len(found.tokens) for found in drafts.values())
