"""Tokens of an answer. Spaces are kept as what stands before a token: "1 2" is two numbers, and no twelve."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from trainer_core.rewards.mathematics.characters import ascii_mathematics
from trainer_core.rewards.mathematics.spelling.respelled import respelled
from trainer_core.rewards.mathematics.tree import UnreadableError

Kind = Literal["number", "letter", "word", "command", "sign"]
LONGEST = 10_000
"""Characters of an answer; a longer one is none."""
_MOST_TOKENS = 3_000
_MOST_DIGITS = 3_000
_LARGEST_POWER = 3_000


@dataclass(frozen=True, slots=True)
class Token:
    """The smallest part of an answer that means something."""

    kind: Kind
    text: str
    gap: bool = False
    """Whether a space stands before it."""
    in_text: bool = False
    """Whether it is text and no mathematics: of ``\\text{}``, or of a script without small letters."""
    value: Fraction = Fraction(0)
    place: Fraction | None = None
    """One unit in the last place of a number that is written as a decimal."""
    groups: tuple[int, ...] = ()
    """The groups of a number that is written with commas: it might be a list as well."""


_SPACING = re.compile(r"(?:\s|~|\\[,;:> ]|\\(?:quad|qquad|enspace|thinspace|hspace\{[^{}]*\})(?![A-Za-z]))+")
_NOTHING = re.compile(
    r"\\(?:left|right|middle|[bB]igg?[lrm]?|displaystyle|textstyle|scriptstyle|limits|nolimits|mathstrut|strut|hfill|"
    r"boldsymbol|underline|mathbf|mathit|mathsf|bf|rm|it|Large|large|mathop|mathrel|allowbreak|nonumber)(?![A-Za-z])|\\!|\\/|"
    r"\\(?:phantom|label|tag|color|textcolor)\{[^{}]*\}"
)
_EMPTY_DELIMITER = re.compile(r"\\(?:left|right)\s*\.")
_DELIMITER = re.compile(r"\\[()\[\]]")
_TEXT = re.compile(r"\\(?:text(?:bf|it|rm|normal|sf|tt)?|mathrm|mbox|hbox|operatorname\*?|textup)\s*\{")
_PLAIN_IN_TEXT = re.compile(r"\\(?:[,;:!> %$&#]|cdot(?![A-Za-z]))")
"""Commands that text may hold and still be text."""
_BOX = re.compile(r"\\(?:boxed|fbox)\s*(?=\{)")
_SEPARATOR = r"(?:,\\!|,|\{,\}|\\,|\\ |~| |\\!)"
_WHOLE = re.compile(r"[1-9]\d{0,2}(?P<first>" + _SEPARATOR + r")\d{3}(?:(?P=first)\d{3})*(?![\d])(?!,\d|\{,\}\d)")
_SPACED = re.compile(r"[1-9]\d{0,2}(?P<first>\\,|\\ |~)\d{3}(?:(?P=first)\d{3})*(?=\{,\}\d{1,2}(?!\d))")
"""Thousands set apart by spaces, in front of a decimal comma."""
_DIGITS = re.compile(r"\d+")
_PLACES = re.compile(r"\{?\.\}?(\d+)")
_DECIMAL_COMMA = re.compile(r"\{,\}(\d+)(?!,|\{,\})")
_REPEATING = re.compile(r"\.?(?:\\(?:overline|bar|dot|overparen)\s*\{(\d+)\}|(?<=[.\d])\((\d+)\)(?![\d.]))")
_POWER = re.compile(r"[eE]([-+]?\d{1,5})(?![\d.A-Za-z])")
_ELLIPSIS = re.compile(r"\s*(?:\.\.\.|\\[lc]?dots(?![A-Za-z]))")
_COMMAND = re.compile(r"\\([A-Za-z]+)\*?|\\(.)", re.DOTALL)
_ASCII_RUN = re.compile(r"[A-Za-z]+")
_TEXT_RUN = re.compile(r"[^\W\d_]+(?:['’.\-][^\W\d_]+)*(?:(?<=\.[A-Za-z])\.)?")
_OTHER_RUN = re.compile(r"[^\W\d_A-Za-z]+")
KNOWN_WORDS = {
    "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "ln", "log", "exp",
    "sqrt", "pi", "theta", "alpha", "beta", "gamma", "lambda", "phi", "omega", "infty", "gcd", "lcm", "min", "max",
    "det", "pm", "cdot", "times", "frac", "arccot", "mod",
}  # fmt: skip
"""Names that are commands without their backslash as well."""
_SAME = {"infinity": "infty", "inf": "infty", "asin": "arcsin", "acos": "arccos", "atan": "arctan"}


def tokens(text: str) -> list[Token]:
    """The tokens of ``text``.

    Raises:
        UnreadableError: it is too long, or holds a sign that no answer has.
    """
    if len(text) > LONGEST:
        raise UnreadableError(f"more than {LONGEST} characters")
    text = respelled(ascii_mathematics(text))
    found = list(_scan(_without_dollars(text), False, 0))
    if len(found) > _MOST_TOKENS:
        raise UnreadableError(f"more than {_MOST_TOKENS} parts")
    return found


def plain(found: list[Token]) -> str:
    """The tokens as text in which case and spacing do not count."""
    return " ".join(token.text.casefold().strip(".") for token in found if token.text != ".").strip()


def canonical_text(text: str, fold: bool = False) -> str:
    """``text`` without differences of spacing, delimiters and fonts; with ``fold`` without those of case too."""
    try:
        found = tokens(text)
    except UnreadableError:
        return " ".join(text.split())
    if fold:
        return plain(found)
    while found and found[-1].kind == "sign" and found[-1].text == ".":
        found.pop()
    return " ".join(token.text for token in found)


def _without_dollars(text: str) -> str:
    """``text`` without the dollars around formulas; one that stands alone is a currency's."""
    bare = text.replace("\\$", "")
    return text if bare.count("$") % 2 else re.sub(r"(?<!\\)\$", " ", text)


def _scan(text: str, in_text: bool, depth: int) -> Iterator[Token]:
    if depth > 8:
        raise UnreadableError("nested too deeply")
    position, gap, within = 0, False, 0
    while position < len(text):
        if spacing := _SPACING.match(text, position) or _DELIMITER.match(text, position):
            position, gap = spacing.end(), True
            continue
        if nothing := _EMPTY_DELIMITER.match(text, position) or _NOTHING.match(text, position):
            position = nothing.end()
            continue
        if wrapped := _TEXT.match(text, position) or _BOX.match(text, position):
            start = wrapped.end() - (text[wrapped.end() - 1] == "{")
            end = closing(text, start)
            inner = text[start + 1 : end]
            is_text = wrapped.re is _TEXT and not any(sign in _PLAIN_IN_TEXT.sub("", inner) for sign in "\\_")
            yield from _with_gap(_scan(inner.replace("$", " "), is_text, depth + 1), gap or is_text)
            position, gap = end + 1, is_text
            continue
        sign = text[position]
        if sign.isdigit() or (sign == "." and position + 1 < len(text) and text[position + 1].isdigit()):
            token, position = _number(text, position, gap, within)
        else:
            within += (sign in "([") - (sign in ")]")
            if text.startswith(("\\{", "\\}"), position):
                within += 1 if text[position + 1] == "{" else -1
            token, position = _other(text, position, gap, in_text)
        yield token
        gap = False


def _with_gap(found: Iterator[Token], gap: bool) -> Iterator[Token]:
    for token in found:
        if gap and not token.gap:
            token = Token(token.kind, token.text, True, token.in_text, token.value, token.place, token.groups)
        yield token
        gap = False


def closing(text: str, opening: int) -> int:
    """Position at which the brace that opens at ``opening`` is closed.

    Raises:
        UnreadableError: nowhere.
    """
    depth, position = 0, opening
    while position < len(text):
        sign = text[position]
        if sign == "\\":
            position += 2
            continue
        depth += (sign == "{") - (sign == "}")
        if depth == 0:
            return position
        position += 1
    raise UnreadableError("a brace that is never closed")


def _number(text: str, start: int, gap: bool, within: int) -> tuple[Token, int]:
    position = start
    groups: tuple[int, ...] = ()
    is_script = text[start - 1 : start] in ("_", "^")  # of ``\log_2 128`` the 2 alone
    whole = None if is_script else _WHOLE.match(text, start) or _SPACED.match(text, start)
    if whole is not None and not (within > 0 and whole["first"] in (",", " ")):
        digits, position = re.sub(r"\D", "", whole.group()), whole.end()
        written_groups = whole.group().split(",")
        if whole["first"] == "," and not any(group.startswith("0") for group in written_groups):
            groups = tuple(map(int, written_groups))
    else:
        plain_digits = _DIGITS.match(text, start)
        digits, position = (plain_digits.group(), plain_digits.end()) if plain_digits else ("", start)
    places, repeating, written = "", "", False
    match = _PLACES.match(text, position) or (None if groups else _decimal_comma(text, position, digits))
    if match is not None:
        places, position, written = match[1], match.end(), True
    if (written or text.startswith(".", position)) and (match := _REPEATING.match(text, position)):
        repeating, position, written = match[1] or match[2], match.end(), True
    elif written and (match := _ELLIPSIS.match(text, position)):
        position = match.end()
        repeating = _repeated(places)
    if len(digits) + len(places) > _MOST_DIGITS:
        raise UnreadableError(f"a number of more than {_MOST_DIGITS} digits")
    value = Fraction(int(f"{digits}{places}" or "0"), 10 ** len(places))
    if repeating:
        value += Fraction(int(repeating), (10 ** len(repeating) - 1) * 10 ** len(places))
    place = Fraction(1, 10 ** len(places)) if written and not repeating else None
    if match := _POWER.match(text, position):
        exponent, position = int(match[1]), match.end()
        if abs(exponent) > _LARGEST_POWER:
            raise UnreadableError("a power of ten that is too large")
        value *= Fraction(10) ** exponent
        place = None if place is None else place * Fraction(10) ** exponent
    return Token("number", text[start:position], gap, False, value, place, groups), position


def _decimal_comma(text: str, position: int, digits: str) -> re.Match[str] | None:
    """``{,}`` and places behind ``digits``, where they can only be a decimal's: three places might be thousands."""
    match = _DECIMAL_COMMA.match(text, position)
    if match is None or (len(match[1]) == 3 and not digits.startswith("0") and len(digits) <= 3):
        return None
    return match


def _repeated(places: str) -> str:
    """The digits that a decimal ending in an ellipsis repeats, if it shows them three times or more."""
    for size in (1, 2, 3):
        last = places[-size:]
        if len(places) >= 3 * size and places.endswith(last * 3):
            return last
    return ""


def _other(text: str, position: int, gap: bool, in_text: bool) -> tuple[Token, int]:
    if match := _COMMAND.match(text, position):
        name = match[1] or match[2]
        return Token("command", _SAME.get(name, name), gap), match.end()
    if in_text and (match := _TEXT_RUN.match(text, position)):
        return Token("word", match.group(), gap, True), match.end()
    if match := _ASCII_RUN.match(text, position):
        run = match.group()
        if len(run) == 1:
            return Token("letter", run, gap), match.end()
        known = _SAME.get(run.lower(), run)
        if known in KNOWN_WORDS or known == "infty":
            return Token("command", known, gap), match.end()
        return Token("word", run, gap), match.end()
    if match := _OTHER_RUN.match(text, position):
        return Token("word", match.group(), gap, True), match.end()
    return Token("sign", text[position], gap), position + 1
