"""Form of a shape: how rows of a kind are recognised, and how they become rows with a prompt, an answer and the
rest."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]
"""One JSON object."""

BOXED = "Please reason step by step, and put your final answer within \\boxed{}."
"""System prompt for questions that do not ask for a box themselves (Qwen2.5-Math's and DeepMath's)."""


@dataclass(frozen=True, slots=True)
class Mapped:
    """Origin of one column of the stored rows."""

    column: str
    source: str
    """Phrase that names the columns of the file and how they are converted."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape of rows. Both functions are pure and do not change their row."""

    name: str
    """Short name, for APIs."""
    title: str
    """Familiar name, with well-known datasets of the shape."""
    columns: str
    """Columns that identify it, as a phrase for messages."""
    mapping: tuple[Mapped, ...]
    """Columns that are created; all others stay as they are. Empty if nothing is changed."""
    matches: Callable[[Row], bool]
    """Whether a row is of this shape, judged by its columns and their types."""
    convert: Callable[[Row], Row]
    """The row as it is stored. Raises ValueError with a message about what is wrong."""
    grader: Mapping[str, Any] | None = None
    """A grader that can grade such rows immediately, as in a reward definition."""
    system: str | None = None
    """System prompt that requests the form of answer that the grader reads, if the rows do not."""
