"""Splits JSON lines files into lines, in bounded memory."""

import codecs
from collections.abc import Iterator
from typing import BinaryIO

from dressage.datasets.files.faults import FileFaultError
from dressage.datasets.limits import MAX_BLANK_LINES, MAX_ROW_BYTES


class LineCounter:
    """Counts the lines of a file read so far, possibly in several parts."""

    def __init__(self) -> None:
        self.number = self.blank = 0


def numbered_lines(file: BinaryIO, counter: LineCounter | None = None) -> Iterator[tuple[int, bytes | None]]:
    """(line number from 1, bytes without the line end). The bytes are None if the line is too long.

    Blank lines are skipped.

    Raises:
        FileFaultError: there are too many blank lines for a real file.
    """
    counter = counter or LineCounter()
    while line := file.readline(MAX_ROW_BYTES + 2):
        counter.number += 1
        if counter.number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        text = line.rstrip(b"\r\n")
        if len(text) > MAX_ROW_BYTES:
            while line and not line.endswith(b"\n"):
                line = file.readline(MAX_ROW_BYTES)
            yield counter.number, None
        elif text.strip():
            yield counter.number, text
        else:
            counter.blank += 1
            if counter.blank > MAX_BLANK_LINES:
                raise FileFaultError(f"The file has more than {MAX_BLANK_LINES:,} empty lines.")
