"""Formats of uploaded files, detected by content: JSON lines, JSON, CSV, TSV, Parquet, and task archives.

Each may be plain or packed with gzip or Zstandard, and text may be UTF-8 or UTF-16. All are read in bounded memory.
"""

import codecs
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Literal

from dressage.datasets.files import delimited, json_document, json_rows, parquet
from dressage.datasets.files.archives import TaskArchive
from dressage.datasets.files.columnar.lines import line_blocks
from dressage.datasets.files.columnar.source import RowBlock, single
from dressage.datasets.files.faults import FileFaultError
from dressage.datasets.files.json_array import numbered_elements
from dressage.datasets.files.packing import Packing, as_utf8, packing_of, seekable_copy, unpacked
from dressage.datasets.files.records import Records
from dressage.datasets.limits import MAX_ARCHIVE_BYTES, MAX_FILE_BYTES

FormatName = Literal["jsonl", "json", "csv", "tsv", "parquet", "kattis", "harbor"]
TAKEN = (
    "Taken are JSON lines, JSON, CSV, TSV and Parquet, plain or packed with gzip or Zstandard, and ZIP or TAR archives "
    "of tasks."
)
_HEAD = 1 << 16
_PARQUET = b"PAR1"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_TAR_AT, _TAR = 257, b"ustar"
_FOREIGN = {
    b"\x1f\x8b": "a file that is packed twice",
    b"\x28\xb5\x2f\xfd": "a file that is packed twice",
    b"PARE": "an encrypted Parquet file",
    b"ARROW1": "an Arrow file",
    b"ORC": "an ORC file",
    b"Obj\x01": "an Avro file",
    b"SQLite format 3": "an SQLite database",
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "an array of NumPy",
    b"\x80\x02": "a pickle",
    b"\x80\x03": "a pickle",
    b"\x80\x04": "a pickle",
    b"\x80\x05": "a pickle",
    b"\xd0\xcf\x11\xe0": "a spreadsheet or document of old Office",
    b"BZh": "packed with bzip2",
    b"\xfd7zXZ": "packed with xz",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"Rar!": "a RAR archive",
    b"%PDF": "a PDF document",
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
    b"GIF8": "an image",
    b"\x7fELF": "a program",
    b"version https://git-lfs": "a pointer of Git LFS, not the file that it stands for: run `git lfs pull`",
}
_PAGES = (b"<!doctype html", b"<html")


@dataclass(frozen=True, slots=True)
class Format:
    """Format of a file, with its rows."""

    name: FormatName
    packing: Packing | None
    """Packing of the file."""
    unit: Literal["line", "row"]
    """What its row numbers count."""
    blocks: Callable[[], Iterator[RowBlock]]
    """Its rows in blocks. Can be read only once."""

    def records(self) -> Records:
        """Its rows one by one. Can be read only once."""
        for block in self.blocks():
            yield from block.records()

    @property
    def packed(self) -> bool:
        """Whether the file is packed."""
        return self.packing is not None


def open_format(file: BinaryIO, file_name: str = "") -> Format:
    """Detect the format of a seekable file from its beginning.

    Raises:
        FileFaultError: the format is not accepted, or the file cannot be unpacked.
    """
    packing = packing_of(file)
    head = _head(unpacked(file, packing))
    _refuse_foreign(head)
    if head.startswith(_PARQUET):
        plain = _seekable(file, packing, MAX_FILE_BYTES)
        return Format("parquet", packing, "row", lambda: parquet.blocks(plain))
    kind: Literal["zip", "tar"] | None = "zip" if head.startswith(_ZIP) else None
    if head[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR:
        kind = "tar"
    if kind is not None:
        archive = TaskArchive(_seekable(file, packing, MAX_ARCHIVE_BYTES), kind)
        return Format(archive.format.name, packing, "row", lambda: single(archive.records))
    return _text_format(file, packing, head, file_name)


def is_plain_text(file: BinaryIO) -> bool:
    """Whether a seekable file is neither packed, an archive, nor Parquet, so that its content is not larger."""
    packed = packing_of(file) is not None
    head = file.read(_TAR_AT + len(_TAR))
    file.seek(0)
    return not packed and not head.startswith((_PARQUET, *_ZIP)) and head[_TAR_AT:] != _TAR


def _text_format(file: BinaryIO, packing: Packing | None, head: bytes, file_name: str) -> Format:
    marks = head[:4]

    def text() -> BinaryIO:
        plain = unpacked(file, packing)
        return as_utf8(plain, marks) or plain

    if as_utf8(file, marks) is not None:
        head = _head(text())
    elif head[1:64:2].count(0) > 8 or head[:64:2].count(0) > 8:
        raise FileFaultError(f"This looks like binary data, or text in UTF-16 without its mark. {TAKEN}")
    plain, whole = text(), len(head) < _HEAD
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if start.startswith(b"["):
        return Format(
            "json", packing, "row", lambda: single(lambda: json_rows.records(numbered_elements(plain), "row"))
        )
    if start.startswith(b"{") and json_document.is_document(start, whole):
        position = json_document.list_position(start, whole)
        plain.read(len(head) - len(start))
        pieces = json_document.numbered_rows(plain, position)
        return Format("json", packing, "row", lambda: single(lambda: json_rows.records(pieces, "row")))
    if not start.startswith(b"{") and b"\r" in start.rstrip() and b"\n" not in start:
        raise FileFaultError(
            "The lines end as those of old Macs did (CR alone). Save the file with line ends of today."
        )
    if not start.startswith(b"{") and (dialect := delimited.sniff(head, whole=whole, file_name=file_name)):
        return Format(dialect.name, packing, "line", lambda: single(lambda: delimited.records(plain, dialect)))
    return Format("jsonl", packing, "line", lambda: line_blocks(plain))


def _head(file: BinaryIO) -> bytes:
    return file.read(_HEAD)


def _seekable(file: BinaryIO, packing: Packing | None, limit: int) -> BinaryIO:
    plain = unpacked(file, packing)
    return plain if packing is None else seekable_copy(plain, limit)


def _refuse_foreign(head: bytes) -> None:
    for magic, what in _FOREIGN.items():
        if head.startswith(magic):
            raise FileFaultError(f"This is {what}. {TAKEN}")
    if head.lstrip()[:20].lower().startswith(_PAGES):
        raise FileFaultError(f"This is a web page, perhaps the one on which the file is offered. {TAKEN}")
