"""Reads an uploaded file row by row, in bounded memory: what it holds, and what is wrong with which row."""

from collections.abc import Iterator
from typing import Any, BinaryIO

from dressage.common.errors import FieldError
from dressage.common.problems import Problem
from dressage.datasets.faults import FileFaultError
from dressage.datasets.findings import Findings
from dressage.datasets.formats import Format, open_format
from dressage.datasets.limits import (
    MAX_COLUMNS,
    MAX_REPORT_ROWS,
    MAX_REPORTED_ERRORS,
    MAX_ROWS,
)
from dressage.datasets.origin import Origin
from dressage.datasets.records import LeftOutError, Record
from dressage.datasets.rows import Row, check_row
from trainer_core.datasets import Shape, UnknownShapeError, recognise
from trainer_core.datasets.fields import json_type

_LONGEST_NAME = 200


class UploadedRows:
    """Iterates over the rows of a file; after the last one, or too many faults, ``raise_errors`` tells.

    The first row that is of a known shape says of which shape the file is. Memory: one row, the
    faults, the names of the columns, and 32 bytes a row.
    """

    def __init__(self, file: BinaryIO, name: str = "") -> None:
        """
        Args:
            file: the file, seekable.
            name: its name, whose end tells tables of one column from other text.
        """
        self._file, self._name = file, name
        self.format: Format | None = None
        self.shape: Shape | None = None
        self.errors: list[FieldError] = []
        self.columns: dict[str, set[str]] = {}
        self.rows = 0
        self.findings = Findings()

    def __iter__(self) -> Iterator[Row]:
        try:
            self.format = open_format(self._file, self._name)
            yield from self._read(self.format)
        except FileFaultError as error:
            self.errors.append(FieldError(pointer="/file", detail=str(error)))

    def _read(self, format: Format) -> Iterator[Row]:
        explained = False
        for record in format.records():
            try:
                row = self._checked(record)
            except LeftOutError as error:
                self.findings.leave_out(record.number, str(error))
                continue
            except ValueError as error:
                detail = str(error)
                if isinstance(error, UnknownShapeError):
                    detail = "The row is of no known shape either." if explained else detail
                    explained = True
                self.errors.append(FieldError(pointer=f"/file/{format.unit}s/{record.number}", detail=detail))
                if len(self.errors) >= MAX_REPORT_ROWS:
                    return
                continue
            self.rows += 1
            self.findings.look(self.rows, row.data, nan=record.nan)
            yield row

    def _checked(self, record: Record) -> Row:
        if isinstance(record.value, ValueError):
            raise record.value
        return self._row(record.value)

    def _row(self, data: dict[str, Any]) -> Row:
        shape = self.shape or recognise(data)
        row = check_row(shape.convert(data))
        self.shape = shape
        if len(self.columns.keys() | row.data.keys()) > MAX_COLUMNS:
            raise ValueError(f"The file has more than {MAX_COLUMNS} different columns.")
        if self.rows >= MAX_ROWS:
            raise ValueError(f"The file has more than {MAX_ROWS:,} rows.")
        for key, value in row.data.items():
            self.columns.setdefault(key, set()).add(json_type(value))
        return row

    def raise_errors(self) -> None:
        """Raise a 422 problem that names every faulty row, or says that there is none."""
        if not self.errors and not self.rows:
            self.errors = [FieldError(pointer="/file", detail="The file has no rows.")]
        if self.errors:
            first, count = self.errors[0], len(self.errors)
            unit, number = first["pointer"].split("/")[-2:]
            where = f"{unit.removesuffix('s').capitalize()} {number}: " if number.isdigit() else ""
            full = count >= MAX_REPORT_ROWS
            units = self.format.unit + "s" if self.format else "rows"
            more = f" ({'at least ' if full else ''}{count:,} {units} have errors.)" if count > 1 else ""
            raise Problem(
                422,
                "The file has errors",
                f"{where}{first['detail']}{more} Nothing was stored.",
                errors=self.errors[:MAX_REPORTED_ERRORS],
                code="invalid_dataset",
                extra=self._report() if count > MAX_REPORTED_ERRORS else None,
            )

    def _report(self) -> dict[str, Any]:
        """All faults, for who downloads them; the answer's ``errors`` are the first of them."""
        return {"report": [{"place": error["pointer"], "detail": error["detail"]} for error in self.errors]}

    def origin(self, *, name: str, size: int, sha256: str) -> Origin:
        """Origin of the rows, after ``raise_errors`` has found nothing."""
        assert self.format is not None and self.shape is not None  # there is a row
        shape = self.shape
        return {
            "file": {
                "name": name[:_LONGEST_NAME],
                "format": self.format.name,
                "packed": self.format.packed,
                "packing": self.format.packing,
                "bytes": size,
                "sha256": sha256,
            },
            "shape": {
                "name": shape.name,
                "title": shape.title,
                "mapping": [
                    {"column": mapped.column, "source": mapped.source}
                    for mapped in shape.mapping
                    if mapped.column in self.columns
                ],
                "grader": dict(shape.grader) if shape.grader else None,
                "system": shape.system,
            },
            "warnings": self.findings.warnings(),
        }

    def described_columns(self) -> list[dict[str, str]]:
        """``[{name, type}]`` in order of first appearance; ``mixed`` where rows differ."""
        described = []
        for name, types in self.columns.items():
            real = types - {"null"} or types
            described.append({"name": name, "type": next(iter(real)) if len(real) == 1 else "mixed"})
        return described
