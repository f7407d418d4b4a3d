"""Chooses the rows to create variations of: those that a query finds and whose answer can be compared."""

import heapq
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from dressage.common.api.problems import invalid
from dressage.datasets.derivation.tables import finder
from dressage.datasets.models import DatasetVersion
from dressage.datasets.search.conditions import of_notes
from dressage.datasets.selectors import missing_files
from dressage.datasets.versions import families, storage
from dressage.lab.arguments import MAX_ASKED_ROWS, SynthesiseRows
from dressage.lab.asking.rows import rank
from dressage.lab.statistics.answer_types import answer_type

_FILE = "chosen.json"


@dataclass(frozen=True, slots=True)
class ChosenRows:
    """Rows of a version."""

    numbers: list[int]
    """Row numbers from 0, in order."""
    left_out: int
    """Number of rows found by the query that get no variations."""


def choose(version: DatasetVersion, operation: SynthesiseRows) -> ChosenRows:
    """Choose the rows; for a sample, those that are first by ``rank``.

    Raises:
        Problem: 422 if there are none or too many, or the query uses notes that do not exist.
    """
    found = _FitRows()
    with missing_files("/operation"):
        ranked = ((rank(row_id, operation.seed), number) for number, row_id in found.read(version, operation))
        most = operation.sample or MAX_ASKED_ROWS + 1
        numbers = sorted(number for _, number in heapq.nsmallest(most, ranked))
    if len(numbers) > MAX_ASKED_ROWS:
        detail = f"The query matches more than {MAX_ASKED_ROWS:,} rows, the maximum of a job. Choose a sample."
        raise invalid("/operation/sample", detail, code="too_many_rows")
    if not numbers:
        detail = "The query matches no row."
        if found.left_out:
            detail = (
                f"The query matches {found.left_out:,} rows, but none has a gold answer, or all are variations: there"
                " is nothing to compare answers with."
                if operation.answers == "same"
                else f"The query matches {found.left_out:,} rows, but all already have whole-number answers, have no"
                " answer, or are variations."
            )
        raise invalid("/operation/query", detail, code="no_rows")
    return ChosenRows(numbers, found.left_out)


def kept_choice(folder: Path, version: DatasetVersion, operation: SynthesiseRows) -> list[int]:
    """The numbers of the chosen rows, the same for all processes of a job. Raises as ``choose``."""
    path = folder / _FILE
    if not path.exists():
        temporary = path.with_suffix(".tmp")
        temporary.write_text(json.dumps(choose(version, operation).numbers))
        temporary.replace(path)
    numbers: list[int] = json.loads(path.read_text())
    return numbers


class _FitRows:
    """Rows that a query finds, read in one pass."""

    def __init__(self) -> None:
        self.left_out = 0

    def read(self, version: DatasetVersion, operation: SynthesiseRows) -> Iterator[tuple[int, str]]:
        """(number, id) of each suitable row."""
        noted = of_notes(version, operation.query.notes, "/operation/query")
        find = finder(operation.query, noted)
        start = 0
        for table in storage.tables(version.path):
            found = find(table, start)
            answered = pc.not_equal(pc.fill_null(pc.utf8_trim_whitespace(table.column("answer")), ""), "")
            variation = pc.match_substring(table.column("row"), families.MARK)
            fit = pc.and_(found, pc.and_not(answered, variation))
            if operation.answers == "whole":
                fit = pc.and_not(fit, _whole(table))
            self.left_out += pc.sum(found).as_py() - (pc.sum(fit).as_py() or 0) if table.num_rows else 0
            numbers = pa.array(range(start, start + table.num_rows), pa.int64())
            yield from zip(numbers.filter(fit).to_pylist(), table.column("id").filter(fit).to_pylist(), strict=True)
            start += table.num_rows


def _whole(table: pa.Table) -> pa.Array:
    """Whether the answer of each row is an integer."""
    return pa.array([answer_type(answer) == "integer" for answer in table.column("answer").to_pylist()])
