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
from dressage.datasets.origin import Origin, ShapeOrigin
from dressage.datasets.records import LeftOutError, Record
from dressage.datasets.rows import Row, check_row
from trainer_core.datasets import Shape, UnknownShapeError, recognise
from trainer_core.datasets.fields import json_type
from trainer_core.datasets.mapping import DatasetMapping, shape_of

_LONGEST_NAME = 200
_MOST_FORMS = 1_000


class UploadedRows:
    """Iterates over the rows of a file; after the last one, or too many faults, ``raise_errors`` tells.

    The first row that is of a known shape says of which shape the file is. Memory: one row, the
    faults, the names of the columns, and 32 bytes a row.
    """

    def __init__(self, file: BinaryIO, name: str = "", mapping: DatasetMapping | None = None) -> None:
        """
        Args:
            file: the file, seekable.
            name: its name, whose end tells tables of one column from other text.
            mapping: what becomes of the columns; None looks for a known shape.
        """
        self._file, self._name, self._mapping = file, name, mapping
        self.format: Format | None = None
        self.shape: Shape | None = shape_of(mapping) if mapping else None
        self.errors: list[FieldError] = []
        self.columns: dict[str, set[str]] = {}
        self._forms: set[tuple[object, ...]] = set()
        """Names and types of rows that were met: such a row tells nothing new of the columns."""
        self.rows = 0
        self.findings = Findings()
        self._unmapped = ""

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
        row = self._converted(shape, data)
        self.shape = shape
        form = (*row.data, *map(type, row.data.values()))
        if form in self._forms and self.rows < MAX_ROWS:
            return row
        new = row.data.keys() - self.columns.keys()
        if len(self.columns) + len(new) > MAX_COLUMNS:
            raise ValueError(f"The file has more than {MAX_COLUMNS} different columns.")
        if self.rows >= MAX_ROWS:
            raise ValueError(f"The file has more than {MAX_ROWS:,} rows.")
        if new:
            self.columns |= {key: set() for key in row.data if key in new}
        for key, value in row.data.items():
            self.columns[key].add(json_type(value))
        if len(self._forms) < _MOST_FORMS:
            self._forms.add(form)
        return row

    def _converted(self, shape: Shape, data: dict[str, Any]) -> Row:
        try:
            return check_row(shape.convert(data))
        except ValueError as error:
            if self._mapping is None or self._mapping.faulty_rows == "refuse":
                raise
            self._unmapped = self._unmapped or str(error)
            raise LeftOutError(str(error)) from error

    def raise_errors(self) -> None:
        """Raise a 422 problem that names every faulty row, or says that there is none."""
        if not self.errors and not self.rows:
            why = f"No row can be mapped. The first: {self._unmapped}" if self._unmapped else "The file has no rows."
            self.errors = [FieldError(pointer="/file", detail=why)]
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
        told = self._shape_origin(self.shape)
        if self._mapping is not None:
            told["document"] = self._mapping.model_dump(mode="json")
        return {
            "file": {
                "name": name[:_LONGEST_NAME],
                "format": self.format.name,
                "packed": self.format.packed,
                "packing": self.format.packing,
                "bytes": size,
                "sha256": sha256,
            },
            "shape": told,
            "warnings": self.findings.warnings(),
        }

    def _shape_origin(self, shape: Shape) -> ShapeOrigin:
        return {
            "name": shape.name,
            "title": shape.title,
            "mapping": [
                {"column": mapped.column, "source": mapped.source}
                for mapped in shape.mapping
                if mapped.column in self.columns
            ],
            "grader": dict(shape.grader) if shape.grader else None,
            "system": shape.system,
        }

    def described_columns(self) -> list[dict[str, str]]:
        """``[{name, type}]`` in order of first appearance; ``mixed`` where rows differ."""
        described = []
        for name, types in self.columns.items():
            real = types - {"null"} or types
            described.append({"name": name, "type": next(iter(real)) if len(real) == 1 else "mixed"})
        return described
