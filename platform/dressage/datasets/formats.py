"""Formats of uploaded files, known by their content: JSON lines or a JSON array, either packed with gzip.

Each is read as numbered pieces of at most one row, in bounded memory.
"""

import codecs
import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Literal, cast

from dressage.datasets import jsonl
from dressage.datasets.faults import FileFaultError
from dressage.datasets.json_array import numbered_elements
from dressage.datasets.limits import MAX_FILE_BYTES

Pieces = Iterator[tuple[int, bytes | None]]
"""(number from 1, the bytes of one row, or None where they are too many)."""
TAKEN = "JSON lines and a JSON array of objects are taken, plain or packed with gzip."
_GZIP = b"\x1f\x8b"
_HEAD = 4096
_FOREIGN = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"PK\x03\x04": "a ZIP archive or a spreadsheet",
    b"\x28\xb5\x2f\xfd": "packed with Zstandard",
    b"BZh": "packed with bzip2",
    b"\xfd7zXZ": "packed with xz",
    b"\xff\xfe": "text in UTF-16",
    b"\xfe\xff": "text in UTF-16",
    b"version https://git-lfs": "a pointer of Git LFS, not the file that it stands for",
}


@dataclass(frozen=True, slots=True)
class Format:
    """Format of a file, and its rows."""

    name: Literal["jsonl", "json"]
    packed: bool
    """Whether it came packed with gzip."""
    unit: Literal["line", "row"]
    """What the numbers of its pieces count."""
    pieces: Callable[[], Pieces]


def open_format(file: BinaryIO) -> Format:
    """The format of a seekable file, from its beginning on.

    Raises:
        FileFaultError: it is in a format that is not taken, or cannot be unpacked.
    """
    file.seek(0)
    packed = file.read(2) == _GZIP
    file.seek(0)
    plain = cast(BinaryIO, io.BufferedReader(_Unpacked(file), 1 << 16)) if packed else file
    head = plain.read(_HEAD)
    for magic, what in _FOREIGN.items():
        if head.startswith(magic):
            raise FileFaultError(f"This is {what}. {TAKEN}")
    file.seek(0)
    plain = cast(BinaryIO, io.BufferedReader(_Unpacked(file), 1 << 16)) if packed else file
    if head.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"["):
        return Format("json", packed, "row", lambda: numbered_elements(plain))
    return Format("jsonl", packed, "line", lambda: jsonl.numbered_lines(plain))


class _Unpacked(io.RawIOBase):
    """The content of a gzip file, which may not be larger than a plain file may be."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = gzip.GzipFile(fileobj=file)
        self._left = MAX_FILE_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview | bytearray") -> int:  # type: ignore[override]
        try:
            data = self._file.read1(len(buffer))
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise FileFaultError(f"The file cannot be unpacked: {str(error).rstrip('.')}.") from error
        self._left -= len(data)
        if self._left < 0:
            raise FileFaultError(f"The file unpacks to more than {MAX_FILE_BYTES:,} bytes.")
        buffer[: len(data)] = data
        return len(data)
