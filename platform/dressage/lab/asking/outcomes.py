"""Outcomes of rows, stored on disk line by line, so that a process that follows a killed worker skips finished rows."""

import json
import threading
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from dressage.common.storable import clean
from dressage.lab.asking.client import AskedTokens

PATTERN = "outcomes-*.jsonl"
LEFT_OUT = {"left_out": True}
"""Outcome of a row that an operation does not ask about. It says nothing about the model."""


@dataclass(frozen=True, slots=True)
class AskedOutcome:
    """Outcome of a row."""

    row: int
    """Its number, from 0."""
    found: dict[str, Any] | None
    """The operation's result for the row; None if there was no answer."""
    error: str | None
    """Why there is no result."""
    use: AskedTokens
    other_use: AskedTokens = field(default_factory=AskedTokens)
    """Requests and tokens of the second model."""

    @property
    def left_out(self) -> bool:
        """Whether the operation did not ask about the row."""
        return self.found == LEFT_OUT


class KeptOutcomes:
    """Outcomes of a job, in files of its folder. Each process of the job starts its own file. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        files = sorted(folder.glob(PATTERN))
        self.outcomes: dict[int, AskedOutcome] = {}
        for file in files:
            for line in file.read_text().splitlines():
                outcome = _read(line)
                if outcome is not None:
                    self.outcomes[outcome.row] = outcome
        self._path = folder / f"outcomes-{len(files):04}.jsonl"
        self._file: IO[str] | None = None
        self._lock = threading.Lock()

    def keep(self, given: AskedOutcome) -> AskedOutcome:
        """Store an outcome, and return it as stored. Characters that cannot be stored are replaced."""
        outcome = replace(given, found=clean(given.found), error=clean(given.error))
        with self._lock:
            if self._file is None:  # a process without outcomes leaves no file, which is how its loss is detected
                self._file = self._path.open("w")
            self._file.write(json.dumps(asdict(outcome)) + "\n")
            self._file.flush()
            self.outcomes[outcome.row] = outcome
        return outcome

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


def _read(line: str) -> AskedOutcome | None:
    """The outcome in a line; None for a truncated line."""
    try:
        data = json.loads(line)
        use, other = AskedTokens(**data["use"]), AskedTokens(**data.get("other_use", {}))
        return AskedOutcome(data["row"], data["found"], data["error"], use, other)
    except (ValueError, KeyError, TypeError):
        return None
