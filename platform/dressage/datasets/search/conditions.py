"""Conditions of a query that are evaluated for all rows together, on notes and on the index."""

import math
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dressage.common.api.problems import invalid
from dressage.datasets.models import DatasetVersion, RowNotes
from dressage.datasets.rows.facts import SCRIPTS
from dressage.datasets.rows.query import NoteCondition, RowQuery
from dressage.datasets.search import index
from dressage.datasets.search.replaced import read_again
from dressage.datasets.versions.notes import of as all_notes

_EXACT = 2**53
"""Magnitude up to which float64 represents every integer exactly."""
_INTEGERS = (-(2**63), 2**63 - 1)
"""Smallest and largest int64."""


def of_notes(version: DatasetVersion, conditions: Sequence[NoteCondition], query: str = "/query") -> np.ndarray | None:
    """Mask of the rows whose notes fulfil all conditions, bool of shape [rows]; None if there are no conditions.

    ``query`` is the pointer to the query in the request.

    Raises:
        Problem: 422 with a pointer to the condition, if the version has no such notes or the notes no such column.
        FileNotFoundError: the file of the notes no longer exists.
    """
    return read_again(lambda: _of_notes(version, conditions, query))


def of_index(version: DatasetVersion, query: RowQuery) -> np.ndarray | None:
    """Mask of the rows with the length, script, answer and id, bool of shape [rows]; None without such a condition.

    Raises:
        index.BrokenIndex: the index cannot be read.
    """
    path, masks = version.path, []
    if query.min_length is not None:
        masks.append(index.numbers(path, "length") >= query.min_length)
    if query.max_length is not None:
        masks.append(index.numbers(path, "length") <= query.max_length)
    if query.script is not None:
        masks.append(index.numbers(path, "script") == SCRIPTS.index(query.script))
    if query.answer is not None:
        masks.append(index.numbers(path, "answer") == np.uint64(index.hash_of(query.answer)))
    if query.ids is not None:
        wanted = np.array([index.hash_of(row_id) for row_id in query.ids], dtype=np.uint64)
        masks.append(np.isin(index.numbers(path, "id"), wanted))
    return np.logical_and.reduce(masks) if masks else None


def _of_notes(version: DatasetVersion, conditions: Sequence[NoteCondition], query: str) -> np.ndarray | None:
    found: np.ndarray | None = None
    known = {one.name: one for one in all_notes(version)} if conditions else {}
    for number, condition in enumerate(conditions):
        here = _holds(known, condition, f"{query}/notes/{number}")
        found = here if found is None else found & here
    return found


def _holds(known: dict[str, RowNotes], condition: NoteCondition, pointer: str) -> np.ndarray:
    notes = known.get(condition.notes)
    if notes is None:
        names = ", ".join(sorted(known)) or "none yet"
        raise invalid(f"{pointer}/notes", f"There are no notes {condition.notes!r} of these rows; there are: {names}.")
    types = {column["name"]: column["type"] for column in notes.columns}
    if condition.column not in types:
        raise invalid(f"{pointer}/column", f"{condition.notes!r} has the columns {', '.join(types)}.")
    is_number = types[condition.column] in ("integer", "number")
    if not is_number and (condition.least is not None or condition.most is not None):
        raise invalid(f"{pointer}/column", f"{condition.column!r} has no numbers; ask for a value with `equals`.")
    if condition.equals is not None and not _fits(condition.equals, types[condition.column]):
        kind = types[condition.column]
        raise invalid(f"{pointer}/equals", f"{condition.column!r} holds values of the type {kind}; this can be none.")
    values = pq.read_table(notes.path, columns=[condition.column]).column(0)
    return _compare(values, condition).fill_null(False).to_numpy().astype(bool)


def _compare(values: pa.ChunkedArray, condition: NoteCondition) -> pa.ChunkedArray:
    found = pc.is_valid(values)
    if condition.equals is not None:
        found = pc.and_(found, pc.equal(values, pa.scalar(condition.equals, values.type)))
    if condition.least is not None:
        found = pc.and_(found, _at_least(values, condition.least))
    if condition.most is not None:
        found = pc.and_(found, _at_most(values, condition.most))
    return found


def _at_least(values: pa.ChunkedArray, bound: float) -> pa.ChunkedArray:
    if values.type != pa.int64():
        return pc.greater_equal(values, bound)
    # Next to a float, Arrow converts integers to floats and refuses those beyond 2^53.
    least, largest = math.ceil(bound), _INTEGERS[1]
    return pc.greater_equal(values, max(least, _INTEGERS[0])) if least <= largest else pc.greater(values, largest)


def _at_most(values: pa.ChunkedArray, bound: float) -> pa.ChunkedArray:
    if values.type != pa.int64():
        return pc.less_equal(values, bound)
    most, smallest = math.floor(bound), _INTEGERS[0]
    return pc.less_equal(values, min(most, _INTEGERS[1])) if most >= smallest else pc.less(values, smallest)


def _fits(value: bool | int | float | str, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if isinstance(value, int):
        if kind == "integer":
            return _INTEGERS[0] <= value <= _INTEGERS[1]
        return kind == "number" and abs(value) <= _EXACT
    return kind == ("number" if isinstance(value, float) else "string")
