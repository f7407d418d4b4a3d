"""Text tables: CSV and TSV, with RFC 4180 quotes or with quotes as ordinary characters, with or without a header.

The beginning of a file decides which it is. After that each row must have as many cells as the first.
"""

import codecs
import csv
import re
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, BinaryIO, Literal

import regex  # type: ignore[import-untyped]

from dressage.datasets.files.cells import CellKind, kind_of_header, name_of_header, read_cell
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
_DECLARED = re.compile(r"\"?sep=([^\w\s\"]|\t)\"?\r?\Z", re.IGNORECASE)
"""First line by which Excel declares the delimiter. It is no row."""
_NUMBER = re.compile(r"[-+−]?[$€£¥]?[\d.,]*\d[\d.,]*(?:[eE][-+]?\d+)?%?")
_DATED = re.compile(rf"{_NUMBER.pattern}|\d{{4}}-\d\d-\d\d.*|\d+[/:]\d+.*")
"""Values that no column is named after: numbers, dates, times."""
_VALUE = re.compile(rf"{_DATED.pattern}|true|false|yes|no", re.IGNORECASE)
"""Values that show by their form that they are no texts."""
_END = re.compile(r"[.?!。？！।]\Z")
_NAME = regex.compile(r"[\p{L}\p{N}][\p{L}\p{M}\p{N}_ .()\[\]%/#:&*+\-'’]{0,63}|_[\p{L}\p{M}\p{N}_]{0,63}|")
"""Names of columns in any script, with their combining marks."""
_LONGEST_NAME = 64
_MOST_WORDS = 3
_SENTENCE = 5
"""Number of words from which a cell reads like a sentence."""
_QUOTES = "\"'“”„‟‘’‚‛«»‹›「」『』"
_WORDS = frozenset({
    "id", "prompt", "prompts", "messages", "question", "questions", "query", "problem", "problems", "input",
    "instruction", "instructions", "task", "answer", "answers", "solution", "solutions", "response", "output", "target",
    "label", "reference", "gold", "ground_truth", "expected", "completion", "text", "context", "passage", "choices",
    "options", "category", "subject", "topic", "source", "level", "difficulty", "explanation", "rationale",
})  # fmt: skip
"""Words that name columns in tables of prompts. A first row with one of them is a header."""

# The limit applies to the whole process. No other code reads CSV.
csv.field_size_limit(MAX_ROW_BYTES)


@dataclass(frozen=True, slots=True)
class Dialect:
    """Format of a text table."""

    name: Literal["csv", "tsv"]
    delimiter: str
    quoted: bool
    """Whether quotes enclose cells; otherwise they are ordinary characters."""
    header: bool | None
    """Whether the first row names the columns; None if that cannot be told from the beginning."""
    declared: bool = False
    """Whether the first line declares the delimiter."""


def sniff(head: bytes, *, whole: bool, file_name: str = "") -> Dialect | None:
    """Detect the dialect of a table from its beginning. None if the text is not a table.

    Args:
        head: the file's beginning.
        whole: whether it is the whole file; otherwise its last line is ignored.
        file_name: its extension distinguishes tables with one column from other text.
    """
    text = head.removeprefix(codecs.BOM_UTF8).decode(errors="replace")
    lines = [line for line in text.split("\n")[: None if whole else -1] if line.strip()]
    if lines and (declared := _DECLARED.match(lines[0])) is not None:
        quoted, rows = _read(lines[1:], declared[1])
        return Dialect(_DELIMITERS.get(declared[1], "csv"), declared[1], quoted, _is_header(rows), declared=True)
    if not lines or (_like_json(lines) and not _names_columns(lines[0])):
        return None
    best: tuple[float, Dialect] | None = None
    for delimiter, name in _DELIMITERS.items():
        quoted, rows = _read(lines, delimiter)
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
    if dialect.declared:
        next(lines)
        lines.begin_row()
    reader = csv.reader(lines, **_options(dialect.delimiter, dialect.quoted))
    names: list[str] = []
    kinds: list[CellKind] = []
    while (cells := _next(reader, lines)) is not None:
        number = lines.first
        lines.begin_row()
        if not any(cells):
            continue
        if not names:
            if dialect.header is None:
                raise FileFaultError(_unclear(cells))
            names = _names(cells, dialect)
            kinds = [kind_of_header(cell.strip()) if dialect.header else "text" for cell in cells]
            if dialect.header:
                continue
        yield Record(number, _row(names, kinds, cells))


def _unclear(cells: list[str]) -> str:
    shown = ", ".join(f"`{cell.strip()[:40]}`" for cell in cells[:4])
    return (
        f"It is not clear whether the first row, {shown}, names the columns or is a row itself. Put a row of names in "
        "front, such as `question` and `answer`."
    )


def _row(names: list[str], kinds: list[CellKind], cells: list[str]) -> dict[str, Any] | ValueError:
    if len(cells) != len(names):
        few = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
        return ValueError(f"The row has {few}, the table {len(names)} columns. Put cells with delimiters in quotes.")
    if sum(map(len, cells)) > MAX_ROW_BYTES:
        return ValueError(f"The line is longer than {MAX_ROW_BYTES:,} bytes.")
    if any("\0" in cell for cell in cells):
        return ValueError("Text must not contain NUL characters.")
    try:
        return {
            name: read_cell(cell, kind, name)
            for name, kind, cell in zip(names, kinds, cells, strict=True)
            if cell or kind != "json"
        }
    except ValueError as error:
        return error


def _names(first: list[str], dialect: Dialect) -> list[str]:
    """Names of the columns. Columns without a name are named by position."""
    if not dialect.header:
        return [f"column_{place}" for place in range(1, len(first) + 1)]
    names = [name_of_header(cell.strip()) if cell.strip() else f"column_{place}" for place, cell in enumerate(first, 1)]
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


def _read(lines: list[str], delimiter: str) -> tuple[bool, list[list[str]]]:
    """(whether quotes enclose cells, the first rows)."""
    quoted = delimiter != "\t" or any(_QUOTED_CELL.search(line.rstrip("\r")) for line in lines)
    rows = _sampled(lines, delimiter, quoted)
    if delimiter == "\t" and quoted and _agreement(rows) < 1:
        return False, _sampled(lines, delimiter, False)
    return quoted, rows


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


def _like_json(lines: list[str]) -> bool:
    """Whether most lines begin as JSON objects do."""
    return sum(line.lstrip().startswith("{") for line in lines) * 2 > len(lines)


def _names_columns(line: str) -> bool:
    """Whether a line has a word that names columns, or a declaration of cells."""
    return any(_is_known(cell) for cell in re.split(r"[\t,;|]", line.rstrip("\r")))


def _is_known(cell: str) -> bool:
    """Whether a cell is the name of a column: it says so, or is one of the usual words, perhaps among others."""
    if kind_of_header(cell.strip()) != "text":
        return True
    plain = cell.strip().strip(_QUOTES).strip(" ?!:.*").casefold()
    words = plain.split()
    return plain.replace(" ", "_") in _WORDS or (len(words) <= _MOST_WORDS and not _WORDS.isdisjoint(words))


def _is_header(rows: list[list[str]]) -> bool | None:
    """Whether the first row contains column names. None if it may as well be a row like the others."""
    if not rows:
        return False
    names = [name.strip() for name in rows[0]]
    if not any(names):
        return False
    if any(kind_of_header(name) != "text" for name in names):
        return True
    if any(map(_DATED.fullmatch, names)):
        return False
    if any(map(_is_known, names)):
        return True
    like_names = all(map(_NAME.fullmatch, names))
    if len(set(names)) < len(names):
        return like_names and not any(" " in name for name in names)
    columns = [[cells[place].strip() for cells in rows[1:] if len(cells) == len(names)] for place in range(len(names))]
    if any(column and all(map(_VALUE.fullmatch, column)) for column in columns):
        return True  # a column of values with a text above them
    if like_names:
        return True
    return _by_sight(names, columns)


def _by_sight(names: list[str], columns: Sequence[list[str]]) -> bool | None:
    """Compare a first row that may be anything with the texts below it."""
    if any(len(name) > _LONGEST_NAME or "\n" in name for name in names):
        # Long cells are texts, unless all cells below are much shorter.
        alike = [_typical(column) * 4 >= len(name) for name, column in zip(names, columns, strict=True) if column]
        return False if all(alike) else None
    counts = [len(name.split()) for name in names]
    if any(
        count >= _SENTENCE and column and _typical_words(column) >= _SENTENCE
        for count, column in zip(counts, columns, strict=True)
    ):
        return False  # a sentence above sentences
    if any(_END.search(name) and _mostly_end(column) for name, column in zip(names, columns, strict=True)):
        return None
    return True if max(counts) <= _MOST_WORDS else None


def _mostly_end(column: list[str]) -> bool:
    """Whether most cells end as sentences do."""
    return sum(_END.search(cell) is not None for cell in column) * 2 > len(column)


def _typical(column: list[str]) -> float:
    return statistics.median(map(len, column))


def _typical_words(column: list[str]) -> float:
    return statistics.median(len(cell.split()) for cell in column)
