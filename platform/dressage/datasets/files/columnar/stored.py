"""Rows that were taken as a block, in their stored form."""

from dataclasses import dataclass
from functools import cached_property
from json.encoder import encode_basestring
from typing import Any

import pyarrow as pa

from dressage.datasets.files.columnar.column import StoredColumn, joined
from dressage.datasets.files.columnar.converted import Converted, converted
from dressage.datasets.files.columnar.source import SourceRows
from dressage.datasets.files.findings import is_closely_read
from trainer_core.datasets import Shape
from trainer_core.datasets.invisible import is_blank


@dataclass(frozen=True)
class TakenRows:
    """Checked rows, all with the same names in the same order."""

    made: Converted

    def __len__(self) -> int:
        return len(self.made.answers)

    @property
    def columns(self) -> dict[str, StoredColumn]:
        """The columns of the rows, in order."""
        return self.made.columns

    def values(self, name: str) -> list[Any] | None:
        """Values of a column that is also in the file; None if the rows do not have it."""
        column = self.made.columns.get(name)
        return None if column is None else column.values

    @property
    def prompts(self) -> pa.Array:
        """Prompts, or the texts of the last messages."""
        return pa.array(self.made.prompts.values, pa.string())

    @property
    def answers(self) -> pa.Array:
        """Answers as text."""
        return pa.array(self.made.answers, pa.string())

    @cached_property
    def texts(self) -> pa.Array:
        """JSON texts of the rows in their stored form."""
        return _as_text(_objects([(name, column.plain) for name, column in self.columns.items()]))

    def sorted_texts(self) -> list[bytes]:
        """JSON texts with sorted keys, from which ids are derived."""
        pieces = [(name, column.sorted) for name, column in sorted(self.columns.items())]
        texts: list[bytes] = _objects(pieces).to_pylist()
        return texts


def stored(shape: Shape, source: SourceRows) -> TakenRows | None:
    """The rows of a block; None if any of them is faulty or needs a closer look."""
    made = converted(shape, source)
    if (
        made is None
        or any(map(is_closely_read, made.columns))
        or not all(column.is_sound() for column in made.columns.values())
    ):
        return None
    answers = made.columns.get("answer")
    if answers is not None and not _all_seen(answers):
        return None
    return TakenRows(made)


def _all_seen(answers: StoredColumn) -> bool:
    # Lists are examined one by one.
    return answers.all_seen or not any(
        [isinstance(value, list) or (isinstance(value, str) and is_blank(value)) for value in answers.values]
    )


def _objects(columns: list[tuple[str, pa.Array]]) -> pa.Array:
    pieces: list[bytes | pa.Array] = []
    before = b"{"
    for name, texts in columns:
        pieces += [before + encode_basestring(name).encode() + b":", texts]
        before = b","
    return joined(*pieces, b"}")


def _as_text(texts: pa.Array) -> pa.Array:
    """Cast binary that is known to be UTF-8 to text without validation."""
    return pa.StringArray.from_buffers(len(texts), texts.buffers()[1], texts.buffers()[2])
