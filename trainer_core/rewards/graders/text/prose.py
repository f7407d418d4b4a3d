"""Prose parts of a text: code and formulas say nothing about the language it is written in."""

import re

_CODE_AND_DOLLARS = (
    re.compile(r"```.*?(?:```|\Z)", re.DOTALL),
    re.compile(r"`[^`\n]*`"),
    re.compile(r"\$\$.*?\$\$", re.DOTALL),
    re.compile(r"\$[^$\n]*\$"),
)
_BRACKETS = {"\\[": "\\]", "\\(": "\\)"}
_COMMANDS_AND_SIGNS = (
    re.compile(r"\\[A-Za-z]+(?:\{[^{}]*\})*"),
    re.compile(r"<[^<>\n]{1,64}>|https?://\S+"),
    re.compile(r"[\d_^{}\\=+*/|<>#]+"),
)


def prose(text: str) -> str:
    """``text`` without code, LaTeX, tags, links, numbers and operators, white space squeezed. Takes linear time."""
    for pattern in _CODE_AND_DOLLARS:
        text = pattern.sub(" ", text)
    text = _without_brackets(text)
    for pattern in _COMMANDS_AND_SIGNS:
        text = pattern.sub(" ", text)
    return " ".join(text.split())


def _without_brackets(text: str) -> str:
    """``text`` without ``\\[…\\]`` and ``\\(…\\)``; a bracket that is never closed stays.

    Searched by hand: of an expression, each open bracket would look through the rest of the text for its end.
    """
    kept, position, closes = [], 0, dict(_BRACKETS)
    opens = re.compile(r"\\[\[(]")
    start = 0
    while (match := opens.search(text, position)) is not None:
        position = match.end()
        if (closing := closes.get(match.group())) is None:
            continue  # none of this kind is closed from here on
        end = text.find(closing, position)
        if end < 0:
            del closes[match.group()]
            continue
        kept.append(text[start : match.start()])
        start = position = end + len(closing)
    return " ".join([*kept, text[start:]])
