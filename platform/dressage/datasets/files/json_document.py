"""JSON documents that are one object: either its only list contains the rows, or the object is the only row."""

import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from dressage.datasets.files.faults import FileFaultError
from dressage.datasets.files.json_array import numbered_elements
from dressage.datasets.limits import MAX_ROW_BYTES

# An unclosed string is a token, too, so that no search starts inside it.
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
_WRAPPERS = {
    "data", "dataset", "entries", "examples", "instances", "items", "problems", "questions", "records", "rows",
    "samples", "tasks", "test", "train", "validation",
}  # fmt: skip
"""Common names for lists of rows in objects. Another name is accepted only if no text precedes the list."""
_ROW_KEYS = {"prompt", "messages", "question", "problem", "instruction_id_list", "reward_model", "sub_tasks"}
"""Keys of rows: an object that has one of them is a row, whatever lists it contains."""


def is_document(head: bytes, whole: bool) -> bool:
    """Whether text that begins with ``{`` is one object on several lines, or an object that wraps a list.

    Args:
        head: the file's beginning.
        whole: whether it is the whole file.
    """
    first, end, rest = head.strip().partition(b"\n")
    if not end:
        return list_position(head, whole) is not None
    try:
        json.loads(first)
        return False  # JSON lines
    except (ValueError, RecursionError):
        # Broken JSON lines have rows on their other lines; documents have members there.
        lines = [line.strip() for line in rest.splitlines() if line.strip()]
        if any(line.startswith(b"{") and line.endswith(b"}") for line in lines[:20]):
            return list_position(head, whole) is not None
        return True


def list_position(head: bytes, whole: bool) -> int | None:
    """Position of the list of objects that the object wraps. None if its beginning shows that it is a row."""
    if whole and _is_row(head):
        return None
    depth, key, told = 0, "", False
    for found in _TOKEN.finditer(head):
        token, after = found.group(), head[found.end() :].lstrip()
        if token == b"[" and depth == 1 and after.startswith(b"{"):
            wraps = key in _WRAPPERS or (not told and not (whole and _says_more(head, key)))
            return found.start() if wraps and not _is_turn(after) else None
        if token in (b"[", b"{"):
            depth += 1
        elif token in (b"]", b"}"):
            depth -= 1
            if depth == 0:
                return None
        elif depth == 1:
            if after.startswith(b":"):
                key = token[1:-1].decode(errors="replace")
                if key in _ROW_KEYS:
                    return None
            else:
                told = True
    return None


def _is_row(text: bytes) -> bool:
    """Whether a whole object has a key of rows, wherever it is."""
    return not _ROW_KEYS.isdisjoint(_parsed(text))


def _parsed(text: bytes) -> dict[str, Any]:
    """The members of an object; none if the text is no object."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _says_more(text: bytes, key: str) -> bool:
    """Whether there is text next to a list, so that together they may be a row."""
    document = _parsed(text)
    return any(isinstance(value, str) for name, value in document.items() if name != key)


def _is_turn(text: bytes) -> bool:
    """Whether a list begins with a message of a chat."""
    return re.match(rb'\s*\{\s*"(role|from|content)"\s*:', text) is not None


def numbered_rows(file: BinaryIO, position: int | None) -> Iterator[tuple[int, bytes | None]]:
    """Yield the rows of the list at ``position``, or the whole object as the only row.

    Raises:
        FileFaultError: the text around the list is not an object, or contains another list of objects.
    """
    if position is None:
        text = file.read(MAX_ROW_BYTES + 1)
        yield 1, None if len(text) > MAX_ROW_BYTES else text.strip()
        return
    before = file.read(position)
    yield from numbered_elements(file, lambda rest: _check_around(before, rest))


def _check_around(before: bytes, after: bytes) -> None:
    try:
        document: dict[str, Any] = json.loads(before + b"null" + after)
    except (ValueError, RecursionError) as error:
        raise FileFaultError(
            "The object around the list of rows is not valid JSON. Upload the list itself, or JSON lines."
        ) from error
    others = [
        f"`{name[:60]}`"
        for name, value in document.items()
        if isinstance(value, list) and value and isinstance(value[0], dict)
    ]
    if others:
        raise FileFaultError(
            f"The object holds several lists of rows, {', '.join(others)} among them. Upload each as a file of its own."
        )
