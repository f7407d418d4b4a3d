"""Whether a program's output is the expected one."""

import math
import re

_NUMBER = re.compile(r"((?<![\w.])[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))")
"""A number inside a word, and no part of a name or of a version."""
_DIGIT = re.compile(r"\d")


def same_lines(given: str, wanted: str) -> bool:
    """Line by line, without white space at the ends of lines and of the text."""
    return _lines(given) == _lines(wanted)


def same_words(given: str, wanted: str) -> bool:
    """Word by word."""
    return given.split() == wanted.split()


def same_numbers(given: str, wanted: str, tolerance: float) -> bool:
    """Word by word, numbers within ``tolerance``: of the expected number if that is above 1, else absolute.

    Numbers inside a word count as well: those of ``[0.1,`` or ``x=2.5``.
    """
    words, expected = given.split(), wanted.split()
    return len(words) == len(expected) and all(map(_same_word, words, expected, [tolerance] * len(words)))


def _same_word(word: str, expected: str, tolerance: float) -> bool:
    if word == expected or _near(word, expected, tolerance):
        return True
    parts, wanted = _NUMBER.split(word), _NUMBER.split(expected)
    return (
        len(parts) == len(wanted) > 1
        and parts[::2] == wanted[::2]
        and all(map(_near, parts[1::2], wanted[1::2], [tolerance] * (len(parts) // 2)))
    )


def _near(word: str, expected: str, tolerance: float) -> bool:
    if word == expected:
        return True
    try:
        number, target = float(word), float(expected)
    except ValueError:
        return False
    if not (math.isfinite(number) and math.isfinite(target)):
        # what is too large for a float is infinite only if it says so
        return number == target and not _DIGIT.search(word + expected)
    return abs(number - target) <= tolerance * max(1.0, abs(target))


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]
