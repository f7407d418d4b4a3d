"""Tasks of Harbor, as Terminal-Bench has them: an instruction, an environment, and tests that run inside of it."""

import tomllib
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from trainer_core.datasets.fields import asked
from trainer_core.datasets.shape import Row
from trainer_core.datasets.tasks.format import TaskFormat, UnusableTaskError, text_in


def _reads(name: str) -> bool:
    return name in ("task.toml", "instruction.md", "environment/Dockerfile") or name.startswith("tests/")


def _row(folder: str, files: Mapping[str, bytes]) -> Row:
    try:
        about = tomllib.loads(text_in(files, "task.toml"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ValueError(f"its task.toml is no TOML: {error}.") from error
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


def _json(value: Any) -> Any:
    """A value of TOML as JSON: dates and times as text."""
    if isinstance(value, dict):
        return {name: _json(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_json(inner) for inner in value]
    return value if isinstance(value, str | int | float | bool) else str(value)


HARBOR = TaskFormat(name="harbor", marker="task.toml", reads=_reads, row=_row)
