"""Cuts JSON lines into lines, in bounded memory."""

import codecs
from collections.abc import Iterator
from typing import BinaryIO

from dressage.datasets.limits import MAX_ROW_BYTES


def numbered_lines(file: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """(line number from 1, its bytes without the line end). None stands for a line that is too long.

    Blank lines are left out.
    """
    number = 0
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
