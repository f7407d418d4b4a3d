"""Cuts JSON lines into lines, in bounded memory."""

import codecs
from collections.abc import Iterator
from typing import BinaryIO

from dressage.datasets.faults import FileFaultError
from dressage.datasets.limits import MAX_BLANK_LINES, MAX_ROW_BYTES


def numbered_lines(file: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """(line number from 1, its bytes without the line end). None stands for a line that is too long.

    Blank lines are left out.

    Raises:
        FileFaultError: there are so many of those that the file is nothing else.
    """
    number = blank = 0
    while line := file.readline(MAX_ROW_BYTES + 2):
        number += 1
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        text = line.rstrip(b"\r\n")
        if len(text) > MAX_ROW_BYTES:
            while line and not line.endswith(b"\n"):
                line = file.readline(MAX_ROW_BYTES)
            yield number, None
        elif text.strip():
            yield number, text
        elif (blank := blank + 1) > MAX_BLANK_LINES:
            raise FileFaultError(f"The file has more than {MAX_BLANK_LINES:,} empty lines.")
