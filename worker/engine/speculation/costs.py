"""Step time, measured while the engine runs: without drafts by running sequences, and what drafted tokens add."""

from __future__ import annotations

from dataclasses import dataclass

FORGETTING = 0.9
"""Weight of earlier steps, applied at each measured plain step: load from the learner on the next core varies."""
ADDED_FORGETTING = 0.98
LEAST_STEPS = 8
"""Number of plain steps that are measured before drafting is considered."""
OUTLIER = 3.0
"""Measured times are capped at this multiple of the expected time: the rest is other processes' work."""
ASSUMED_START, ASSUMED_TOKEN, ASSUMED_SHARE = 0.08, 0.04, 0.5
"""Costs until they are measured: drafting, and each token, as shares of a plain step; and a token as a share of one
sequence's part of that step, if that is less."""
ASSUMED_WEIGHT = 2.0


@dataclass(slots=True)
class FittedLine:
    """y = a + b x by least squares with forgetting, from observations at x >= 0."""

    weight: float = 0.0
    x: float = 0.0
    y: float = 0.0
    xx: float = 0.0
    xy: float = 0.0

    def add(self, x: float, y: float, weight: float = 1.0, forgetting: float = FORGETTING) -> None:
        """Account for an observation."""
        self.weight = self.weight * forgetting + weight
        self.x = self.x * forgetting + weight * x
        self.y = self.y * forgetting + weight * y
        self.xx = self.xx * forgetting + weight * x * x
        self.xy = self.xy * forgetting + weight * x * y

    @property
    def slope(self) -> float:
        """b; never below 0, and 0 if all x are about the same."""
        spread = self.weight * self.xx - self.x * self.x
        if spread <= 0.01 * self.weight * self.xx:
            return 0.0
        return max(0.0, (self.weight * self.xy - self.x * self.y) / spread)

    def at(self, x: float) -> float:
        """Value at ``x``; 0 without observations."""
        if not self.weight:
            return 0.0
        return (self.y + self.slope * (self.weight * x - self.x)) / self.weight


class StepCosts:
    """Measured seconds of steps that only decode."""

    def __init__(self) -> None:
        self._plain = FittedLine()
        self._added = FittedLine()
        self._steps = 0

    @property
    def known(self) -> bool:
        """Whether enough steps were measured."""
        return self._steps >= LEAST_STEPS

    def plain(self, running: int) -> float:
        """Seconds of a step with ``running`` sequences and no drafts."""
        return max(self._plain.at(running), 1e-6)

    def added(self, drafted: int) -> float:
        """Extra seconds of a step with ``drafted`` tokens, including the time to make the drafts."""
        return max(self._added.at(drafted), 0.0)

    @property
    def token(self) -> float:
        """Seconds that each drafted token adds."""
        return self._added.slope

    def learn_plain(self, running: int, seconds: float) -> None:
        """Account for a step without drafts."""
        if self.known:
            seconds = min(seconds, OUTLIER * self.plain(running))
        self._plain.add(running, seconds)
        self._steps += 1
        if self._steps == LEAST_STEPS:
            token = min(ASSUMED_TOKEN, ASSUMED_SHARE / running)
            for drafted in (0, 4 * running):
                share = ASSUMED_START + token * drafted
                self._added.add(drafted, share * self.plain(running), ASSUMED_WEIGHT, 1.0)

    def learn_drafted(self, running: int, drafted: int, accepted: int, seconds: float) -> float:
        """Account for a step with drafts. Returns the seconds that it has saved, negative if it has lost time."""
        plain = self.plain(running)
        seconds = min(seconds, OUTLIER * (plain + self.added(drafted)))
        self._added.add(drafted, seconds - plain, forgetting=ADDED_FORGETTING)
        return plain * (1 + accepted / running) - seconds
