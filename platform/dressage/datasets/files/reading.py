"""Reads an uploaded file in bounded memory: its content, and the faults of its rows."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

from dressage.common.api.errors import FieldError
from dressage.common.api.problems import Problem
from dressage.datasets.files.columnar.patience import Patience
from dressage.datasets.files.columnar.source import RowBlock
from dressage.datasets.files.columnar.stored import TakenRows, stored
from dressage.datasets.files.faults import FileFaultError
from dressage.datasets.files.findings import Findings
from dressage.datasets.files.formats import Format, open_format
from dressage.datasets.files.origin import Origin, ShapeOrigin
from dressage.datasets.files.records import LeftOutError, Record, Records
from dressage.datasets.limits import (
    MAX_COLUMNS,
    MAX_REPORT_ROWS,
    MAX_REPORTED_ERRORS,
    MAX_ROWS,
)
from dressage.datasets.rows.row import Row, check_row
from trainer_core.datasets import Shape, UnknownShapeError, recognise
from trainer_core.datasets.fields import json_type
from trainer_core.datasets.mapping import DatasetMapping, shape_of

_LONGEST_NAME = 200
_MOST_FORMS = 1_000


class UploadedRows:
    """Iterates over the rows of one or more files. ``raise_errors`` reports the faults at the end, or after too many.

    The first row with a known shape determines the shape of the file. Memory: one row, the faults, the column names,
    and 32 bytes per row.
    """

    def __init__(
        self,
        file: BinaryIO,
        name: str = "",
        mapping: DatasetMapping | None = None,
        further: Sequence[tuple[BinaryIO, str]] = (),
    ) -> None:
        """
        Args:
            file: the file, seekable.
            name: its name; the extension distinguishes tables with one column from other text.
            mapping: how to convert the columns; None looks for a known shape.
            further: more files with their names, whose rows follow those of the first.
        """
        self._files, self._mapping = [(file, name), *further], mapping
        self._where = ""
        """Name of the current file in faults, if there are several."""
        self.format: Format | None = None
        self.shape: Shape | None = shape_of(mapping) if mapping else None
        self.errors: list[FieldError] = []
        self.columns: dict[str, set[str]] = {}
        self._forms: set[tuple[object, ...]] = set()
        """Names and types of rows seen so far. A row with a known form adds nothing about the columns."""
        self.rows = 0
        self.findings = Findings()
        self._unmapped = ""
        self._explained = False
        """Whether a fault has already listed the known shapes."""

    def __iter__(self) -> Iterator[Row]:
        """The rows, one by one."""
        for file, name in self._files:
            with self._faults(name):
                format = self._opened(file, name)
                yield from self._read(format, format.records())
            if self._is_full:
                return

    def parts(self) -> Iterator[Row | TakenRows]:
        """The same rows, but blocks stay together if possible. Faults, findings and columns are the same."""
        for file, name in self._files:
            with self._faults(name):
                format = self._opened(file, name)
                patience = Patience()
                for block in format.blocks():
                    yield from self._parts(format, block, patience)
                    if self._is_full:
                        return

    def _opened(self, file: BinaryIO, name: str) -> Format:
        format = open_format(file, name)
        self.format = self.format or format
        return format

    @contextmanager
    def _faults(self, name: str) -> Iterator[None]:
        self._where = f"In {name}: " if len(self._files) > 1 else ""
        try:
            yield
        except FileFaultError as error:
            self.errors.append(FieldError(pointer="/file", detail=self._where + str(error)))

    @property
    def _is_full(self) -> bool:
        """Whether the limit of faults is reached, so that reading stops."""
        return len(self.errors) >= MAX_REPORT_ROWS

    def _parts(self, format: Format, block: RowBlock, patience: Patience) -> Iterator[Row | TakenRows]:
        taken = self._taken(block) if patience.tries() else None
        if taken is not None:
            patience.reward()
            yield taken
            return
        # Read the first rows one by one, until the shape of the file is known.
        halves = block.halves() if patience.tries() else ()
        if halves:
            for half in halves:
                if not self._is_full:
                    yield from self._parts(format, half, patience)
            return
        patience.lose()
        yield from self._read(format, block.records())

    def _taken(self, block: RowBlock) -> TakenRows | None:
        """The rows of a block that can be taken as a whole: its shape and columns are already known."""
        source = block.source() if self.shape is not None else None
        if source is None or self.shape is None or self.rows + len(source) > MAX_ROWS:
            return None
        rows = stored(self.shape, source)
        if rows is None or not rows.columns.keys() <= self.columns.keys():
            return None
        block.taken()
        for name, column in rows.columns.items():
            self.columns[name] |= column.json_types
        self.findings.look_at_all(self.rows + 1, rows)
        self.rows += len(rows)
        return rows

    def _read(self, format: Format, records: Records) -> Iterator[Row]:
        for record in records:
            try:
                row = self._checked(record)
            except LeftOutError as error:
                self.findings.leave_out(record.number, str(error))
                continue
            except ValueError as error:
                detail = str(error)
                if isinstance(error, UnknownShapeError):
                    detail = "The row is of no known shape either." if self._explained else detail
                    self._explained = True
                self.errors.append(
                    FieldError(pointer=f"/file/{format.unit}s/{record.number}", detail=self._where + detail)
                )
                if self._is_full:
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
        """Raise a 422 problem that names every faulty row, or says that no row is usable."""
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
        """All faults, for download. The ``errors`` of the response are the first of them."""
        return {"report": [{"place": error["pointer"], "detail": error["detail"]} for error in self.errors]}

    def origin(self, *, name: str, size: int, sha256: str) -> Origin:
        """Origin of the rows. Call it after ``raise_errors`` has found nothing."""
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
        """``[{name, type}]`` in order of first appearance; ``mixed`` if rows differ."""
        described = []
        for name, types in self.columns.items():
            real = types - {"null"} or types
            described.append({"name": name, "type": next(iter(real)) if len(real) == 1 else "mixed"})
        return described
