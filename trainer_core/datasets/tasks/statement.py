"""Converts problem statements from HTML to text, in time linear in their length."""

import html
import re
from collections.abc import Iterator

_SKIPPED = {"head", "noscript", "title"}
_RAW = {"script", "style"}
"""Elements whose content is neither markup nor text for readers."""
_BREAKS = {"p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "pre", "ul", "ol", "table"}
_TAG = re.compile(r"</?([a-zA-Z][a-zA-Z0-9:-]{0,63}+)(?=[\s/>])")
_STOP = re.compile(r"[>\"']")
_HUGE = re.compile(r"&#[0-9]{8,};?|&#[xX][0-9a-fA-F]{8,};?")
"""References to nonexistent characters, whose numbers would take long to parse."""


def plain_text(page: str) -> str:
    """The text of an HTML page, with line breaks at the ends of blocks. Formulas stay as they are."""
    parts: list[str] = []
    skipped = preformatted = 0
    for tag, opens, text in _pieces(page):
        if not tag:
            if not skipped:
                data = html.unescape(_HUGE.sub("\ufffd", text))
                parts.append(data if preformatted else re.sub(r"\s+", " ", data))
            continue
        if tag == "body":
            skipped = 0
        if tag in _SKIPPED:
            skipped = max(0, skipped + (1 if opens else -1))
        if tag == "pre":
            preformatted = max(0, preformatted + (1 if opens else -1))
        if tag in _BREAKS:
            parts.append("\n")
        if opens and tag in ("sup", "li"):
            parts.append("^" if tag == "sup" else "- ")
    lines = [line.rstrip() for line in "".join(parts).split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _pieces(page: str) -> Iterator[tuple[str, bool, str]]:
    """(tag in lower case, whether it opens, "") and ("", False, text) in order; comments are left out."""
    begin = place = 0
    never: set[str] = set()
    while (start := page.find("<", place)) >= 0:
        found = _TAG.match(page, start)
        if found is None and page[start + 1 : start + 2] not in ("!", "?"):
            place = start + 1  # a plain character, as in 1 < 2
            continue
        end = _tag_end(page, found.end(), never) if found else _comment_end(page, start, never)
        if end is None:
            place = start + 1
            continue
        if begin < start:
            yield "", False, page[begin:start]
        begin = place = end
        if found is None:
            continue
        tag, opens = found[1].lower(), page[start + 1] != "/"
        if tag in _RAW:
            closed = re.compile(f"</{tag}", re.IGNORECASE).search(page, end) if opens else None
            begin = place = closed.start() if closed else len(page) if opens else end
            continue
        yield tag, opens, ""
    if begin < len(page):
        yield "", False, page[begin:]


def _comment_end(page: str, start: int, never: set[str]) -> int | None:
    """End of a comment or declaration; None if it is not closed."""
    mark = "-->" if page.startswith("<!--", start) else ">"
    end = _find(page, mark, start + 2, never)
    return None if end < 0 else end + len(mark)


def _tag_end(page: str, place: int, never: set[str]) -> int | None:
    """End of a tag, whose quoted values may hold any character; None if it is not closed."""
    while ">" not in never and (stop := _STOP.search(page, place)):
        sign, place = stop.group(), stop.end()
        if sign == ">":
            return place
        closing = _find(page, sign, place, never)
        if closing >= 0:
            place = closing + 1
    never.add(">")
    return None


def _find(page: str, mark: str, place: int, never: set[str]) -> int:
    """Position of the next mark, -1 if there is none. A mark that was not found once is not searched again."""
    found = -1 if mark in never else page.find(mark, place)
    if found < 0:
        never.add(mark)
    return found
