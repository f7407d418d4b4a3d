"""The last number of a text, with the LaTeX that it is a part of. Takes linear time."""

import re
from collections import deque
from fractions import Fraction

from trainer_core.rewards.mathematics.reading import read
from trainer_core.rewards.mathematics.rebuilding import named
from trainer_core.rewards.mathematics.tree import Node, UnreadableError, is_scalar, symbols

_TRIED = 12
"""Numbers from the end that are looked at, where those behind them are indices."""
_REACH = 400
"""Characters to each side that may belong to a number's formula."""
_IN_COMMAND = re.compile(r"\\(?:[dtc]?frac|sqrt|d?binom)\s*\d+")
_BEHIND = re.compile(r"\s*(?:[}^_!]|\\(?!text|mathrm|mbox|quad|qquad|[,;:!%$&\\)\] ])|/\s*[\\({A-Za-z])")
_UNIT_POWER = re.compile(r"(?<![A-Za-z\\])(?:[kcdm]?m|in|ft|yd|mi|inch|inches|feet|units?)\s*\^\s*\{?$")
_FUNCTION = re.compile(r"\\(?:log(?:_\{?\w+\}?)?|ln|lg|exp|sin|cos|tan|cot|sec|csc|pm|mp)\s*$")
_CONSTANTS = {"pi", "e", "i"}
_DOLLAR = re.compile(r"(?<!\\)\$")


def last(text: str, number: re.Pattern[str]) -> str | None:
    """The last number in ``text``, or the formula with a number's value that it is a part of; None where there is none
    or its formula has no value that can be read. An index, as in ``x_{7}``, is no number.

    Args:
        number: the form of plain numbers.
    """
    found: deque[tuple[int, int]] = deque(maxlen=_TRIED)
    for match in number.finditer(text):
        found.append(match.span())
    for match in _IN_COMMAND.finditer(text):
        if not found or match.end() > found[-1][1]:
            found.append(match.span())
    for start, end in reversed(found):
        if _is_index(text, start):
            continue
        return _whole(text, start, end)
    return None


def value(formula: str) -> Fraction | None:
    """The value of a formula that ``last`` has found, if it is exact."""
    try:
        tree = _constant(formula)
    except UnreadableError:
        return None
    scale = Fraction(1)
    if tree is not None and tree.head == "quantity":
        scale = tree.parts[1].value if tree.text == "percent" else scale
        tree = tree.parts[0]
    return tree.value * scale if tree is not None and tree.head == "number" else None


def _is_index(text: str, start: int) -> bool:
    """Whether what begins at ``start`` is lowered, or the power of a unit."""
    before = text[max(0, start - _REACH) : start].rstrip()
    if _UNIT_POWER.search(before):
        return True
    if before.endswith("_"):
        return not before.endswith("log_")
    opening = before.rfind("{")
    return opening > before.rfind("}") and before[:opening].rstrip().endswith("_")


def _whole(text: str, start: int, end: int) -> str | None:
    low, high = max(0, start - _REACH), end + _REACH
    line_start = text.rfind("\n", low, start) + 1 or low
    line_end = text.find("\n", end, high)
    line_end = line_end if line_end >= 0 else min(high, len(text))
    before, behind = text[line_start:start], text[end:line_end]
    formula = _delimited(before, text[start:end], behind)
    if formula is None:
        if _FUNCTION.search(before):
            return None
        if not _is_part(text[start], before, behind):
            return text[start:end]
        formula = _run(before, text[start:end], behind)
    for part in (formula, formula.rpartition("=")[2]):
        try:
            if _constant(part) is not None:
                return part.strip()
        except UnreadableError:
            continue
    return None


def _is_part(first: str, before: str, behind: str) -> bool:
    """Whether a number, outside of formulas' delimiters, is a part of LaTeX."""
    if first == "\\" or before.rstrip().endswith(("{", "^")) or before.endswith(("}", "\\")):
        return True
    return _BEHIND.match(behind) is not None


def _delimited(before: str, found: str, behind: str) -> str | None:
    """The formula between delimiters around the number."""
    for opening, closing in (("\\(", "\\)"), ("\\[", "\\]")):
        opened, closed = before.rfind(opening), behind.find(closing)
        if opened > before.rfind(closing) and closed >= 0:
            return f"{before[opened + 2 :]}{found}{behind[:closed]}"
    dollars = [match.start() for match in _DOLLAR.finditer(before)]
    closing_dollar = _DOLLAR.search(behind)
    if len(dollars) % 2 and closing_dollar is not None:
        return f"{before[dollars[-1] + 1 :]}{found}{behind[: closing_dollar.start()]}"
    return None


def _run(before: str, found: str, behind: str) -> str:
    """The signs around the number without a space between, brackets closed."""
    start = max(before.rfind(" "), before.rfind("\t"), before.rfind("$")) + 1
    while start > 0 and before[start:].count("}") + found.count("}") > before[start:].count("{") + found.count("{"):
        start = max(before.rfind(" ", 0, start - 1), 0)
    left = before[start:]
    open_braces = (left + found).count("{") - (left + found).count("}")
    end = 0
    while end < len(behind) and (open_braces > 0 or not behind[end].isspace()):
        open_braces += (behind[end] == "{") - (behind[end] == "}")
        end += 1
    wrapped = re.sub(r"^.*\\boxed\s*\{", "", left)
    right = behind[:end]
    return f"{wrapped}{found}{right[:-1] if wrapped != left and right.endswith('}') else right}".rstrip(".,;:")


def _constant(formula: str) -> Node | None:
    """The number that ``formula`` is; None where it is none. Raises UnreadableError."""
    tree = named(read(formula))[1]
    inner = tree.parts[0] if tree.head == "quantity" else tree
    return tree if is_scalar(inner) and symbols(inner) <= _CONSTANTS else None
