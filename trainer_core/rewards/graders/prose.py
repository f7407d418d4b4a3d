"""Prose parts of a text: code and formulas say nothing about the language it is written in."""

import re

_NOT_PROSE = (
    re.compile(r"```.*?(?:```|\Z)", re.DOTALL),
    re.compile(r"`[^`\n]*`"),
    re.compile(r"\$\$.*?\$\$", re.DOTALL),
    re.compile(r"\$[^$\n]*\$"),
    re.compile(r"\\\[.*?\\\]|\\\(.*?\\\)", re.DOTALL),
    re.compile(r"\\[A-Za-z]+(?:\{[^{}]*\})*"),
    re.compile(r"<[^<>\n]{1,64}>|https?://\S+"),
    re.compile(r"[\d_^{}\\=+*/|<>#]+"),
)


def prose(text: str) -> str:
    """``text`` without code, LaTeX, tags, links, numbers and operators, white space squeezed."""
    for pattern in _NOT_PROSE:
        text = pattern.sub(" ", text)
    return " ".join(text.split())
