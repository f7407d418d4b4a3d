"""Finds the final answer in a text. Linear time, whatever the text."""

import re

from trainer_core.rewards.graders.numeric import NUMBER

_BOX = re.compile(r"\\(?:boxed|fbox)\s*")
_MAX_TEXT = 400_000


def boxed(text: str) -> list[str]:
    """Contents of every closed ``\\boxed{…}`` outside other boxes, in order. ``\\boxed 5`` counts too."""
    text = text[-_MAX_TEXT:]
    found, position = [], 0
    while match := _BOX.search(text, position):
        position = match.end()
        if position < len(text) and text[position] == "{":
            end = _closing(text, position)
            if end < 0:
                break  # never closed: no later box is outside of it
            found.append(text[position + 1 : end].strip())
            position = end + 1
        elif word := re.compile(r"[^\s{}$\\]+").match(text, position):
            found.append(word.group())
    return found


def last_number_text(text: str) -> str | None:
    """The last number as it stands in ``text``."""
    last = None
    for match in NUMBER.finditer(text[-_MAX_TEXT:]):
        last = match
    return None if last is None else last.group()


def tagged(text: str, start: str, end: str) -> str | None:
    """Text between the last pair of tags."""
    before, opened, rest = text.rpartition(start)
    inner, closed, _ = rest.partition(end)
    if opened and not closed:  # the last one was never closed: the pair before it counts
        return tagged_once(before, start, end)
    return inner.strip() if opened else None


def tagged_once(text: str, start: str, end: str) -> str | None:
    """Text between the last closing tag and the opening tag before it."""
    before, closed, _ = text.rpartition(end)
    _, opened, inner = before.rpartition(start)
    return inner.strip() if opened and closed else None


def _closing(text: str, opening: int) -> int:
    depth, position = 0, opening
    while position < len(text):
        sign = text[position]
        if sign == "\\":
            position += 2
            continue
        depth += (sign == "{") - (sign == "}")
        if depth == 0:
            return position
        position += 1
    return -1
