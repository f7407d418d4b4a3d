"""Reads a text as a mathematical answer, or as words."""

import re
from dataclasses import replace
from functools import lru_cache

from trainer_core.rewards.mathematics import atoms
from trainer_core.rewards.mathematics.characters import ascii_mathematics
from trainer_core.rewards.mathematics.rebuilding import REALS
from trainer_core.rewards.mathematics.spelling.chemistry import chemical_formula
from trainer_core.rewards.mathematics.stream import Stream
from trainer_core.rewards.mathematics.structures import Structures
from trainer_core.rewards.mathematics.tokens import Token, plain, tokens
from trainer_core.rewards.mathematics.tree import (
    EMPTY,
    INFINITY,
    Node,
    UnreadableError,
    negative,
    node,
    product,
    symbol,
)

_DIGITS = re.compile(r"\(?(-?[0-9A-Za-z]*[0-9][0-9A-Za-z]*)\)?_(?:\{(?:\\text\{)?(\d+|two|eight|ten)\}?\}|(\d+))")
_NAMED_BASES = {"two": "2", "eight": "8", "ten": "10"}
_LONGEST_DIGITS = 400
"""Characters of digits in a base: their pattern takes quadratic time."""
_KEPT = 300
"""Characters of the longest texts whose trees are kept."""
_IN_FRONT = {*(("sign", sign) for sign in ".,;=:"), ("command", "approx")}
"""Tokens in front of an answer that are no part of it."""
_PHRASES = {
    "all real numbers": REALS, "all reals": REALS, "empty set": EMPTY, "the empty set": EMPTY, "infinity": INFINITY,
    "negative infinity": negative(INFINITY),
}  # fmt: skip
_NO_VALUE = node("words", [], "does not exist")
_NO_VALUES = {
    "dne", "does not exist", "doesn't exist", "doesn’t exist", "do not exist", "limit does not exist",
    "the limit does not exist", "the limit doesn't exist", "limit doesn't exist", "不存在", "极限不存在",
    "極限不存在", "existiert nicht", "n'existe pas", "no existe", "não existe", "non esiste", "не существует",
    "存在しない",
}  # fmt: skip
_NO_SOLUTION = node("words", [], "no solution")
_NO_SOLUTIONS = {
    "no solution", "no solutions", "there is no solution", "there are no solutions", "no solution exists",
    "no solutions exist", "无解", "無解", "keine lösung", "pas de solution", "sin solución",
}  # fmt: skip
_ABBREVIATED = re.compile(r"[Dd]\.? ?[Nn]\.? ?[Ee]\.?")
_COPULAS = ("です", "である")
_BETWEEN_WORDS = {",", ";", "-", "'", ".", "!", "?", "&", "/", "(", ")"}


def read(text: str) -> Node:
    """The answer that ``text`` is.

    Raises:
        UnreadableError: it is none in this grammar.
    """
    return _read_once(text) if len(text) <= _KEPT else _read(text)


@lru_cache(maxsize=8_192)
def _read_once(text: str) -> Node:
    return _read(text)


def _read(text: str) -> Node:
    bare = ascii_mathematics(text.strip().strip("$").strip()) if len(text) <= _LONGEST_DIGITS else ""
    if match := _DIGITS.fullmatch(bare):
        base = _NAMED_BASES.get(match[2] or "", match[2] or match[3])
        return node("digits", [], f"{match[1].upper()}_{base}")
    if _ABBREVIATED.fullmatch(bare):
        return _NO_VALUE
    if (formula := chemical_formula(bare)) is not None:
        return node("words", [], formula)
    found = _trimmed(tokens(text))
    if not found:
        raise UnreadableError("nothing")
    if _is_text(found):
        return _words(found)
    found = _with_round_brackets(found)
    return Structures(Stream(found)).answer()


def _trimmed(found: list[Token]) -> list[Token]:
    """``found`` without punctuation at its ends, and without quotation marks and emphasis."""
    found = [token for token in found if not (token.kind == "sign" and token.text in ('"', "`", "#"))]
    start, end = 0, len(found)
    while start < end and (found[start].kind, found[start].text) in _IN_FRONT:
        start += 1
    while start < end and _is_stop(found[end - 1]):
        end -= 1
    if end - start > 1 and (last := found[end - 1]).kind == "word" and last.text.endswith(_COPULAS):
        rest = last.text.removesuffix("である").removesuffix("です")
        found[end - 1 : end] = [replace(last, text=rest)] if rest else []
        end = len(found[:end]) if rest else end - 1
    while end - start > 3 and all(token.text == "*" for token in (*found[start : start + 2], *found[end - 2 : end])):
        start, end = start + 2, end - 2
    return found[start:end]


def _with_round_brackets(found: list[Token]) -> list[Token]:
    """``]1,2[`` as ``(1,2)``: brackets that turn their back on an interval leave its end out."""
    places = [place for place, token in enumerate(found) if token.kind == "sign" and token.text in ("[", "]")]
    opening = [found[place].text for place in places[::2]]
    closing = [found[place].text for place in places[1::2]]
    if len(places) % 2 or ("]" not in opening and "[" not in closing):
        return found
    for start, end in zip(places[::2], places[1::2], strict=True):
        commas = [token for token in found[start:end] if token.kind == "sign" and token.text in (",", ";")]
        if len(commas) != 1:
            return found
    turned = list(found)
    for place, sign, round_one in (
        *((place, "]", "(") for place in places[::2]),
        *((place, "[", ")") for place in places[1::2]),
    ):
        if found[place].text == sign:
            turned[place] = Token("sign", round_one, found[place].gap)
    return turned


def _is_stop(token: Token) -> bool:
    return (token.kind == "sign" and token.text in (".", ",", ";")) or (token.kind == "command" and token.text == "\\")


def _is_text(found: list[Token]) -> bool:
    words = [token for token in found if token.kind == "word" and token.text.casefold() not in atoms.SEPARATORS]
    if not words:
        return False
    if len(found) == 1:
        return len(words[0].text) > 1
    letters = [token for token in found if token.kind == "letter"]
    if letters and not any(word.in_text or len(word.text) > 2 for word in words):
        return False
    if [token.text for token in found if token.kind == "sign" and token.text in "()"] and len(words[0].text) == 1:
        return False
    return all(
        token.kind in ("word", "letter") or (token.kind == "sign" and token.text in _BETWEEN_WORDS) for token in found
    )


def _words(found: list[Token]) -> Node:
    """Words, or a list of them where commas or "and" stand between."""
    parts: list[list[Token]] = [[]]
    how = ","
    for token in found:
        if token.text in (",", ";") and token.kind == "sign":
            parts.append([])
        elif token.kind == "word" and (separator := atoms.SEPARATORS.get(token.text.casefold())):
            how = separator
            parts.append([])
        else:
            parts[-1].append(token)
    items = [_phrase(part) for part in parts if part]
    if not items:
        raise UnreadableError("nothing but separators")
    return items[0] if len(items) == 1 else node("list", items, how)


def _phrase(part: list[Token]) -> Node:
    only, phrase = part[0], plain(part)
    if phrase in _NO_VALUES:
        return _NO_VALUE
    if phrase in _NO_SOLUTIONS:
        return _NO_SOLUTION
    if len(part) == 1 and (only.kind == "letter" or len(only.text) == 1):
        return symbol(only.text)
    if len(part) == 1 and not only.in_text and len(only.text) <= 6:
        return node("words", [product([symbol(letter) for letter in only.text])], phrase)
    return _PHRASES.get(phrase) or node("words", [], phrase)


forget = _read_once.cache_clear
"""Forget all trees that are kept, for measurements."""
