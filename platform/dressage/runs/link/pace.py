"""Pace of syncs: what the platform asks of workers when so many runs are at work that it could not hear all of them."""

import time
from collections.abc import Callable

from dressage.runs.models import Run
from dressage.runs.states import ACTIVE

SYNCS_PER_S = 125
"""Syncs of all runs together that two cores take beside what people ask for."""
UNASKED_S = 0.5
"""Time between two syncs of a worker that is asked for nothing."""
LONGEST_S = 8.0
"""Longest pace that is asked for. Steering waits as long; leases are longer by it."""
COUNTED_EVERY_S = 5.0


class Pace:
    """The time that workers shall leave between two syncs, by the number of runs at work."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._counted_at = float("-inf")
        self._seconds = 0.0

    def seconds(self) -> float:
        """Seconds; 0 while the usual pace will do. The runs are counted now and then alone."""
        now = self._clock()
        if now - self._counted_at >= COUNTED_EVERY_S:
            wanted = Run.objects.filter(state__in=ACTIVE).count() / SYNCS_PER_S
            self._seconds = min(LONGEST_S, wanted) if wanted > UNASKED_S else 0.0
            self._counted_at = now
        return self._seconds


pace = Pace()
