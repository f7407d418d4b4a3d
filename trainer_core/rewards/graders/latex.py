"""Plain forms of LaTeX answers, so that most comparisons need no computer algebra. Nothing is evaluated."""

import re
from fractions import Fraction
from functools import lru_cache

from trainer_core.rewards.graders.numeric import last_number

_MAX_TEXT = 2000
_DROPPED = re.compile(
    r"\\(?:left|right|[bB]ig[gG]?[lr]?|displaystyle|limits)(?![A-Za-z])|\\[!,;: ]|~|\$|\\(?:quad|qquad)(?![A-Za-z])"
)
_TEXT = re.compile(r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mbox|hbox)\s*\{([^{}]*)\}")
_FRACTION = re.compile(r"\\[dtc]frac(?![A-Za-z])")
_SHORT_FRACTION = re.compile(r"\\frac\s*(?:\{([^{}]*)\}|(\d))\s*(?:\{([^{}]*)\}|(\d))")
_DEGREES = re.compile(r"\^\{?\\circ\}?|\\degree(?![A-Za-z])|°")
_NUMBER = re.compile(
    r"[-+]?(?:\d{1,3}(?:(?:,|\{,\})\d{3})+|\d+)?(?:\.\d+)?|[-+]?\d+(?:\.\d*)?/\d+|[-+]?\\frac\{-?\d+\}\{-?\d+\}"
)
_IN_BASE = re.compile(r"(-?[0-9A-Za-z]*[0-9][0-9A-Za-z]*)_\{?(\d+)\}?")
_FORBIDDEN = re.compile(
    r"__|[\"`#@;\x00-\x08]|[A-Za-z_]\.[A-Za-z_]|\b(?:import|lambda|exec|eval|open|globals|locals|getattr)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=65_536)
def normal(text: str) -> str:
    """``text`` without what only changes its looks."""
    text = _FRACTION.sub(r"\\frac", text.strip()[:_MAX_TEXT])
    text = _DEGREES.sub("", _DROPPED.sub("", text.replace("\\$", "").replace("−", "-")))
    text = _TEXT.sub(r"\1", text)
    text = _SHORT_FRACTION.sub(lambda match: f"\\frac{{{match[1] or match[2]}}}{{{match[3] or match[4]}}}", text)
    return re.sub(r"\s+", "", text).rstrip(".")


@lru_cache(maxsize=65_536)
def number(text: str) -> Fraction | None:
    """The exact value of ``normal`` text that is one plain number or fraction, else None."""
    text = re.sub(r"\\?%$", "", text)
    if not text or not any(sign.isdigit() for sign in text) or not _NUMBER.fullmatch(text):
        return None
    if "\\frac" in text:
        sign = -1 if text.startswith("-") else 1
        over, under = (int(part) for part in re.findall(r"-?\d+", text[text.index("{") :]))
        return sign * Fraction(over, under) if under else None
    return last_number(text.replace("{,}", "").replace("+", ""))


def in_base(text: str) -> tuple[str, str] | None:
    """Digits and base of ``normal`` text that is a number with its base, as in ``1011_2``, else None."""
    match = _IN_BASE.fullmatch(text)
    return None if match is None else (match[1].upper(), match[2])


def is_safe(text: str) -> bool:
    """Whether SymPy's parser may see ``text``: short, and nothing in it that Python could run."""
    return len(text) <= _MAX_TEXT and _FORBIDDEN.search(text) is None
