"""Rows of a page that were measured once and have no kept run: writing the page anew keeps them, with their date."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

_DATED = re.compile(r"(?P<name>.*?) \((?P<date>\d{4}-\d\d-\d\d)\)")
NOTE = "Rows with a date were measured then, by the recipe and code of that day; their runs are not kept."


def merged(page: Path, header: str, fresh: Mapping[str, str], order: Sequence[str]) -> list[str]:
    """Rows of a table by name in ``order``: what is measured now, else what the page tells, with its date.

    Args:
        page: the page as it stands.
        header: the table's first line.
        fresh: rows that are written from kept runs, by name.
        order: all names that the table may have.
    """
    told = rows(page, header)
    return [fresh.get(name) or told[name] for name in order if name in fresh or name in told]


def rows(page: Path, header: str, nth: int = 0) -> dict[str, str]:
    """Rows below the ``nth`` of these headers in ``page``, by name, each with a date behind its name."""
    lines = page.read_text().splitlines() if page.exists() else []
    found: dict[str, str] = {}
    for start in [start for start, line in enumerate(lines) if line == header][nth : nth + 1]:
        for row in lines[start + 2 :]:
            if not row.startswith("| "):
                break
            first, _, rest = row.removeprefix("| ").partition(" | ")
            dated = _DATED.fullmatch(first)
            name = dated["name"] if dated else first
            date = dated["date"] if dated else _last_change(page)
            found[name] = f"| {name} ({date}) | {rest}"
    return found


def _last_change(page: Path) -> str:
    """The day on which the page was last written into the repository."""
    told = subprocess.run(
        ["git", "log", "-1", "--format=%cs", "--", page.name],
        cwd=page.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return told.stdout.strip() or "1970-01-01"
