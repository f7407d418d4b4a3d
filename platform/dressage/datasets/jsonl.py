"""Reads an uploaded JSONL file line by line, in bounded memory, and says what is wrong with which line."""

import codecs
import json
from collections.abc import Iterator
from typing import BinaryIO

from dressage.common.errors import FieldError
from dressage.common.parsers import loads
from dressage.common.problems import Problem
from dressage.datasets.limits import (
    MAX_COLUMNS,
    MAX_DEPTH,
    MAX_REPORTED_ERRORS,
    MAX_ROW_BYTES,
    MAX_ROWS,
)
from dressage.datasets.rows import Row, check_row, json_type


def numbered_lines(file: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """(line number from 1, its bytes without the line end). None stands for a line that is too long."""
    number = 0
    while line := file.readline(MAX_ROW_BYTES + 2):
        number += 1
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        text = line.rstrip(b"\r\n")
        if len(text) > MAX_ROW_BYTES:
            while line and not line.endswith(b"\n"):
                line = file.readline(MAX_ROW_BYTES)
            yield number, None
        else:
            yield number, text


def parse_line(line: bytes | None) -> Row:
    """One row. Raises ValueError with a sentence about what is wrong."""
    if line is None:
        raise ValueError(f"The line is longer than {MAX_ROW_BYTES:,} bytes.")
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"The line is not UTF-8: {error.reason} at byte {error.start + 1}.") from error
    try:
        data = loads(text, MAX_DEPTH)
    except json.JSONDecodeError as error:
        raise ValueError(f"The line is not valid JSON: {error.msg} at column {error.colno}.") from error
    return check_row(data)


class JsonLines:
    """Iterates over the rows of a file; after the last one, or the hundredth fault, ``raise_errors`` tells.

    Blank lines are skipped. Memory: one row, the faults, and the names of the columns.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.errors: list[FieldError] = []
        self.columns: dict[str, set[str]] = {}
        self.rows = 0

    def __iter__(self) -> Iterator[Row]:
        for number, line in numbered_lines(self._file):
            if line is not None and not line.strip():
                continue
            try:
                row = parse_line(line)
                for key, value in row.data.items():
                    self.columns.setdefault(key, set()).add(json_type(value))
                if len(self.columns) > MAX_COLUMNS:
                    raise ValueError(f"The file has more than {MAX_COLUMNS} different columns.")
                if self.rows >= MAX_ROWS:
                    raise ValueError(f"The file has more than {MAX_ROWS:,} rows.")
            except ValueError as error:
                self.errors.append(FieldError(pointer=f"/file/lines/{number}", detail=str(error)))
                if len(self.errors) >= MAX_REPORTED_ERRORS:
                    return
                continue
            self.rows += 1
            yield row

    def raise_errors(self) -> None:
        """Raise a 422 problem that names every faulty line, or says that there is no row."""
        if not self.errors and not self.rows:
            self.errors = [FieldError(pointer="/file", detail="The file has no rows.")]
        if self.errors:
            first, count = self.errors[0], len(self.errors)
            line = first["pointer"].rpartition("/")[2]
            where = f"Line {line}: " if line.isdigit() else ""
            full = count >= MAX_REPORTED_ERRORS
            more = f" ({'at least ' if full else ''}{count} lines have errors.)" if count > 1 else ""
            raise Problem(
                422,
                "The file has errors",
                f"{where}{first['detail']}{more} Nothing was stored.",
                errors=self.errors,
                code="invalid_dataset",
            )

    def described_columns(self) -> list[dict[str, str]]:
        """``[{name, type}]`` in order of first appearance; ``mixed`` where rows differ."""
        described = []
        for name, types in self.columns.items():
            real = types - {"null"} or types
            described.append({"name": name, "type": next(iter(real)) if len(real) == 1 else "mixed"})
        return described
