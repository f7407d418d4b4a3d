"""Statements of problems that are written in HTML, as text."""

import re
from html.parser import HTMLParser

_SKIPPED = {"script", "style", "head", "noscript", "title"}
_BREAKS = {"p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "pre", "ul", "ol", "table"}


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._skipped = 0
        self._preformatted = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._skipped += tag in _SKIPPED
        self._preformatted += tag == "pre"
        if tag in _BREAKS:
            self.parts.append("\n")
        if tag == "sup":
            self.parts.append("^")
        if tag == "li":
            self.parts.append("- ")

    def handle_endtag(self, tag: str) -> None:
        self._skipped -= tag in _SKIPPED and self._skipped > 0
        self._preformatted -= tag == "pre" and self._preformatted > 0
        if tag in _BREAKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self.parts.append(data if self._preformatted else re.sub(r"\s+", " ", data))


def plain_text(page: str) -> str:
    """The text of a page in HTML, with line ends where blocks end. Formulas stay as they are written."""
    parser = _Text()
    parser.feed(page)
    parser.close()
    lines = [line.rstrip() for line in "".join(parser.parts).split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line if line.strip() else "" for line in lines)).strip()
