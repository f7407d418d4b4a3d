"""Pace of syncs: the interval that the platform requests when active runs would send too many syncs to handle."""

import time
from collections.abc import Callable

from dressage.runs.models import Run
from dressage.runs.states import ACTIVE

SYNCS_PER_S = 125
"""Syncs per second, of all runs together, that two cores can handle in addition to users' requests."""
UNASKED_S = 0.5
"""Interval between the syncs of a worker without a requested pace."""
LONGEST_S = 8.0
"""Longest interval that is requested. Steering is delayed by up to this time, and leases are extended by it."""
COUNTED_EVERY_S = 5.0


class Pace:
    """The interval that workers should leave between two syncs, given the number of active runs."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._counted_at = float("-inf")
        self._seconds = 0.0

    def seconds(self) -> float:
        """Seconds; 0 while the usual pace is sufficient. The runs are only counted from time to time."""
        now = self._clock()
        if now - self._counted_at >= COUNTED_EVERY_S:
            wanted = Run.objects.filter(state__in=ACTIVE).count() / SYNCS_PER_S
            self._seconds = min(LONGEST_S, wanted) if wanted > UNASKED_S else 0.0
            self._counted_at = now
        return self._seconds


pace = Pace()
