"""Follow one request's thinking through its token stream, and report when the budget is spent.

Markers are token sequences and may be split anywhere, even between prompt and completion. Only tokens between the
markers count. Pure Python on lists: the engine calls it once per token.
"""

from __future__ import annotations

from collections.abc import Sequence

from worker.engine.types import ThinkingState, ThinkTokens


class ThinkingTracker:
    """State of one request: whether thinking is open and how many tokens were spent in it."""

    __slots__ = (
        "_budget",
        "_counted",
        "_end",
        "_forced_end",
        "_markers",
        "_opened_at",
        "_prompt_tail",
        "_start",
        "budget_hit",
        "open",
        "spent",
    )

    def __init__(
        self,
        markers: ThinkTokens,
        prompt_ids: Sequence[int],
        budget: int | None,
        forced_end_ids: tuple[int, ...] = (),
    ) -> None:
        """``forced_end_ids`` are injected when the budget is spent; empty means those of ``markers``."""
        self._markers = markers
        self._forced_end = forced_end_ids or markers.forced_end_ids
        self._start = list(markers.start_ids)
        self._end = list(markers.end_ids)
        self._budget = budget
        keep = max(len(self._start), len(self._end)) - 1
        self._prompt_tail = list(prompt_ids[-keep:]) if keep > 0 else []
        self.spent = 0
        self.budget_hit = False
        self._counted = 0  # tokens counted since thinking last opened
        self._opened_at = 0  # index into the completion before which an end marker cannot begin
        self.open = not self._start
        if self._start:
            opened = _find_last(prompt_ids, self._start)
            self.open = opened >= 0 and _find_last(prompt_ids[opened + len(self._start) :], self._end) < 0
            self._opened_at = opened + len(self._start) - len(prompt_ids)

    @property
    def exhausted(self) -> bool:
        """Whether thinking is open and must not continue."""
        return self.open and self._budget is not None and self.spent >= self._budget

    @property
    def state(self) -> ThinkingState:
        """State that `restore` needs to continue elsewhere."""
        return ThinkingState(self.open, self.spent, self._counted, self._opened_at, self.budget_hit)

    def restore(self, state: ThinkingState) -> None:
        """Continue from the state of a tracker with the same markers and prompt."""
        self.open, self.spent, self.budget_hit = state.open, state.spent, state.budget_hit
        self._counted, self._opened_at = state.counted, state.opened_at

    def feed(self, token_ids: list[int]) -> bool:
        """Account for the last token of `token_ids` (the completion so far). Returns `exhausted`."""
        if self.open:
            self.spent += 1
            self._counted += 1
            if token_ids[-1] == self._end[-1] and self._ends_with(token_ids, self._end):
                self.open = False
                self.spent -= min(len(self._end), self._counted)
                return False
            return self._budget is not None and self.spent >= self._budget
        if self._start and token_ids[-1] == self._start[-1] and self._ends_with(token_ids, self._start):
            self.open = True
            self._opened_at = len(token_ids)
            self._counted = 0
            return self.exhausted
        return False

    def force_end(self, token_ids: list[int]) -> tuple[int, ...]:
        """Close thinking. Returns the tokens to inject, without those of the marker the policy already wrote."""
        forced = self._forced_end
        self.open = False
        self.budget_hit = True
        if self._markers.end_ids != forced[: len(self._end)]:
            return forced
        for overlap in range(min(len(self._end) - 1, self._counted), 0, -1):
            if tuple(token_ids[-overlap:]) == forced[:overlap]:
                self.spent -= overlap
                return forced[overlap:]
        return forced

    def _ends_with(self, token_ids: list[int], marker: list[int]) -> bool:
        size = len(marker)
        if self.open and len(token_ids) - size < self._opened_at:
            return False
        if len(token_ids) >= size:
            return token_ids[-size:] == marker
        return (self._prompt_tail + token_ids)[-size:] == marker


def count_thinking(markers: ThinkTokens, prompt_ids: Sequence[int], token_ids: Sequence[int]) -> int:
    """Number of tokens between the markers of a whole completion, sampled or forced."""
    tracker = ThinkingTracker(markers, prompt_ids, None)
    seen: list[int] = []
    for token in token_ids:
        seen.append(token)
        tracker.feed(seen)
    return tracker.spent


def _find_last(sequence: Sequence[int], marker: list[int]) -> int:
    """Index of the last occurrence of `marker` in `sequence`, or -1."""
    size = len(marker)
    for index in range(len(sequence) - size, -1, -1):
        if sequence[index] == marker[0] and list(sequence[index : index + size]) == marker:
            return index
    return -1
