"""Outcomes of the rows, kept on disk line by line: whoever comes after a killed worker asks only about the others."""

import json
import threading
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from dressage.common.storable import clean
from dressage.lab.asking.client import AskedTokens

PATTERN = "outcomes-*.jsonl"
LEFT_OUT = {"left_out": True}
"""What is found of a row that an operation asks nothing about: it tells nothing of the model."""


@dataclass(frozen=True, slots=True)
class AskedOutcome:
    """What came of a row."""

    row: int
    """Its number, from 0."""
    found: dict[str, Any] | None
    """What the operation has made of the answers; None where there was none."""
    error: str | None
    """Why there is none."""
    use: AskedTokens
    other_use: AskedTokens = field(default_factory=AskedTokens)
    """What was asked of a second model."""

    @property
    def left_out(self) -> bool:
        """Whether the operation asked nothing about the row."""
        return self.found == LEFT_OUT


class KeptOutcomes:
    """Outcomes of a job, in files of its folder: each process that works on it begins one. Thread-safe."""

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
        """Keep one, so that it survives the process, as it is returned: of a model's text what can be stored."""
        outcome = replace(given, found=clean(given.found), error=clean(given.error))
        with self._lock:
            if self._file is None:  # a process that keeps nothing leaves no file, by which its loss is told
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
    """The outcome of a line; None for one that was cut off."""
    try:
        data = json.loads(line)
        use, other = AskedTokens(**data["use"]), AskedTokens(**data.get("other_use", {}))
        return AskedOutcome(data["row"], data["found"], data["error"], use, other)
    except (ValueError, KeyError, TypeError):
        return None
