"""Numbers in text, read completely or not at all: a part of a formula, a pair or a date is not a gold answer.

This is deliberately stricter than what graders read in answers: a misread gold answer rewards wrong answers from then
on, while a user sees a rejected row.
"""

import re

_DIGITS = "0123456789.,"
_LONGEST = 4_000
_AROUND = 200
"""Number of characters on each side of a number that are examined."""
_SHOWN = 20
_POWER = r"(?:[eE][-+−]?[0-9]+)?"
_NUMBER = re.compile(rf"(?:(?:[1-9][0-9]{{0,2}}(?:,[0-9]{{3}})+|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+){_POWER}")
"""Digits, or thousands. ``0,123`` and ``3,14`` are neither: their commas mean something else."""
_ALONE = re.compile(rf"(?:[-+−]?\$?|\$[-+−]){_NUMBER.pattern}")
_NUMERAL = re.compile(r"[\d²³¹¼-¾⁰-⁹⅐-↉]")
"""Characters for a number or a part of one, in any script. Subscript digits are indices."""
_EXPONENT = re.compile(r"(?<=[0-9.])[eE][-+−]?\Z")
_CURRENCY = re.compile(r"\\?[$€£¥]\Z")
_MONEY = re.compile(r"\b(?:Rs|No|Nr|USD|EUR|GBP|INR)\.?\Z")
_SPACE = re.compile(r"\\[,;:! ]|\\q?quad\b")
_UNIT_POWER = re.compile(
    r"(?<![A-Za-z\\])((?:[kcdm]?m|in|ft|yd|mi|inch|inches|feet|units?)\}?)\s?(?:\^\s?\{?[23]\}?|[²³])(?![\d^])"
)
_UNITS = (
    r"st|nd|rd|th|km/h|kmh|mph|[kcmn]m|[km]g|[mcd]l|kWh?|[kMG]?Hz|ms|hrs?|hours?|mins?|minutes?|secs?|seconds?|days?"
    r"|years?|ft|feet|in|inch|inches|yd|yards?|miles?|lbs?|oz|[ap]\.?m|USD|EUR|GBP|INR"
)
_CJK = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff01-\uff5e"
"""Characters that may be next to numbers without a space."""
_COUNTED = "〇零一二三四五六七八九十百千万萬亿億兆半"
_LETTER = rf"[^\W_{_CJK}]"
_H = r"[^\S\n]*"
_OPERAND = rf"(?:[0-9)\]}}%]|(?<!{_LETTER}){_LETTER})"
"""End of what an operator may join with a number: a number, a bracket, or a single letter."""
_LETTER_BEFORE = re.compile(rf"{_LETTER}\Z")
_PART_BEFORE = re.compile(
    rf"(?:\S_|[{_COUNTED}负負点點之]|[/^√∛±∓≠<≤≥÷×]{_H}|(?<=\s)>=?{_H}|[\w)\]}}%]{_H}[+·∙⋅]{_H}"
    rf"|[0-9)\]}}]{_H}\*+{_H}|\w\*+|\w{_H}\*[^\S\n]+|[0-9]['’:]|[0-9\\}}],|{_OPERAND}{_H}[-−‐-―﹣－]{_H}|[‐-–﹣－]"
    rf"|[=(:$[{{]{_H}[-−‐-–]{_H}|\A{_H}[-−‐-–]{_H}|(?:{_LETTER}|[)\]}}^]|[-+*/×·÷−]{_H}|\\(?!left)[A-Za-z]+{_H})\({_H}"
    r"|\b(?:minus|negative|plus|times|(?:divided|multiplied)\s+by|(?:half|root|square|cube|third|quarter)\s+of"
    r"|sqrt|log|ln|sin|cos|tan|exp)\s+)\Z",
    re.IGNORECASE,
)
"""Text that makes the number after it a part of something larger."""
_SIGNED_PART = re.compile(
    rf"(?:{_LETTER}|[)\]}}%.^_/*+−‐-―﹣－-]|{_OPERAND}[^\S\n]+|(?:{_LETTER}|[)\]}}^]|[-+*/×·÷−]{_H}|\\(?!left)[A-Za-z]+)\({_H})\Z"
)
"""Text that makes the sign after it an operator, or indistinguishable from one."""
_THOUSANDS_BEFORE = re.compile(r"(?<![0-9.,])[1-9][0-9]{0,2}[ \u00a0\u2009\u202f]\Z")
_OPENED_LIST = re.compile(r"[(\[{][^()\[\]{}]*,\s*\Z")
_COMMAND = re.compile(r"\\[A-Za-z]+\s*\Z")
_ALLOWED_COMMAND = re.compile(r"\\(?:approx|therefore|implies|[Rr]ightarrow|to|equiv|displaystyle)\s*\Z")
_OPENER = re.compile(r"(?:\w|[}^_]\s*|\\[A-Za-z]+\s*)\Z")
_WRAPPER = re.compile(r"(?:\\(?:fbox|text|textbf|textit|mathbf|mathrm|mathit|bm|boldsymbol|underline)|\bd?boxed)\s*\Z")
_PART_BEHIND = re.compile(
    rf"(?:(?!(?:{_UNITS})(?!{_LETTER})){_LETTER}|[²³¹¼-¾⁰-⁹⅐-↉₀-₉{_COUNTED}]|[(_]|!(?![\s\"')\]*]|\Z)|{_H}[/÷×·√π∕⁄]"
    rf"|{_H}\^(?!\s*\{{?\s*\\circ)|{_H}\*{_H}[\w(\\]|{_H}[-+−]{_H}(?:{_LETTER}(?!{_LETTER})|[\\(])"
    r"|\s*\\(?!text|mathrm|mbox|circ|degree|right|end|\\|[%$)\]}])"
    r"|\s*(?:hundred|thousand|million|billion|trillion|dozen|lakh|crore)s?\b"
    r"|\s+(?:pi|squared|cubed|factorial|plus|minus|divided\s+by|and\s+a\s+(?:half|third|quarter))\b)",
    re.IGNORECASE,
)
"""Text that makes the number before it a part of something larger."""


def plain_number(text: str) -> str | None:
    """A text that is only a number, without its commas and dollar sign; None for all other texts."""
    if len(text) > _LONGEST or not _ALONE.fullmatch(text):
        return None
    return text.replace(",", "").replace("$", "").replace("−", "-")


def last_number(text: str, name: str) -> str:
    """The last number in a text, without commas.

    Args:
        text: any text; it takes linear time.
        name: name of the text in error messages.

    Raises:
        ValueError: it has none, or its last digits are part of something else.
    """
    text = _UNIT_POWER.sub(r"\1", _SPACE.sub(" ", text).replace("{,}", ","))
    found = _NUMERAL.search(text[::-1])
    if found is None:
        raise ValueError(f"`{name}` has no number in it.")
    end = len(text) - found.start()
    start = _start(text, end)
    if end - start > _LONGEST:
        raise ValueError(f"The last number of `{name}` has more than {_LONGEST:,} digits.")
    number = text[start:end]
    before, behind = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
    sign, before, behind = _sign(before, behind)
    if not _NUMBER.fullmatch(number) or _is_part(sign, before, number, behind):
        around = " ".join(text[max(0, start - _SHOWN) : min(end, start + _SHOWN) + _SHOWN].split())
        raise ValueError(f"The last number of `{name}` is ambiguous: it is part of {around!r}.")
    return sign.replace("−", "-") + number.replace(",", "").replace("−", "-")


def _start(text: str, end: int) -> int:
    """Start of the number that ends at ``end``."""
    start = len(text[:end].rstrip(_DIGITS))
    exponent = _EXPONENT.search(text[max(0, start - 3) : start])
    if exponent and text[start:end].isdigit():
        start = len(text[: start - len(exponent.group())].rstrip(_DIGITS))
    start += len(text[start:end]) - len(text[start:end].lstrip(","))
    dots = len(text[start:end]) - len(text[start:end].lstrip("."))
    # Several dots are those of "...", one is that of a number such as .5, or of an abbreviation.
    return start + dots if dots > 1 or (dots and _MONEY.search(text[max(0, start - 4) : start])) else start


def _sign(before: str, behind: str) -> tuple[str, str, str]:
    """(the number's sign, the text before it, the text after it), without its currency and its emphasis."""
    plain = _CURRENCY.sub("", before)
    if plain.endswith(tuple("-+−")):
        before = plain
    sign = before[-1] if before.endswith(tuple("-+−")) else ""
    before = before.removesuffix(sign)
    for mark in ("***", "**", "*", "__", "_"):
        if before.endswith(mark) and behind.startswith(mark):
            return sign, before.removesuffix(mark), behind.removeprefix(mark)
    return sign, before, behind


def _is_part(sign: str, before: str, number: str, behind: str) -> bool:
    """Whether the number is, or may be, a part of something larger."""
    if _PART_BEHIND.match(behind) or _is_enclosed(before):
        return True
    if _OPENED_LIST.search(before) and re.match(r"\s*[)\]}]", behind):
        return True
    if _COMMAND.search(before):
        return _ALLOWED_COMMAND.search(before) is None
    if sign:
        return _SIGNED_PART.search(before) is not None
    if _LETTER_BEFORE.search(before):
        return number.startswith(".") or _MONEY.search(before) is None
    if number.startswith(".") and before.endswith((")", "]", "}")):
        return True
    if _THOUSANDS_BEFORE.search(before) and re.match(r"[0-9]{3}(?![0-9])", number):
        return True
    return _PART_BEFORE.search(_CURRENCY.sub("", before)) is not None


def _is_enclosed(before: str) -> bool:
    """Whether the number is in braces of something, such as a root or an index, except boxes and styles."""
    closed = 0
    for at in range(len(before) - 1, -1, -1):
        closed += before[at] == "}"
        if before[at] != "{":
            continue
        if closed:
            closed -= 1
        elif _OPENER.search(before[:at]) and not _WRAPPER.search(before[:at]):
            return True
    return False
