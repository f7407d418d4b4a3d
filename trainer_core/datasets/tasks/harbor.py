"""Tasks in Harbor's format, as in Terminal-Bench: an instruction, an environment, and tests that run inside it."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from trainer_core.datasets.fields import asked
from trainer_core.datasets.shape import Row
from trainer_core.datasets.tasks.format import TaskFormat, UnusableTaskError, about_in, text_in

_MAX_PARTS = 30


def _reads(name: str) -> bool:
    return name in ("task.toml", "instruction.md", "environment/Dockerfile") or name.startswith("tests/")


def _row(folder: str, files: Mapping[str, bytes]) -> Row:
    about = about_in(files, "task.toml", _toml, "TOML")
    if "instruction.md" not in files or not (instruction := text_in(files, "instruction.md").strip()):
        raise UnusableTaskError(f"The task {folder} has no instruction.md.")
    row: Row = {
        "messages": asked(instruction),
        "id": folder,
        "name": PurePosixPath(folder).name,
        "task_format": "harbor",
        "test_files": {name: text_in(files, name) for name in sorted(files) if name.startswith("tests/")},
        "task": _json(about),
    }
    if "environment/Dockerfile" in files:
        row["dockerfile"] = text_in(files, "environment/Dockerfile")
    return row


def _toml(text: str) -> Any:
    """The values of a document, as JSON. Raises ValueError."""
    # Keys with thousands of parts take the parser very long.
    if any(_parts(piece) > _MAX_PARTS for piece in re.split(r"[={,\n]", text)):
        raise ValueError(f"a key has more than {_MAX_PARTS} parts")
    return _json(tomllib.loads(text))


def _parts(piece: str) -> int:
    """Number of parts of a possible dotted key; 0 for prose, whose words are separate."""
    parts = [part.strip(" \t[]") for part in piece.split(".")]
    return len(parts) if all(part and not any(map(str.isspace, part)) for part in parts) else 0


def _json(value: Any) -> Any:
    """A TOML value as JSON: dates and times as text."""
    if isinstance(value, dict):
        return {name: _json(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_json(inner) for inner in value]
    return value if isinstance(value, str | int | float | bool) else str(value)


HARBOR = TaskFormat(name="harbor", marker="task.toml", reads=_reads, row=_row)
