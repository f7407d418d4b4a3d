"""Runs that are measured, kept in the repository: what takes hours is measured a part at a time, on any machine.

A file is lines of JSON in the order of their keys. A key names what a run is made of, with a hash of it: of another
recipe it is another key. Each line has the commit that it was measured at.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.installation import ROOT

FOLDER = ROOT / "tests" / "bench" / "measurements"
DIGITS = 5
"""Significant digits that are kept of a number."""


def key_of(name: str, seed: int, made_of: Any) -> str:
    """The key of a run by name, seed, and whatever JSON says what it is made of."""
    text = json.dumps(made_of, sort_keys=True)
    return f"{name} {seed} {hashlib.sha256(text.encode()).hexdigest()[:12]}"


class Kept:
    """The lines of a file. Processes may add to it at once."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def get(self, key: str) -> dict[str, Any] | None:
        """What was measured under a key."""
        found = self._lines().get(key)
        return None if found is None else {name: value for name, value in found.items() if name not in ("key", "at")}

    def put(self, key: str, found: Mapping[str, Any]) -> None:
        """Keep what was measured, in the place of what was there; a reader sees the file before or after."""
        line = {"key": key, "at": _commit(), **_rounded(dict(found))}
        with self._alone():
            lines = self._lines() | {key: line}
            part = self._file.with_suffix(".part")
            part.write_text("".join(f"{json.dumps(lines[one])}\n" for one in sorted(lines)))
            part.rename(self._file)

    def _lines(self) -> dict[str, dict[str, Any]]:
        if not self._file.exists():
            return {}
        return {line["key"]: line for line in map(json.loads, self._file.read_text().splitlines())}

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        folder = os.open(self._file.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, Mapping):
        return {str(name): _rounded(one) for name, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list | tuple) else value


def _commit() -> str:
    said = subprocess.run(
        ["git", "rev-parse", "--short=10", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return said.stdout.strip()
