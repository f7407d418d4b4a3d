"""Whether a step should draft: only if trying is cheap compared to its gain, and drafted steps have paid off."""

from __future__ import annotations

import math

VAIN_SHARE = 0.01
"""Largest share of the time that may go to drafts that are not used."""
FIRST_REST, LONGEST_REST = 16, 4096
"""Most steps to skip after a failed try: the first value, doubled with each failure up to the second."""
PLAIN_EVERY = 24
"""Drafted steps in a row after which one step runs without drafts, to keep measuring the plain time."""
FORGETTING = 0.95
"""Weight of earlier savings, applied at each drafted step."""
MOST_LOST = 3.0
"""Drafting pauses after a loss of this many plain steps' time; a gain of as much clears earlier losses."""
REST_AFTER_LOSS = 128
"""Steps of such a pause; doubled each time, up to ``LONGEST_REST``."""


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
        """Account for a try that took ``seconds`` and gave no drafts worth their time."""
        kind = running.bit_length()
        self._in_a_row = 0
        steps = math.ceil(seconds / (VAIN_SHARE * plain)) - 1
        in_vain = self._in_vain.get(kind, 0)
        self._rest[kind] = min(steps, FIRST_REST << in_vain, LONGEST_REST)
        self._in_vain[kind] = min(in_vain + 1, 8)

    def drafted(self, running: int, saved: float, plain: float) -> None:
        """Account for a step with drafts that has ``saved`` seconds, or lost them if negative."""
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
