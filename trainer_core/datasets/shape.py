"""Form of a shape: how rows of a kind are known, and how they become rows with a prompt, an answer and the rest."""

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
    """Phrase that names the columns of the file and what is done to them."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape of rows. Both functions are pure and leave the row that they are given as it is."""

    name: str
    """Short name, for APIs."""
    title: str
    """Name that people know, with well-known datasets of the shape."""
    columns: str
    """Columns by which it is known, as a phrase for messages."""
    mapping: tuple[Mapped, ...]
    """Columns that are made; all others are kept as they are. Empty: nothing is changed."""
    matches: Callable[[Row], bool]
    """Whether a row is of this shape, judged by its columns and their types."""
    convert: Callable[[Row], Row]
    """The row as it is stored. Raises ValueError with a sentence about what is wrong."""
    grader: Mapping[str, Any] | None = None
    """A grader that can grade such rows at once, as it stands in a reward definition."""
    system: str | None = None
    """System prompt that asks for the form of answer which the grader reads, where the rows do not."""
