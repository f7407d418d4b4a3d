"""The first rows of a file of which possibly only the beginning is available."""

import io
import tempfile
import zlib
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

import pyarrow as pa

from dressage.common.api.problems import Problem
from dressage.common.lengthy import FILES
from dressage.datasets.files.faults import FileFaultError
from dressage.datasets.files.formats import Format, open_format
from dressage.datasets.files.packing import Packing, packing_of, unpacked
from dressage.datasets.files.records import Record

EXAMINED = 200
"""Number of rows that a preview examines."""
_TEXT = 8 << 20
"""Maximum total length of these rows, in characters."""
_UNPACKED, _PIECE = 4 << 20, 1 << 10
_MAGIC_BYTES = 512
MAX_COPY_BYTES = 1 << 30
"""Maximum unpacked size of a packed file that must be unpacked completely for a preview. Uploads accept more."""
_PARQUET = b"PAR1"
_INDEXED = (_PARQUET, b"PK\x03\x04", b"PK\x05\x06")
"""Magic numbers of formats with an index at the end of the file."""


@dataclass(frozen=True, slots=True)
class Head:
    """What the beginning of a file contains, and its first rows."""

    format: Format
    packing: Packing | None
    records: list[Record]
    whole: bool
    """Whether these are all rows of the file."""


def read_head(team_id: str, file: BinaryIO, name: str, *, whole: bool) -> Head:
    """Read the first rows.

    Packed Parquet files and archives are unpacked to disk first, in one of the slots for lengthy requests.

    Args:
        team_id: team that makes the request.
        file: the file or its beginning, seekable.
        name: its name.
        whole: whether it is the whole file; otherwise it may end within a row or within a packed stream.

    Raises:
        FileFaultError: the file cannot be read, or too much would have to be unpacked.
        Problem: 422 if the beginning is not enough; 429 or 503 if no slot is free.
    """
    packing = packing_of(file)
    start = unpacked(file, packing).read(_MAGIC_BYTES) if whole and packing is not None else b""
    if packing is not None and _is_indexed(start):
        with FILES.place(team_id):
            if not start.startswith(_PARQUET):
                return _head_of(file, name, packing, whole=True)  # an archive, which has its own limit
            with _copy(file, packing) as copy:
                return _head_of(copy, name, packing, whole=True)
    source = file if whole or packing is None else _unpacked_head(file, packing)
    if not whole:
        _require_readable(source)
    return _head_of(source, name, packing, whole=whole)


def _head_of(source: BinaryIO, name: str, packing: Packing | None, *, whole: bool) -> Head:
    format = open_format(source, name)
    records: list[Record] = []
    size = 0
    ended = True
    try:
        for record in format.records():
            records.append(record)
            size += _size(record.value) if isinstance(record.value, dict) else 0
            if len(records) >= EXAMINED or size > _TEXT:
                ended = False
                break
    except FileFaultError:
        if whole or not records:
            raise
    if ended and not whole and len(records) > 1:
        records.pop()  # may be cut off and still look complete
    return Head(format, packing, records, ended and whole)


def _unpacked_head(file: BinaryIO, packing: Packing) -> BinaryIO:
    """The part of a truncated stream that can be unpacked."""
    made = b""
    if packing == "gzip":
        stream = zlib.decompressobj(wbits=31)
        try:
            made = stream.decompress(file.read(_UNPACKED), _UNPACKED)
        except zlib.error as error:
            raise FileFaultError(f"The file cannot be unpacked: {error}.") from error
    else:
        pieces: list[bytes] = []
        try:
            stream = pa.CompressedInputStream(pa.PythonFile(io.BytesIO(file.read(_UNPACKED)), "r"), "zstd")
            # A read that hits the end loses its data, so small reads lose little.
            while len(pieces) * _PIECE < _UNPACKED and (piece := stream.read(_PIECE)):
                pieces.append(piece)
        except OSError as error:
            if not pieces:
                raise FileFaultError(f"The file cannot be unpacked: {str(error).rstrip('.')}.") from error
        made = b"".join(pieces)
    return cast(BinaryIO, io.BytesIO(made))


def _copy(file: BinaryIO, packing: Packing) -> BinaryIO:
    """The whole file, unpacked to disk up to the limit of a preview."""
    plain = unpacked(file, packing)
    copy = cast(BinaryIO, tempfile.TemporaryFile(prefix="dataset-"))  # noqa: SIM115 - its reader's
    try:
        while data := plain.read(1 << 20):
            if copy.tell() + len(data) > MAX_COPY_BYTES:
                raise FileFaultError(
                    f"The file unpacks to more than {MAX_COPY_BYTES:,} bytes, too many for a preview. "
                    "Upload it without one."
                )
            copy.write(data)
    except BaseException:
        copy.close()
        raise
    copy.seek(0)
    return copy


def _is_indexed(start: bytes) -> bool:
    """Whether a file with this beginning must be read from or up to its end before any row is known."""
    return start.startswith(_INDEXED) or start[257:262] == b"ustar"


def _require_readable(file: BinaryIO) -> None:
    start = file.read(_MAGIC_BYTES)
    file.seek(0)
    if _is_indexed(start):
        what = "A Parquet file" if start.startswith(_PARQUET) else "An archive"
        raise Problem(
            422,
            "The whole file is needed",
            f"{what} cannot be previewed by its beginning: send the whole file, with `whole` true.",
            code="whole_file_needed",
        )


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(len(key) + _size(inner) for key, inner in value.items())
    return sum(map(_size, value)) if isinstance(value, list) else 8
