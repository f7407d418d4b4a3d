"""One spelling for what LaTeX and people write in several ways, before a text is split into tokens."""

import re
from fractions import Fraction
from math import perm

_THIN_GROUPS = re.compile(r"(?<=\d)(,|\{,\})\s*(?:\\!\s*)+(?=\d{3}(?!\d))")
"""Comma and negative space between thousands, with any other spaces."""
_NAMED_BRACKET = re.compile(r"\\([lr]brac[ek])(?![A-Za-z])")
_UNIT_FRACTION = re.compile(
    r"\\[dt]?frac\s*\{\s*\\(?:text|mathrm)\{([A-Za-z ]{1,30})\}\s*\}"
    r"\s*\{\s*\\(?:text|mathrm)\{([A-Za-z ]{1,30})\}\s*((?:\^\{?\d\}?)?)\s*\}"
)
_COLON = re.compile(r"\{:\}|\\colon(?![A-Za-z])|\\(?:text|mathrm)\s*\{\s*:\s*\}")
_NORM = re.compile(r"\\[lr]?Vert(?![A-Za-z])")
_HALF_OF_A_DAY = re.compile(
    r"(?<=\d)(?:\s|~|\\[,;: ])*(?:([AaPp])\.\s?[Mm](?:\.|(?![A-Za-z]))|(?<!\\)(p)m(?=\s*(?:$|[.,;}$)])))"
)
"""The "a.m." of a time, outside of text; and a "pm" that no number follows, which would be a sign without its
backslash."""
_HALVES = {"上午": "am", "下午": "pm", "午前": "am", "午後": "pm", "晚上": "pm", "오전": "am", "오후": "pm"}
_HALF_IN_FRONT = re.compile(rf"({'|'.join(_HALVES)})\s*(\d{{1,2}}:\d\d)")
_SUM_DOTS = re.compile(r"(?<=\+)\s*(?:\.\.\.|…)\s*(?=\+)")
_OVER = re.compile(r"\{([^{}]*)\\over(?![A-Za-z])([^{}]*)\}")
_DOTS_IN_LIST = re.compile(r"(?<=,)\s*\.\.\.")
_RECURRING = re.compile(r"\\dot\s*(?:\{(\d)\}|(\d))(?:(\d*)\\dot\s*(?:\{(\d)\}|(\d)))?")
r"""Dots above the first and the last digit that recur: ``0.\dot{1}2\dot{3}``."""
_RAISED_ORDINAL = re.compile(
    r"(?<=\d)\s?\^\s?(?:\{\s?\\(?:text|textrm|mathrm)\s?\{\s?(?:st|nd|rd|th)\s?\}\s?\}|\{(?:st|nd|rd|th)\}"
    r"|\\(?:text|textrm|mathrm)\s?\{\s?(?:st|nd|rd|th)\s?\})"
)
_ORDINAL = re.compile(r"(\d*(?:1[123]th|(?<!1)(?:1st|2nd|3rd)|[04-9]th))")
_PER_CENT = re.compile(r"\bper\s+cent(?![A-Za-z])")
_SHORT_POWER = re.compile(r"\b(sq|cu)\.\s?(?=[A-Za-z])")
_FIGURE = re.compile(r"\\(m?angle|triangle|odot|square|measuredangle)\s*\{([A-Za-z]+)\}")
_MEASURE = re.compile(r"(?<![A-Za-z\\])m\s*(?=\\angle(?![A-Za-z]))")
_CHOSEN = re.compile(
    r"(?<![A-Za-z\\_^])(?:\\(?:mathrm|text|rm)\s*\{([CA])\}|([CA]))\s*"
    r"(?:_\s*(?:\{(\d{1,6})\}|(\d))\s*\^\s*(?:\{(\d{1,6})\}|(\d))|\^\s*(?:\{(\d{1,6})\}|(\d))\s*_\s*(?:\{(\d{1,6})\}|(\d)))(?![\d^_])"
)
r"""``C_{10}^3`` and ``A_{10}^3``: combinations and permutations as schools write them in China and Russia."""
_CHOOSE = re.compile(r"(?<![A-Za-z\\_^])C\s*\(\s*(\d{1,6})\s*,\s*(\d{1,6})\s*\)")
_LARGEST_PERMUTED = 1_000
_MINUTES = re.compile(
    r"(?<![\d.])(\d{1,3})\s*\^\s*(?:\{\s*\\circ\s*\}|\\circ)\s*([0-5]?\d(?:\.\d{1,9})?)\s*(?:'|\^\s*\{?\s*\\prime\s*\}?)(?!')"
    r"(?:\s*([0-5]?\d(?:\.\d{1,9})?)\s*(?:''|\"))?"
)
"""Degrees with minutes, and perhaps seconds."""
_PARALLEL = re.compile(r"(?<=[A-Z])\s*//\s*(?=[A-Z])")


def respelled(text: str) -> str:
    """``text`` with one spelling for what LaTeX and people write in several."""
    text = _THIN_GROUPS.sub(r",\\!", _NAMED_BRACKET.sub(_bracket, text))
    text = _UNIT_FRACTION.sub(r"\\text{\1}/\\text{\2}\3", text)
    text = _HALF_OF_A_DAY.sub(
        lambda half: f"\\text{{ {half[1] or half[2]}m}}", _COLON.sub(":", _NORM.sub(r"\\|", text))
    )
    text = _HALF_IN_FRONT.sub(_behind, text)
    text = _SUM_DOTS.sub(r"\\cdots ", text)
    text = _DOTS_IN_LIST.sub(r"\\ldots ", _OVER.sub(r"\\frac{\1}{\2}", text))
    text = _SHORT_POWER.sub(r"\1 ", _PER_CENT.sub("percent", text))
    text = _MEASURE.sub("", _FIGURE.sub(r"\\\1 \2", text))
    text = _RAISED_ORDINAL.sub(r"\\text{ th}", _PARALLEL.sub(r"\\parallel ", text))
    if ordinal := _ORDINAL.fullmatch(text.strip()):
        text = f"{ordinal[1][:-2]}\\text{{ th}}"
    return _CHOSEN.sub(
        _chosen, _CHOOSE.sub(r"\\binom{\1}{\2}", _RECURRING.sub(_recurring, _MINUTES.sub(_degrees, text)))
    )


def _recurring(match: re.Match[str]) -> str:
    return "\\overline{" + "".join(digits for digits in match.groups() if digits) + "}"


def _degrees(match: re.Match[str]) -> str:
    value = Fraction(match[1]) + Fraction(match[2]) / 60 + Fraction(match[3] or 0) / 3600
    return rf"(\frac{{{value.numerator}}}{{{value.denominator}}})^{{\circ}}"


def _chosen(match: re.Match[str]) -> str:
    letter = match[1] or match[2]
    n, k = (match[3] or match[4] or match[9] or match[10]), (match[5] or match[6] or match[7] or match[8])
    if int(k) > int(n):
        return match[0]
    if letter == "C":
        return rf"\binom{{{n}}}{{{k}}}"
    return str(perm(int(n), int(k))) if int(n) <= _LARGEST_PERMUTED else match[0]


def _behind(match: re.Match[str]) -> str:
    return f"{match[2]}\\text{{ {_HALVES[match[1]]}}}"


def _bracket(match: re.Match[str]) -> str:
    return {"lbrace": r"\{", "rbrace": r"\}", "lbrack": "[", "rbrack": "]"}[match[1]]
