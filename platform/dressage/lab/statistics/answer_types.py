"""Types of gold answers, determined by form alone."""

from typing import Literal, get_args

import regex  # type: ignore[import-untyped]

AnswerType = Literal["none", "integer", "decimal", "fraction", "choice", "expression", "code", "text"]
ANSWER_TYPES: tuple[AnswerType, ...] = get_args(AnswerType)
_INTEGER = regex.compile(r"[-+−]?\s*(\d{1,3}(,\d{3})+|\d+)")
_DECIMAL = regex.compile(r"[-+−]?\s*(\d{1,3}(,\d{3})+|\d*)\.\d+|[-+−]?\d+(\.\d+)?[eE][+-]?\d+")
_FRACTION = regex.compile(r"[-+−]?\s*(\d+\s*/\s*\d+|\\[dt]?frac\s*(\{\s*-?\d+\s*\}|\d)\s*(\{\s*\d+\s*\}|\d))")
_CHOICE = regex.compile(r"\(?[A-Ja-e]\)|[A-J]\.?|\\text\{\s*\(?[A-J]\)?\s*\}")
_CODE = regex.compile(r"```|^\s*(def|class|import|from|#include|public|function|SELECT)\b|;\s*$|\breturn\b", regex.M)
_MATHEMATICS = regex.compile(
    r"\\[a-zA-Z]+|[\^_=<>≤≥√π∞±]|\d\s*[-+*/]\s*\d|\d[a-z]\b|\b[a-z]\s*[-+*/]\s*\w|[(\[{]\s*[-\d]"
)
_LOOKED_AT = 10_000
"""Number of characters of an answer that determine its type."""


def answer_type(answer: str | None) -> AnswerType:
    """The type of an answer. Math delimiters, a box, a percent sign and a currency sign are ignored."""
    if answer is None or not answer.strip():
        return "none"
    text = _bare(answer[:_LOOKED_AT])
    for kind, pattern in (("integer", _INTEGER), ("decimal", _DECIMAL), ("fraction", _FRACTION), ("choice", _CHOICE)):
        if pattern.fullmatch(text):
            return kind  # type: ignore[return-value]  # the names are those of the type
    if _CODE.search(text) and ("\n" in text or "```" in text or "(" in text):
        return "code"
    if len(text) <= 500 and _MATHEMATICS.search(text):
        return "expression"
    return "text"


def _bare(text: str) -> str:
    text = text.strip()
    boxed = regex.fullmatch(r"\\boxed\{(.*)\}", text, regex.S)
    text = boxed[1].strip() if boxed else text
    for mark in ("$$", "$"):
        if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
            text = text[len(mark) : -len(mark)].strip()
    return text.removeprefix("\\$").removeprefix("$").removesuffix("\\%").removesuffix("%").strip()
