"""Answers row queries: one page of results, from an index or by a scan.

Every answer is quick. If a scan of all rows would take too long, it stops in time and reports how far it came. The next
page continues from there.
"""

import sqlite3
import time
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import structlog
from typing_extensions import TypedDict

from dressage.datasets.models import DatasetVersion
from dressage.datasets.rows.facts import facts_of
from dressage.datasets.rows.query import Matcher, RowQuery
from dressage.datasets.search import building, conditions, index
from dressage.datasets.search.building import IndexState
from dressage.datasets.search.replaced import read_again
from dressage.datasets.search.stored_rows import StoredRow, groups, of_table, read
from dressage.datasets.versions import notes

logger = structlog.get_logger(__name__)
_TIME_S = 0.5
"""Time limit for the rows of a page, and again for the total."""
_PARSED_AT_ONCE = 50
_SHOWN = 600
"""Maximum length of a prompt or an answer in a page, in characters."""


class FoundRow(TypedDict):
    """A row as shown in lists."""

    index: int
    """Position in the version, from 0."""
    id: str
    text: str
    """The beginning of the prompt or chat."""
    length: int
    """Length of the whole prompt or chat, in characters."""
    answer: str | None
    tags: list[str]
    """``column=value`` for short values of other columns."""
    notes: dict[str, dict[str, Any]]
    """``{name: {column: value}}`` of what operations found about the row."""


class FoundRows(TypedDict):
    """One page of query results."""

    object: Literal["list"]
    data: list[FoundRow]
    has_more: bool
    """Whether rows remain to be examined. A page may have fewer rows than requested, or none, and still have more."""
    next: int | None
    """The ``after`` of the next page."""
    total: int | None
    """Number of matching rows; null on later pages."""
    total_is: Literal["exact", "at_least"]
    """``at_least`` if not all rows could be examined in time."""
    index: IndexState


def find(version: DatasetVersion, query: RowQuery, after: int | None, limit: int) -> FoundRows:
    """Return at most ``limit`` rows that match a query, starting after row number ``after``.

    Raises:
        Problem: 422 if the version has no such notes.
        FileNotFoundError: the file of the rows no longer exists.
    """
    state: IndexState = {"state": "not_needed", "percent": 100}
    start = 0 if after is None else after + 1
    mask = conditions.of_notes(version, query.notes)
    rest = query.model_copy(update={"notes": []})
    if rest.is_empty():
        found = _of_mask(np.ones(version.rows, dtype=bool) if mask is None else mask, start, limit)
    else:
        found, state = _looked_up(version, rest, mask, start, limit)
    more = found.seen < version.rows
    shown = read_again(lambda: notes.at(version, found.numbers))
    return {
        "object": "list",
        "data": [_row(record, shown[record.number]) for record in read(version.path, found.numbers)],
        "has_more": more,
        "next": found.seen - 1 if more else None,
        "total": found.total if after is None else None,
        "total_is": "exact" if found.all_counted else "at_least",
        "index": state,
    }


class _Found:
    """Matching row numbers in order, with the total."""

    def __init__(self, numbers: list[int], seen: int, total: int, all_counted: bool) -> None:
        self.numbers, self.seen, self.total, self.all_counted = numbers, seen, total, all_counted


def _of_mask(mask: np.ndarray, start: int, limit: int) -> _Found:
    here = np.flatnonzero(mask[start:])[: limit + 1] + start
    seen = int(here[limit]) if len(here) > limit else len(mask)
    return _Found(here[:limit].tolist(), seen, int(np.count_nonzero(mask)), True)


def _looked_up(
    version: DatasetVersion, query: RowQuery, mask: np.ndarray | None, start: int, limit: int
) -> tuple[_Found, IndexState]:
    """Find rows, with the index if there is a readable one."""
    state = building.state(version)
    if state["state"] == "ready":
        try:
            return _indexed(version, query, mask, start, limit), state
        except index.BrokenIndex as error:
            logger.warning("index broken", dataset_version=version.pk, error=str(error))
            index.withdraw(version.path)
            state = building.state(version)
    return _scanned(version, query, mask, start, limit), state


def _indexed(version: DatasetVersion, query: RowQuery, mask: np.ndarray | None, start: int, limit: int) -> _Found:
    more = conditions.of_index(version, query)
    if more is not None:
        mask = more if mask is None else mask & more
    expression = index.match(query.phrases(), query.tags)
    if not expression:
        assert mask is not None  # the query is not empty
        return _of_mask(mask, start, limit)
    with index.texts(version.path) as database:
        return _matched(database, expression, mask, version.rows, start, limit)


def _matched(
    database: sqlite3.Connection, expression: str, mask: np.ndarray | None, rows: int, start: int, limit: int
) -> _Found:
    numbers: list[int] = []
    seen = rows
    for chunk, end, _ in _chunks(database, expression, mask, rows, start):
        numbers += chunk.tolist()
        seen = end
        if len(numbers) > limit:
            seen, numbers = numbers[limit], numbers[:limit]
            break
    if seen == rows or start > 0:
        return _Found(numbers, seen, len(numbers), True)
    total, all_counted = 0, True
    for chunk, _, in_time in _chunks(database, expression, mask, rows, 0):
        total, all_counted = total + len(chunk), in_time
    return _Found(numbers, seen, total, all_counted)


def _chunks(
    database: sqlite3.Connection, expression: str, mask: np.ndarray | None, rows: int, start: int
) -> Iterator[tuple[np.ndarray, int, bool]]:
    """(matching numbers, number up to which they are complete, whether time is left), to the end or the deadline."""
    deadline = time.monotonic() + _TIME_S
    end = rows
    if mask is not None:
        allowed = np.flatnonzero(mask)
        if not len(allowed):
            return
        start, end = max(start, int(allowed[0])), int(allowed[-1]) + 1
    for numbers, seen in index.stretches(database, expression, start, end):
        complete = seen == end
        in_time = complete or time.monotonic() < deadline
        yield numbers if mask is None else numbers[mask[numbers]], rows if complete else seen, in_time
        if not in_time:
            return


def _scanned(version: DatasetVersion, query: RowQuery, mask: np.ndarray | None, start: int, limit: int) -> _Found:
    matcher, deadline = Matcher(query), time.monotonic() + _TIME_S
    numbers: list[int] = []
    for number, found in _looks(version, matcher, mask, start):
        if found:
            numbers.append(number)
            if start > 0 and len(numbers) > limit:
                break
        if time.monotonic() > deadline:
            seen = numbers[limit] if len(numbers) > limit else number + 1
            return _Found(numbers[:limit], seen, len(numbers), seen == version.rows)
    seen = numbers[limit] if len(numbers) > limit else version.rows
    return _Found(numbers[:limit], seen, len(numbers), True)


def _looks(
    version: DatasetVersion, matcher: Matcher, mask: np.ndarray | None, start: int
) -> Iterator[tuple[int, bool]]:
    """(number, whether it matches) for rows from ``start`` on that the mask allows.

    For a stretch that the mask excludes, only its last row is yielded, as no match, so that the clock is checked.
    """
    for first, table in groups(version.path, start, mask):
        for place in range(max(start - first, 0), table.num_rows, _PARSED_AT_ONCE):
            numbers = range(first + place, min(first + place + _PARSED_AT_ONCE, first + table.num_rows))
            if mask is not None and not mask[numbers.start : numbers.stop].any():
                yield numbers[-1], False
                continue
            for row in of_table(table.slice(place, len(numbers)), numbers):
                if mask is None or mask[row.number]:
                    yield row.number, matcher.finds(row.id, facts_of(row.row, row.answer))


def _row(record: StoredRow, known: dict[str, dict[str, Any]]) -> FoundRow:
    facts = facts_of(record.row, record.answer)
    return {
        "index": record.number,
        "id": record.id,
        "text": facts.text[:_SHOWN],
        "length": facts.length,
        "answer": facts.answer if facts.answer is None else facts.answer[:_SHOWN],
        "tags": list(facts.tags),
        "notes": known,
    }
