"""Reads an uploaded file row by row, in bounded memory: what it holds, and what is wrong with which row."""

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from dressage.common.errors import FieldError
from dressage.common.parsers import loads
from dressage.common.problems import Problem
from dressage.datasets.faults import FileFaultError
from dressage.datasets.formats import Format, open_format
from dressage.datasets.limits import (
    MAX_COLUMNS,
    MAX_DEPTH,
    MAX_REPORTED_ERRORS,
    MAX_ROW_BYTES,
    MAX_ROWS,
)
from dressage.datasets.origin import ControlTokens, Origin
from dressage.datasets.rows import Row, check_row
from trainer_core.datasets import Shape, UnknownShapeError, recognise
from trainer_core.datasets.fields import json_type

_LONGEST_NAME = 200


def parse_piece(piece: bytes | None, unit: str) -> dict[str, Any]:
    """One object. Raises ValueError with a sentence about what is wrong."""
    if piece is None:
        raise ValueError(f"The {unit} is longer than {MAX_ROW_BYTES:,} bytes.")
    try:
        text = piece.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"The {unit} is not UTF-8: {error.reason} at byte {error.start + 1}.") from error
    try:
        data = loads(text, MAX_DEPTH)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} of the row, column {error.colno}" if error.lineno > 1 else f"column {error.colno}"
        raise ValueError(f"The {unit} is not valid JSON: {error.msg} at {where}.") from error
    if not isinstance(data, dict):
        raise ValueError(f"A row must be a JSON object, not {json_type(data)}.")
    return data


class UploadedRows:
    """Iterates over the rows of a file; after the last one, or the hundredth fault, ``raise_errors`` tells.

    The first row that is of a known shape says of which shape the file is. Memory: one row, the faults, and the names
    of the columns.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.format: Format | None = None
        self.shape: Shape | None = None
        self.errors: list[FieldError] = []
        self.columns: dict[str, set[str]] = {}
        self.rows = 0
        self.control_tokens = ControlTokens()

    def __iter__(self) -> Iterator[Row]:
        try:
            self.format = open_format(self._file)
            yield from self._read(self.format)
        except FileFaultError as error:
            self.errors.append(FieldError(pointer="/file", detail=str(error)))

    def _read(self, format: Format) -> Iterator[Row]:
        explained = False
        for number, piece in format.pieces():
            try:
                row = self._row(parse_piece(piece, format.unit))
            except ValueError as error:
                detail = str(error)
                if isinstance(error, UnknownShapeError):
                    detail = "The row is of no known shape either." if explained else detail
                    explained = True
                self.errors.append(FieldError(pointer=f"/file/{format.unit}s/{number}", detail=detail))
                if len(self.errors) >= MAX_REPORTED_ERRORS:
                    return
                continue
            self.rows += 1
            self.control_tokens.look(self.rows, row.data)
            yield row

    def _row(self, data: dict[str, Any]) -> Row:
        shape = self.shape or recognise(data)
        row = check_row(shape.convert(data))
        self.shape = shape
        for key, value in row.data.items():
            self.columns.setdefault(key, set()).add(json_type(value))
        if len(self.columns) > MAX_COLUMNS:
            raise ValueError(f"The file has more than {MAX_COLUMNS} different columns.")
        if self.rows >= MAX_ROWS:
            raise ValueError(f"The file has more than {MAX_ROWS:,} rows.")
        return row

    def raise_errors(self) -> None:
        """Raise a 422 problem that names every faulty row, or says that there is none."""
        if not self.errors and not self.rows:
            self.errors = [FieldError(pointer="/file", detail="The file has no rows.")]
        if self.errors:
            first, count = self.errors[0], len(self.errors)
            unit, number = first["pointer"].split("/")[-2:]
            where = f"{unit.removesuffix('s').capitalize()} {number}: " if number.isdigit() else ""
            full = count >= MAX_REPORTED_ERRORS
            units = self.format.unit + "s" if self.format else "rows"
            more = f" ({'at least ' if full else ''}{count} {units} have errors.)" if count > 1 else ""
            raise Problem(
                422,
                "The file has errors",
                f"{where}{first['detail']}{more} Nothing was stored.",
                errors=self.errors,
                code="invalid_dataset",
            )

    def origin(self, *, name: str, size: int, sha256: str) -> Origin:
        """Origin of the rows, after ``raise_errors`` has found nothing."""
        assert self.format is not None and self.shape is not None  # there is a row
        shape, warning = self.shape, self.control_tokens.warning()
        return {
            "file": {
                "name": name[:_LONGEST_NAME],
                "format": self.format.name,
                "packed": self.format.packed,
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
            "warnings": [warning] if warning else [],
        }

    def described_columns(self) -> list[dict[str, str]]:
        """``[{name, type}]`` in order of first appearance; ``mixed`` where rows differ."""
        described = []
        for name, types in self.columns.items():
            real = types - {"null"} or types
            described.append({"name": name, "type": next(iter(real)) if len(real) == 1 else "mixed"})
        return described
