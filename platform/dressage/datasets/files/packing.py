"""Unpacks uploaded files: gzip or Zstandard, and UTF-16 text as UTF-8.

Unpacked bytes are counted: a small file that unpacks to a huge one is refused while it is read.
"""

import codecs
import gzip
import io
import tempfile
import zlib
from collections.abc import Callable
from typing import BinaryIO, Literal, cast

import pyarrow as pa

from dressage.datasets.files.faults import FileFaultError
from dressage.datasets.limits import MAX_EXPANSION, MAX_FILE_BYTES

Packing = Literal["gzip", "zstd"]
_MAGIC: dict[bytes, Packing] = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_ALWAYS = 64 << 20
"""Unpacked size below which the compression ratio is not checked."""
_CHUNK = 1 << 16
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UTF32 = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)


def packing_of(file: BinaryIO) -> Packing | None:
    """Packing of a seekable file."""
    file.seek(0)
    head = file.read(4)
    file.seek(0)
    return next((packing for magic, packing in _MAGIC.items() if head.startswith(magic)), None)


def unpacked(file: BinaryIO, packing: Packing | None) -> BinaryIO:
    """The content of a seekable file, from its beginning. Can be read only once if the file is packed."""
    file.seek(0)
    if packing is None:
        return file
    return cast(BinaryIO, io.BufferedReader(_Unpacked(file, packing), _CHUNK))


def as_utf8(file: BinaryIO, head: bytes) -> BinaryIO | None:
    """The text of a UTF-16 file as UTF-8; None for all other files.

    Raises:
        FileFaultError: the text is in UTF-32.
    """
    if head.startswith(_UTF32):
        raise FileFaultError("This is text in UTF-32. Save it as UTF-8 and upload it again.")
    if not head.startswith(_UTF16):
        return None
    return cast(BinaryIO, io.BufferedReader(_Recoded(file), _CHUNK))


def seekable_copy(file: BinaryIO, limit: int) -> BinaryIO:
    """An anonymous copy on disk of a stream that can be read only once.

    Raises:
        FileFaultError: the content is larger than ``limit`` bytes.
    """
    copy = cast(BinaryIO, tempfile.TemporaryFile(prefix="dataset-"))  # noqa: SIM115 - its reader's
    left = limit
    while data := file.read(1 << 20):
        left -= len(data)
        if left < 0:
            copy.close()
            raise FileFaultError(f"The file unpacks to more than {limit:,} bytes.")
        copy.write(data)
    copy.seek(0)
    return copy


class _Unpacked(io.RawIOBase):
    """The content of a packed file. It may not be larger than a plain file."""

    def __init__(self, file: BinaryIO, packing: Packing) -> None:
        self._packed = file
        self._read = _reader(file, packing)
        self._count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview | bytearray") -> int:  # type: ignore[override]
        try:
            data = self._read(len(buffer))
        except (gzip.BadGzipFile, EOFError, zlib.error, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # a disk error, not a fault of the content
            raise FileFaultError(f"The file cannot be unpacked: {str(error).rstrip('.')}.") from error
        self._count += len(data)
        if self._count > MAX_FILE_BYTES:
            raise FileFaultError(f"The file unpacks to more than {MAX_FILE_BYTES:,} bytes.")
        if self._count > _ALWAYS and self._count > MAX_EXPANSION * self._packed.tell():
            raise FileFaultError(
                f"The file unpacks to more than {MAX_EXPANSION:,} times its size, as no data set does. "
                "Upload it unpacked if it is one."
            )
        buffer[: len(data)] = data
        return len(data)


def _reader(file: BinaryIO, packing: Packing) -> Callable[[int], bytes]:
    if packing == "gzip":
        return gzip.GzipFile(fileobj=file).read1
    return pa.CompressedInputStream(pa.PythonFile(_Kept(file), "r"), "zstd").read


class _Kept:
    """A file that stays open when its reader is garbage-collected."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self.read = file.read

    def close(self) -> None:
        """Does nothing: the owner closes the file."""


class _Recoded(io.RawIOBase):
    """Text in UTF-16 as UTF-8."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-16")()
        self._rest = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview | bytearray") -> int:  # type: ignore[override]
        while not self._rest and not self._ended:
            data = self._file.read(_CHUNK)
            self._ended = not data
            try:
                self._rest = self._decoder.decode(data, final=self._ended).encode()
            except UnicodeError as error:
                raise FileFaultError(f"The file begins as UTF-16 and is not: {error.args[-1]}.") from error
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size
