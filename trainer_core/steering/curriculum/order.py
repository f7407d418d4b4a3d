"""Every row once per epoch, in a seeded random order."""

from random import Random
from typing import Any


class EpochOrder:
    """An endless sequence over ``count`` rows; only epoch and cursor need to be saved."""

    def __init__(self, count: int, seed: str) -> None:
        self._count, self._seed = count, seed
        self._epoch, self._cursor = 0, 0
        self._rows = self._shuffled()

    def next(self) -> int:
        """The next row."""
        if self._cursor == self._count:
            self._epoch, self._cursor = self._epoch + 1, 0
            self._rows = self._shuffled()
        self._cursor += 1
        return self._rows[self._cursor - 1]

    def state(self) -> dict[str, Any]:
        """State for the checkpoint."""
        return {"epoch": self._epoch, "cursor": self._cursor}

    def load(self, state: dict[str, Any]) -> None:
        """Restore from a checkpoint."""
        self._epoch, self._cursor = state["epoch"], state["cursor"]
        self._rows = self._shuffled()

    def _shuffled(self) -> list[int]:
        rows = list(range(self._count))
        Random(f"{self._seed}:{self._epoch}").shuffle(rows)
        return rows
