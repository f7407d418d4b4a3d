"""Blocks of JSON lines, cut at line ends, read in bounded memory."""

import io
from collections.abc import Iterator, Sequence
from typing import BinaryIO, cast

import msgspec

from dressage.datasets.files.columnar.source import RowBlock, SourceRows, alike
from dressage.datasets.files.json_rows import records
from dressage.datasets.files.jsonl import LineCounter, numbered_lines
from dressage.datasets.files.records import Records
from dressage.datasets.limits import MAX_ROW_BYTES

_READ_BYTES = 1 << 19
_SMALL = 1 << 15
"""Size in bytes below which a block is not halved."""
_SPECIAL = (b"\\u0022", b"\\u0000")
"""Escapes of characters that are searched for in the text: quotes, which are counted, and NUL, which is refused."""
_decode = msgspec.json.Decoder().decode_lines
_encode = msgspec.json.Encoder().encode_lines


def line_blocks(file: BinaryIO) -> Iterator[RowBlock]:
    """Split a file into blocks of lines."""
    counter, rest = LineCounter(), b""
    for data in _stretches(file):
        chunk = rest + data
        end = chunk.rfind(b"\n") + 1 if data else len(chunk)
        if end:
            rest = chunk[end:]
            yield LineBlock(chunk[:end], counter)
        elif data and len(chunk) > 2 * MAX_ROW_BYTES:
            # No line end for a long time: the rest of the line is read and discarded.
            opened = _Continued(chunk, file)
            yield _Line(opened, counter)
            rest = opened.rest
        else:
            rest = chunk


def _stretches(file: BinaryIO) -> Iterator[bytes]:
    """The bytes of a file, with an empty item at its end. Data before a fault is yielded before the fault is raised."""
    read = getattr(file, "read1", file.read)
    fault: Exception | None = None
    ended = False
    while not ended:
        pieces: list[bytes] = []
        size = 0
        while size < _READ_BYTES:
            try:
                data = read(_READ_BYTES - size)
            except Exception as error:
                fault = error
                break
            ended = not data
            if ended:
                break
            pieces.append(data)
            size += len(data)
        if pieces:
            yield b"".join(pieces)
        if fault is not None:
            raise fault
    yield b""


class LineBlock:
    """A block of complete lines."""

    def __init__(self, data: bytes, counter: LineCounter) -> None:
        self._data, self._counter, self._lines = data, counter, 0

    def source(self) -> SourceRows | None:
        """The rows; None unless each line is one object without duplicate keys and with nothing irregular in it."""
        data = self._data
        if len(data) > MAX_ROW_BYTES or data[:1] != b"{":
            return None
        if b"\\u" in data and any(escape in data for escape in _SPECIAL):
            return None
        try:
            rows = _decode(data)
        except (ValueError, RecursionError, msgspec.MsgspecError):
            return None
        if not _one_a_line(data, len(rows)) or set(map(type, rows)) != {dict}:
            return None
        # The parser keeps one of two equal keys, and therefore fewer quotes.
        if data.count(b'"') != _encode(rows).count(b'"'):
            return None
        self._lines = len(rows)
        return alike(rows)

    def taken(self) -> None:
        """Count the lines."""
        self._counter.number += self._lines

    def records(self) -> Records:
        """Yield the rows line by line."""
        return records(numbered_lines(cast(BinaryIO, io.BytesIO(self._data)), self._counter), "line")

    def halves(self) -> Sequence[RowBlock]:
        """The two halves, cut at a line end."""
        if len(self._data) < _SMALL:
            return ()
        middle = self._data.find(b"\n", len(self._data) // 2) + 1
        if middle in (0, len(self._data)):
            return ()
        return LineBlock(self._data[:middle], self._counter), LineBlock(self._data[middle:], self._counter)


def _one_a_line(data: bytes, count: int) -> bool:
    """Whether each of the ``count`` objects is on its own line.

    Inside an object, an opening brace never follows directly after a closing brace. If every line ends with a
    closing brace and the next begins with an opening one, no object spans lines, and no line has two.
    """
    end = b"}\r\n{" if data.find(b"\r\n") >= 0 else b"}\n{"
    whole = data.removesuffix(b"\n").removesuffix(b"\r")
    return whole.endswith(b"}") and whole.count(end) == count - 1 == whole.count(b"\n")


class _Line:
    """A line whose end has not been found yet."""

    def __init__(self, file: "_Continued", counter: LineCounter) -> None:
        self._file, self._counter = file, counter

    def source(self) -> SourceRows | None:
        return None

    def taken(self) -> None:
        """Does nothing: no block is ever taken from it."""

    def records(self) -> Records:
        """The line, and the part of the file that was read after it."""
        lines = numbered_lines(cast(BinaryIO, self._file), self._counter)
        while self._file.rest and (line := next(lines, None)) is not None:
            yield from records([line], "line")

    def halves(self) -> Sequence[RowBlock]:
        return ()


class _Continued:
    """A file whose next bytes have already been read."""

    def __init__(self, begun: bytes, file: BinaryIO) -> None:
        self.rest, self._file = begun, file

    def readline(self, limit: int) -> bytes:
        """The next line, or its next ``limit`` bytes."""
        end = self.rest.find(b"\n", 0, limit) + 1 or min(limit, len(self.rest))
        line, self.rest = self.rest[:end], self.rest[end:]
        if line.endswith(b"\n") or len(line) == limit:
            return line
        return line + self._file.readline(limit - len(line))
