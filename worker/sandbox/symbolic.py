"""Equality of two LaTeX answers by math-verify and SymPy, whose parsers may evaluate: only ever called in the jail."""

from typing import Any

FAMILIAR = (
    (r"\frac{1}{2}+x", "x+0.5"),
    ("(x+1)^2", "x^2+2x+1"),
    (r"\frac{\sqrt{2}}{2}", r"\frac{1}{\sqrt{2}}"),
    (r"\sin(x)^2+\cos(x)^2", "1"),
    (r"\{1,2\}", r"\{2,1\}"),
    ("(0,1]", "[0,1)"),
    ("x=3", "3"),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}1\\3\end{pmatrix}"),
)
"""Answers of every kind, compared before the first job: what SymPy loads and sets up at first use, jobs need not. They
could not, where the packages lie under the ``/tmp`` that a job does not see."""


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
