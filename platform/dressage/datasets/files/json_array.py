"""Splits a JSON array into the texts of its elements, in bounded memory. The JSON parser reads the elements."""

import re
from collections.abc import Callable, Iterator
from typing import BinaryIO

from dressage.datasets.files.faults import FileFaultError
from dressage.datasets.limits import MAX_ROW_BYTES

_CHUNK = 1 << 16
_OUTSIDE = re.compile(rb'["\[\]{},]')
_INSIDE = re.compile(rb'["\\]')


def numbered_elements(
    file: BinaryIO, check_rest: Callable[[bytes], None] | None = None
) -> Iterator[tuple[int, bytes | None]]:
    """(position from 1, text of the element). The text is None if it is too long.

    Args:
        file: read to its end.
        check_rest: checks what follows the array; by default nothing may follow.

    Raises:
        FileFaultError: the array is not closed, or something follows it.
    """
    number, element, depth, string, skip = 0, _Element(), 1, False, 0
    _, opened, chunk = file.read(_CHUNK).partition(b"[")
    while chunk or opened:
        start, position, skip, opened = 0, skip, 0, b""
        while found := (_INSIDE if string else _OUTSIDE).search(chunk, position):
            sign, position = found.group(), found.end()
            if sign == b"\\":
                position += 1  # an escaped character never ends a string
                if position > len(chunk):
                    skip = 1
            elif sign == b'"':
                string = not string
            elif sign in b"[{":
                depth += 1
            elif depth > 1 and sign in b"]}":
                depth -= 1
            elif depth == 1 and sign in b",]":
                element.add(chunk[start : found.start()])
                start = position
                if sign == b"," or number or not element.blank:
                    number += 1
                    yield number, element.taken()
                if sign == b"]":
                    if check_rest is None:
                        _nothing_follows(chunk[position:], file)
                    else:
                        check_rest(_rest(chunk[position:], file))
                    return
        element.add(chunk[start:])
        chunk = file.read(_CHUNK)
    raise FileFaultError(f"The array is not closed: the file ends after {number:,} whole rows. It may be cut off.")


class _Element:
    """The text of the current element. If it is too long, only that fact is kept."""

    def __init__(self) -> None:
        self._text = bytearray()
        self._long = False

    def add(self, text: bytes) -> None:
        self._long = self._long or len(self._text) + len(text) > MAX_ROW_BYTES
        if self._long:
            self._text.clear()
        else:
            self._text += text

    @property
    def blank(self) -> bool:
        return not self._long and not self._text.strip()

    def taken(self) -> bytes | None:
        text = None if self._long else bytes(self._text).strip()
        self._text.clear()
        self._long = False
        return text


def _nothing_follows(rest: bytes, file: BinaryIO) -> None:
    while not rest.strip() and (rest := file.read(_CHUNK)):
        pass
    if rest.strip():
        raise FileFaultError("There is more behind the end of the array.")


def _rest(begun: bytes, file: BinaryIO) -> bytes:
    rest = begun + file.read(MAX_ROW_BYTES + 1)
    if len(rest) > MAX_ROW_BYTES:
        raise FileFaultError(f"There are more than {MAX_ROW_BYTES:,} bytes behind the list of rows.")
    return rest
