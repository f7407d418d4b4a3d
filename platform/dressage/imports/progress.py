"""Progress of a transfer, written once a second."""

import time
from pathlib import Path

from dressage.imports.models import Transfer
from dressage.jobs.local import NotOurs, Stopping, report
from dressage.jobs.stopping import is_stopping

EVERY_S = 1.0


class Progress:
    """Progress of one worker on a transfer."""

    def __init__(self, row: Transfer) -> None:
        self._row = row
        self._state = row.active_states[0]
        self._written = 0.0
        self.bytes = self.files = 0
        """Counts of the completed files."""

    def begin(self, state: str) -> None:
        """Enter a state and count from zero."""
        self._state, self.bytes, self.files = state, 0, 0
        self.write(0)

    def tick(self, partial: Path | None = None, count: int = 0) -> None:
        """Write progress if a second has passed.

        Args:
            partial: the file being fetched.
            count: bytes already processed of a file, in addition to ``partial``.

        Raises:
            NotOurs: the import was cancelled, or another worker has it.
            Stopping: this worker is being stopped.
        """
        if is_stopping():
            raise Stopping
        if time.monotonic() - self._written >= EVERY_S:
            self.write(count + (partial.stat().st_size if partial else 0))

    def write(self, more: int = 0, **fields: object) -> None:
        """Write now: the bytes of completed files plus ``more``. Raises NotOurs."""
        self._written = time.monotonic()
        done = {"state": self._state, "bytes_done": self.bytes + more, "files_done": self.files, **fields}
        if not report(self._row, **done):
            raise NotOurs
