"""Equality of two LaTeX answers by math-verify and SymPy, whose parsers may evaluate: only ever called in the jail."""

from typing import Any


def compare(gold: str, answer: str) -> dict[str, bool]:
    """``gold``: the gold answer was understood; ``equal``: so was the answer, and it is the same."""
    from math_verify import parse, verify  # type: ignore[import-untyped]

    parsed = _parse(parse, gold)
    if not parsed:
        return {"gold": False, "equal": False}
    given = _parse(parse, answer)
    return {"gold": True, "equal": bool(given) and bool(verify(parsed, given, timeout_seconds=None))}


def _parse(parse: Any, text: str) -> list[Any]:
    from math_verify import LatexExtractionConfig

    found: list[Any] = parse(f"${text}$", [LatexExtractionConfig()], parsing_timeout=None)
    return found
