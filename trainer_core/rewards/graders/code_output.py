"""Whether a program's output is the expected one."""

import math


def same_lines(given: str, wanted: str) -> bool:
    """Line by line, without white space at the ends of lines and of the text."""
    return _lines(given) == _lines(wanted)


def same_words(given: str, wanted: str) -> bool:
    """Word by word."""
    return given.split() == wanted.split()


def same_numbers(given: str, wanted: str, tolerance: float) -> bool:
    """Word by word, numbers within ``tolerance``: of the expected number where that is above 1, else absolute."""
    words, expected = given.split(), wanted.split()
    return len(words) == len(expected) and all(map(_near, words, expected, [tolerance] * len(words)))


def _near(word: str, expected: str, tolerance: float) -> bool:
    if word == expected:
        return True
    try:
        number, target = float(word), float(expected)
    except ValueError:
        return False
    if not (math.isfinite(number) and math.isfinite(target)):
        return number == target
    return abs(number - target) <= tolerance * max(1.0, abs(target))


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]
