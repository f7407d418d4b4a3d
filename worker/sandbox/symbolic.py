"""Equality of two LaTeX answers by math-verify and SymPy, whose parsers may evaluate: only ever called in the jail."""

from collections.abc import Callable
from typing import Any


def compare(gold: str, answer: str, tell: Callable[[bool], None] = lambda understood: None) -> bool:
    """Whether both are understood, and the same. ``tell`` hears before the answer is read whether the gold one was."""
    from math_verify import parse, verify  # type: ignore[import-untyped]

    # What is no formula comes back as the text itself.
    parsed = _parse(parse, gold)
    tell(any(not isinstance(form, str) for form in parsed))
    given = _parse(parse, answer)
    return bool(parsed) and bool(given) and bool(verify(parsed, given, timeout_seconds=None))


def _parse(parse: Any, text: str) -> list[Any]:
    from math_verify import LatexExtractionConfig

    found: list[Any] = parse(f"${text}$", [LatexExtractionConfig()], parsing_timeout=None)
    return found
