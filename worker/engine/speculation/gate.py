"""Whether a step shall draft: where trying is cheap beside what it finds, and drafted steps have paid."""

from __future__ import annotations

import math

VAIN_SHARE = 0.01
"""Largest share of the time that drafts may take that come to nothing."""
FIRST_REST, LONGEST_REST = 16, 4096
"""Steps without a try after one that was in vain, at most: doubled each time from the first to the second."""
PLAIN_EVERY = 24
"""Drafted steps in a row after which one goes without, so that its time stays known."""
FORGETTING = 0.95
"""Weight of all before, at each drafted step, of what drafting has saved."""
MOST_LOST = 3.0
"""Plain steps' time lost after which drafting rests, and gained after which losses of before are forgiven."""
REST_AFTER_LOSS = 128
"""Steps of such a rest; doubled each time, up to ``LONGEST_REST``."""


class Gate:
    """State by classes of running sequences: 1, 2 to 3, 4 to 7, and so on."""

    def __init__(self) -> None:
        self._rest: dict[int, int] = {}
        self._saved: dict[int, float] = {}
        self._in_vain: dict[int, int] = {}
        self._losses: dict[int, int] = {}
        self._in_a_row = 0

    def opens(self, running: int) -> bool:
        """Whether to try in this step."""
        kind = running.bit_length()
        rest = self._rest.get(kind, 0)
        if rest:
            self._rest[kind] = rest - 1
            return False
        if self._in_a_row >= PLAIN_EVERY:
            self._in_a_row = 0
            return False
        return True

    def tried_in_vain(self, running: int, seconds: float, plain: float) -> None:
        """Account for a try of so many seconds that gave no drafts worth their time."""
        kind = running.bit_length()
        self._in_a_row = 0
        steps = math.ceil(seconds / (VAIN_SHARE * plain)) - 1
        in_vain = self._in_vain.get(kind, 0)
        self._rest[kind] = min(steps, FIRST_REST << in_vain, LONGEST_REST)
        self._in_vain[kind] = min(in_vain + 1, 8)

    def drafted(self, running: int, saved: float, plain: float) -> None:
        """Account for a step with drafts that has ``saved`` so many seconds, or lost them."""
        kind = running.bit_length()
        self._in_a_row += 1
        self._in_vain[kind] = 0
        self._saved[kind] = self._saved.get(kind, 0.0) * FORGETTING + saved
        if self._saved[kind] < -MOST_LOST * plain:
            losses = self._losses.get(kind, 0)
            self._saved[kind] = 0.0
            self._rest[kind] = min(REST_AFTER_LOSS << losses, LONGEST_REST)
            self._losses[kind] = min(losses + 1, 8)
        elif self._saved[kind] > MOST_LOST * plain:
            self._losses[kind] = 0
