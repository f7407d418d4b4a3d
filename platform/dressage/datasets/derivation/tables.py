"""Rows of derived versions as streams of tables. Previews and real operations use the same code."""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dressage.common.api.strict_json import MAX_DIGITS, check
from dressage.datasets.derivation.operations import EditRows, RowChange, SplitShare
from dressage.datasets.limits import MAX_DEPTH, MAX_ROW_BYTES
from dressage.datasets.rows import ids as row_ids
from dressage.datasets.rows.facts import facts_of_stored
from dressage.datasets.rows.query import Matcher, RowQuery
from dressage.datasets.rows.row import Row, check_row
from dressage.datasets.versions import families, storage

_TOO_LARGE = 10**MAX_DIGITS


@dataclass
class Counts:
    """Row counts of an operation. Complete once all its tables have been read."""

    before: int = 0
    after: int = 0
    added: int = 0
    removed: int = 0
    changed: int = 0

    def document(self) -> dict[str, int]:
        """The counts as the lineage stores them."""
        return dict(self.__dict__)


@dataclass
class CheckedEdit:
    """An edit whose rows have been checked."""

    changed: dict[str, Row] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)
    added: list[tuple[str | None, Row]] = field(default_factory=list)

    @property
    def rows(self) -> list[Row]:
        """All rows that the edit contains."""
        return [*self.changed.values(), *(row for _, row in self.added)]


class EditError(ValueError):
    """A change that cannot be applied."""

    def __init__(self, index: int | None, detail: str) -> None:
        super().__init__(detail)
        self.index = index
        """Its index among the changes, if it belongs to one."""


def check_rows(rows: Sequence[tuple[str, dict[str, Any]]]) -> CheckedEdit:
    """An edit that adds rows with the given ids. Raises EditError."""
    checked = CheckedEdit()
    for index, (row_id, data) in enumerate(rows):
        checked.added.append((row_id, checked_row(index, data)))
    return checked


def check_edit(edit: EditRows) -> CheckedEdit:
    """The edit with its rows checked. Raises EditError."""
    checked, seen = CheckedEdit(), set()
    for index, change in enumerate(edit.changes):
        if change.id is not None and change.id in seen:
            raise EditError(index, f"The row {change.id!r} is named twice.")
        if change.id is not None:
            seen.add(change.id)
        if change.op == "remove":
            checked.removed.add(str(change.id))
            continue
        row = checked_row(index, _data_of(index, change))
        if change.op == "change":
            checked.changed[str(change.id)] = row
        else:
            if change.id is not None and not row_ids.fits(change.id):
                raise EditError(index, f"{change.id!r} is no id: use letters, digits and . _ : / + -, at most 80.")
            checked.added.append((change.id, row))
    return checked


def _data_of(index: int, change: RowChange) -> Any:
    try:
        return change.data()
    except ValueError as error:
        raise EditError(index, str(error)) from error


def checked_row(index: int, data: Any) -> Row:
    """A row that may be stored. Raises EditError with its index."""
    try:
        row = check_row(data)
        check(row.data, MAX_DEPTH)
        _require_short_numbers(row.data)
    except ValueError as error:
        raise EditError(index, str(error)) from error
    if len(_text(row).encode()) > MAX_ROW_BYTES:
        raise EditError(index, f"The row has more than {MAX_ROW_BYTES:,} bytes.")
    return row


def _require_short_numbers(row: Any) -> None:
    """Refuse numbers that files may not contain. Raises ValueError."""
    if isinstance(row, int) and not -_TOO_LARGE < row < _TOO_LARGE:
        raise ValueError(f"A number has more than {MAX_DIGITS} digits.")
    for inner in row.values() if isinstance(row, dict) else row if isinstance(row, list) else ():
        _require_short_numbers(inner)


def edited(path: Path, edit: CheckedEdit, counts: Counts) -> Iterator[pa.Table]:
    """The rows after an edit. Raises EditError for an id that does not exist, or that exists already."""
    named = pa.array([*edit.changed, *edit.removed, *(one for one, _ in edit.added if one)], pa.string())
    missing, present = edit.changed.keys() | edit.removed, set()
    own_ids = [one or row_ids.content_id(row.data) for one, row in edit.added]
    watched = pa.array(own_ids, pa.string())
    for table in storage.tables(path):
        counts.before += table.num_rows
        ids = table.column("id")
        if watched:
            present |= set(ids.filter(pc.is_in(ids, watched)).to_pylist())
        if named and pc.any(pc.is_in(ids, named)).as_py():
            missing = missing - set(ids.to_pylist())
            table = _replaced(table, edit, counts)
        counts.after += table.num_rows
        yield table
    if missing:
        raise EditError(None, f"There is no row {min(missing)!r} in this version.")
    if edit.added:
        table = _appended(edit, own_ids, present)
        counts.added, counts.after = table.num_rows, counts.after + table.num_rows
        yield table


def _replaced(table: pa.Table, edit: CheckedEdit, counts: Counts) -> pa.Table:
    records = []
    for record in table.to_pylist():
        if record["id"] in edit.removed:
            counts.removed += 1
            continue
        new = edit.changed.get(record["id"])
        if new is not None and _text(new) != record["row"]:
            counts.changed += 1
            record = record_of(new, record["id"])
        records.append(record)
    return pa.Table.from_pylist(records, schema=storage.SCHEMA)


def _appended(edit: CheckedEdit, own_ids: Sequence[str], present: set[str]) -> pa.Table:
    records, taken = [], set(present)
    for (given, row), row_id in zip(edit.added, own_ids, strict=True):
        if given is not None and given in taken:
            raise EditError(None, f"There is a row {given!r} already; change it, or add this one without an id.")
        if row_id in taken:
            raise EditError(None, f"An equal row, {row_id!r}, is there already; give the one that is added an id.")
        taken.add(row_id)
        records.append(record_of(row, row_id))
    return pa.Table.from_pylist(records, schema=storage.SCHEMA)


def made(path: Path, rows: Sequence[Row], counts: Counts) -> Iterator[pa.Table]:
    """Only the given rows, each once."""
    counts.before = counts.removed = sum(table.num_rows for table in storage.tables(path))
    unique = {row_ids.content_id(row.data): row for row in rows}
    counts.added = counts.after = len(unique)
    yield pa.Table.from_pylist([record_of(row, row_id) for row_id, row in unique.items()], schema=storage.SCHEMA)


def filtered(path: Path, query: RowQuery, noted: np.ndarray | None, counts: Counts) -> Iterator[pa.Table]:
    """The rows that a query finds. ``noted`` is the mask of its conditions on notes, None if it has none."""
    find = finder(query, noted)
    for table in storage.tables(path):
        start = counts.before
        counts.before += table.num_rows
        table = table.filter(find(table, start))
        counts.after += table.num_rows
        if table.num_rows:
            yield table
    counts.removed = counts.before - counts.after


def finder(query: RowQuery, noted: np.ndarray | None) -> Callable[[pa.Table, int], pa.BooleanArray]:
    """A function of a table and the number of its first row, which returns a mask of the rows found, of shape [rows].

    ``noted`` is the mask of the query's conditions on notes, None if it has none.
    """
    matcher = Matcher(query)
    wanted = None if query.ids is None else pa.array(sorted(matcher.ids or ()), pa.string())

    def find(table: pa.Table, start: int) -> pa.BooleanArray:
        found = np.ones(table.num_rows, bool) if noted is None else noted[start : start + table.num_rows].copy()
        if wanted is not None:
            found &= pc.is_in(table.column("id"), wanted).to_numpy().astype(bool)
        if matcher.needs_facts:
            found[found] = _found(table.filter(pa.array(found)), matcher)
        return pa.array(found, pa.bool_())

    return find


def kept(path: Path, ids: Collection[str], counts: Counts) -> Iterator[pa.Table]:
    """The rows with these ids."""
    wanted = pa.array(sorted(ids), pa.string())
    for table in storage.tables(path):
        counts.before += table.num_rows
        table = table.filter(pc.is_in(table.column("id"), wanted))
        counts.after += table.num_rows
        if table.num_rows:
            yield table
    counts.removed = counts.before - counts.after


def _found(table: pa.Table, matcher: Matcher) -> list[bool]:
    columns = (table.column(name).to_pylist() for name in ("id", "row", "answer"))
    return [matcher.finds(row_id, facts_of_stored(text, answer)) for row_id, text, answer in zip(*columns, strict=True)]


def part_of(row_id: str, salt: str, shares: Sequence[SplitShare]) -> int:
    """The index of the part that a row belongs to. It depends only on the id, the salt and the shares.

    For a variation, ``row_id`` is the id of its source row, whose part it shares.
    """
    digest = hashlib.sha256(f"{salt}\0{row_id}".encode()).digest()
    place, edge = int.from_bytes(digest[:8], "big") / 2**64, 0.0
    for index, share in enumerate(shares):
        edge += share.share
        if place < edge:
            return index
    return len(shares) - 1


def part(path: Path, shares: Sequence[SplitShare], salt: str, wanted: int, counts: Counts) -> Iterator[pa.Table]:
    """The rows of one part of a split."""
    for table in storage.tables(path):
        counts.before += table.num_rows
        mask = [part_of(row_id, salt, shares) == wanted for row_id in families.heads(table)]
        table = table.filter(pa.array(mask, pa.bool_()))
        counts.after += table.num_rows
        if table.num_rows:
            yield table
    counts.removed = counts.before - counts.after


def merged(paths: Iterable[Path], equal_ids: str, counts: Counts) -> Iterator[pa.Table]:
    """The rows of several files. Memory: 8 bytes per row for the ids while counting, then the ranks."""
    known, files = row_ids.Occurrences(), list(paths)
    for path in files:
        for table in storage.tables(path):
            known.add(table.column("id").to_pylist())
    ranks, start = known.ranks(), 0
    names = _NewIds(known)
    for number, path in enumerate(files):
        kin = families.Kin(path) if ranks is not None and equal_ids == "rename" else None
        for table in storage.tables(path):
            size = table.num_rows
            here = None if ranks is None else ranks[start : start + size]
            start += size
            if here is not None and here.any():
                table = _without_doubles(table, here) if kin is None else _renamed(table, here, names, kin)
            if kin is not None:
                table = kin.renamed(table)
            if number == 0:
                counts.before += size
            else:
                counts.added += table.num_rows
            counts.after += table.num_rows
            yield table


def _without_doubles(table: pa.Table, ranks: Any) -> pa.Table:
    return table.filter(pa.array(ranks == 0))


def _renamed(table: pa.Table, ranks: Any, names: "_NewIds", kin: families.Kin) -> pa.Table:
    """The table with new ids for duplicates. Each new id is reported to ``kin``."""
    ids = [
        kin.told(row_id, names.of(row_id, rank)) if rank else row_id
        for row_id, rank in zip(table.column("id").to_pylist(), ranks.tolist(), strict=True)
    ]
    return table.set_column(table.schema.get_field_index("id"), storage.SCHEMA.field("id"), pa.array(ids, pa.string()))


class _NewIds:
    """Ids for rows whose own id is taken, derived from that id and the row's rank among equals."""

    def __init__(self, known: row_ids.Occurrences) -> None:
        self._known = known
        self._given: set[str] = set()

    def of(self, row_id: str, rank: int) -> str:
        """An id that no row has, whether original or assigned."""
        for number in count(rank):
            found = f"{row_id[:60]}+{row_ids.content_id([row_id, number])[:8]}"
            if found not in self._given and not self._known.has(found):
                self._given.add(found)
                return found
        raise AssertionError("there is always a next number")


def record_of(row: Row, row_id: str) -> dict[str, Any]:
    """The row in its stored form."""
    return {"row": _text(row), "prompt": row.prompt, "answer": row.answer, "id": row_id}


def _text(row: Row) -> str:
    return json.dumps(row.data, ensure_ascii=False, separators=(",", ":"))
