"""Text tables: CSV and TSV, with RFC 4180 quotes or with quotes as ordinary characters, with or without a header.

The beginning of a file decides which it is. After that each row must have as many cells as the first.
"""

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, BinaryIO, Literal

from dressage.datasets.files.faults import FileFaultError
from dressage.datasets.files.records import Record, Records, require_columns
from dressage.datasets.limits import MAX_ROW_BYTES

_SAMPLED = 200
_MAX_LINES_BYTES = 4 * MAX_ROW_BYTES
"""Maximum size of the lines of one row, however many cells they contain. The size may double because quotes are
doubled."""
_DELIMITERS: dict[str, Literal["csv", "tsv"]] = {"\t": "tsv", ",": "csv", ";": "csv", "|": "csv"}
_NAMED = (".csv", ".tsv", ".tab")
_QUOTED_CELL = re.compile(r'(^|\t)"(?:[^"\t]|"")*"(\t|$)')
_NUMBER = re.compile(r"[-+]?[\d.,]+%?")
_NAME = re.compile(r"[^\W_][\w .()\[\]%/#:&*+-]{0,63}|_[\w]{0,63}|")

# The limit applies to the whole process. No other code reads CSV.
csv.field_size_limit(MAX_ROW_BYTES)


@dataclass(frozen=True, slots=True)
class Dialect:
    """Format of a text table."""

    name: Literal["csv", "tsv"]
    delimiter: str
    quoted: bool
    """Whether quotes enclose cells; otherwise they are ordinary characters."""
    header: bool
    """Whether the first row names the columns."""


def sniff(head: bytes, *, whole: bool, file_name: str = "") -> Dialect | None:
    """Detect the dialect of a table from its beginning. None if the text is not a table.

    Args:
        head: the file's beginning.
        whole: whether it is the whole file; otherwise its last line is ignored.
        file_name: its extension distinguishes tables with one column from other text.
    """
    text = head.removeprefix(codecs.BOM_UTF8).decode(errors="replace")
    lines = [line for line in text.split("\n")[: None if whole else -1] if line.strip()]
    if not lines or sum(line.lstrip().startswith("{") for line in lines) * 2 > len(lines):
        return None
    best: tuple[float, Dialect] | None = None
    for delimiter, name in _DELIMITERS.items():
        quoted = delimiter != "\t" or any(_QUOTED_CELL.search(line.rstrip("\r")) for line in lines)
        rows = _sampled(lines, delimiter, quoted)
        if delimiter == "\t" and quoted and _agreement(rows) < 1:
            quoted, rows = False, _sampled(lines, delimiter, False)
        if not rows or len(rows[0]) < 2 or (agreement := _agreement(rows)) < 0.5:
            continue
        if best is None or agreement > best[0]:
            best = agreement, Dialect(name, delimiter, quoted, _is_header(rows))
    if best is None and file_name.lower().removesuffix(".gz").removesuffix(".zst").endswith(_NAMED):
        return Dialect("csv", ",", True, _is_header(_sampled(lines, ",", True)))
    return best[1] if best else None


def records(file: BinaryIO, dialect: Dialect) -> Records:
    """The rows of a table, each numbered by its first line.

    Raises:
        FileFaultError: the text or its quoting is invalid, or the header is not a list of names.
    """
    lines = _Lines(file)
    reader = csv.reader(lines, **_options(dialect.delimiter, dialect.quoted))
    names: list[str] = []
    while (cells := _next(reader, lines)) is not None:
        number = lines.first
        lines.begin_row()
        if not any(cells):
            continue
        if not names:
            names = _names(cells, dialect)
            if dialect.header:
                continue
        yield Record(number, _row(names, cells))


def _row(names: list[str], cells: list[str]) -> dict[str, Any] | ValueError:
    if len(cells) != len(names):
        few = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
        return ValueError(f"The row has {few}, the table {len(names)} columns. Put cells with delimiters in quotes.")
    if sum(map(len, cells)) > MAX_ROW_BYTES:
        return ValueError(f"The line is longer than {MAX_ROW_BYTES:,} bytes.")
    if any("\0" in cell for cell in cells):
        return ValueError("Text must not contain NUL characters.")
    return dict(zip(names, cells, strict=True))


def _names(first: list[str], dialect: Dialect) -> list[str]:
    """Names of the columns. Columns without a name are named by position."""
    if not dialect.header:
        return [f"column_{place}" for place in range(1, len(first) + 1)]
    names = [cell.strip() or f"column_{place}" for place, cell in enumerate(first, 1)]
    doubled = next((name for name, count in Counter(names).items() if count > 1), None)
    if doubled is not None:
        raise FileFaultError(f"The header names the column `{doubled[:60]}` twice.")
    try:
        require_columns(names)
    except ValueError as error:
        raise FileFaultError(str(error)) from error
    return names


def _next(reader: Any, lines: "_Lines") -> list[str] | None:
    try:
        cells: list[str] = next(reader)
    except StopIteration:
        return None
    except csv.Error as error:
        raise FileFaultError(f"Line {lines.first}: {_told(str(error))}") from error
    return cells


def _told(error: str) -> str:
    if "field larger" in error or "end of data" in error:
        return "a quote is opened here and not closed. Double the quotes within cells, or remove this one."
    if "new-line" in error:
        return "there is a line end of old Macs (CR alone) in the row. Save it with line ends of Unix or Windows."
    return f"the row is no CSV as RFC 4180 has it: {error}. Enclose cells that hold quotes, and double those."


class _Lines:
    """Lines of text, each of bounded length."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.number = 0
        self.first = 1
        """First line of the row that is being read."""
        self._row_bytes = 0

    def begin_row(self) -> None:
        """Treat the next line as the first line of a row."""
        self.first, self._row_bytes = self.number + 1, 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._file.readline(MAX_ROW_BYTES + 2)
        if not line:
            raise StopIteration
        self.number += 1
        if self.number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        if len(line) > MAX_ROW_BYTES + 1:
            raise FileFaultError(f"Line {self.number} is longer than {MAX_ROW_BYTES:,} bytes.")
        self._row_bytes += len(line)
        if self._row_bytes > _MAX_LINES_BYTES:
            raise FileFaultError(
                f"Line {self.first}: the row that begins here is longer than {MAX_ROW_BYTES:,} bytes. Perhaps a quote "
                "is opened and not closed."
            )
        try:
            return line.decode()
        except UnicodeDecodeError as error:
            raise FileFaultError(
                f"Line {self.number} is not UTF-8: {error.reason} at byte {error.start + 1}. Save the table as UTF-8."
            ) from error


def _options(delimiter: str, quoted: bool) -> dict[str, Any]:
    if quoted:
        return {"delimiter": delimiter, "strict": True}
    return {"delimiter": delimiter, "quoting": csv.QUOTE_NONE, "quotechar": None}


def _sampled(lines: list[str], delimiter: str, quoted: bool) -> list[list[str]]:
    found: list[list[str]] = []
    try:
        for row in islice(csv.reader((f"{line}\n" for line in lines), **_options(delimiter, quoted)), _SAMPLED):
            if any(row):
                found.append(row)
    except csv.Error:
        pass  # the rows before it count; reading will report the fault
    return found


def _agreement(rows: list[list[str]]) -> float:
    """Share of the rows that have as many cells as the first row."""
    return sum(len(row) == len(rows[0]) for row in rows) / len(rows) if rows else 0.0


def _is_header(rows: list[list[str]]) -> bool:
    """Whether the first row contains column names: short, all different, and no numbers or sentences."""
    if not rows:
        return False
    names = [name.strip() for name in rows[0]]
    return (
        any(names)
        and len(set(names)) == len(names)
        and all(_NAME.fullmatch(name) and not _NUMBER.fullmatch(name) for name in names)
    ) or (
        len(set(names)) < len(names)
        and all(_NAME.fullmatch(name) and " " not in name for name in names)
        and not any(_NUMBER.fullmatch(name) for name in names)
    )
