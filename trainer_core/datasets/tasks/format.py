"""Definition of a task format."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from trainer_core.datasets.shape import Row

_MAX_ABOUT_BYTES = 16 << 10
"""Most bytes of the file that describes a task, since parsers may be slow."""


class UnusableTaskError(ValueError):
    """The folder is a task that cannot be a row, such as one without a statement. The message says why."""


@dataclass(frozen=True, slots=True)
class TaskFormat:
    """A format in which a task is a folder."""

    name: Literal["kattis", "harbor"]
    marker: str
    """File that identifies the folder of a task."""
    reads: Callable[[str], bool]
    """Whether a file, by its path within the folder, is read."""
    row: Callable[[str, Mapping[str, bytes]], Row]
    """The row of a folder, given its path and the files read. Raises ValueError, including UnusableTaskError."""


def text_in(files: Mapping[str, bytes], name: str) -> str:
    """A file as text. Raises ValueError if it is not text."""
    try:
        return files[name].decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"its file {name} is not UTF-8: {error.reason} at byte {error.start + 1}.") from error


def about_in(files: Mapping[str, bytes], name: str, read: Callable[[str], Any], form: str) -> Any:
    """Content of the file that describes a task. Raises ValueError if ``read`` does, or if the file is too long.

    Args:
        files: the files of the task.
        name: name of the file.
        read: parses its text; raises ValueError or RecursionError.
        form: name of its format.
    """
    if len(files[name]) > _MAX_ABOUT_BYTES:
        raise ValueError(f"its {name} has more than {_MAX_ABOUT_BYTES:,} bytes.")
    text = text_in(files, name)
    try:
        return read(text)
    except RecursionError as error:
        raise ValueError(f"its {name} is nested too deeply.") from error
    except ValueError as error:
        raise ValueError(f"its {name} is not valid {form} for a task: {str(error).rstrip('.')}.") from error
