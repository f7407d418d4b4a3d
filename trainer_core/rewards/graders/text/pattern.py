"""Regular expressions from users: bounded in memory when they are compiled, and in time when they are matched."""

import math
from typing import Any

import regex  # type: ignore[import-untyped]

from trainer_core.rewards.errors import GraderError
from trainer_core.spec.untrusted import refuse_if

MATCH_SECONDS = 0.2
MAX_TEXT = 20_000
"""Longer answers do not match."""
_MAX_REPEATS = 1000
"""The engine writes counted repeats out: ``((a{9999}){9999}){9999}`` would fill the memory of the web process."""


def check_pattern(pattern: str) -> str:
    """``pattern``, if it is a regular expression that is safe to compile.

    Raises:
        ValueError: it is none, is written in verbose mode, or its counted repeats multiply to more than 1000.
    """
    if regex.search(r"\(\?[a-zA-Z0-9]*x", pattern):
        # Spaces and comments could hide a count, as in a{9 9 9 9}.
        raise ValueError("verbose mode is not supported")
    counts = [int(low or 0) for low in regex.findall(r"\{\s*(\d*)\s*(?:,\s*\d*\s*)?\}", pattern)]
    if math.prod(max(count, 1) for count in counts) > _MAX_REPEATS:
        raise ValueError(f"the counted repeats multiply to more than {_MAX_REPEATS}")
    refuse_if(pattern_fault, pattern)
    return pattern


def pattern_fault(pattern: str) -> str | None:
    """Reason why ``pattern`` is not a regular expression, or None."""
    try:
        regex.compile(pattern)
    except (regex.error, RecursionError, OverflowError, ValueError) as error:
        return f"not a regular expression: {error}"
    return None


def matches(pattern: str, text: str, name: str = "pattern") -> bool:
    """Whether ``pattern``, the value of the field ``name``, matches the whole ``text``.

    Raises:
        GraderError: matching takes too long, which is the pattern's fault.
    """
    return _run(regex.fullmatch, pattern, text, name)


def found(pattern: str, text: str) -> bool:
    """Whether ``pattern`` matches somewhere in ``text``. Raises as ``matches`` does."""
    return _run(regex.search, pattern, text, "pattern")


def _run(how: Any, pattern: str, text: str, name: str) -> bool:
    if len(text) > MAX_TEXT:
        return False
    try:
        match = how(pattern, text, timeout=MATCH_SECONDS)
    except TimeoutError:
        raise GraderError(f"{name} took longer than {MATCH_SECONDS} s; simplify it") from None
    return match is not None
