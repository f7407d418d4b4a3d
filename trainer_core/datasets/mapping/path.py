"""Paths into a row: ``question``, ``reward_model.ground_truth``, ``choices[0]``, ``turns[-1].value``, ``["a.b"].c``."""

import json
from collections.abc import Iterable
from typing import Any

from trainer_core.datasets.fields import json_type
from trainer_core.datasets.shape import Row

MAX_PATH = 1_000
MAX_STEPS = 16
_SIGNS = frozenset('.[]{}"|?')
"""Characters that names without quotes cannot contain."""
Step = str | int
MISSING = object()
"""Value that ``value_at`` returns for a place that a row does not have."""


def parse_path(text: str) -> tuple[Step, ...]:
    """Keys and positions from the row inwards.

    Raises:
        ValueError: with a message.
    """
    if len(text) > MAX_PATH:
        raise ValueError(f"A path has at most {MAX_PATH:,} characters.")
    steps: list[Step] = []
    place = 0
    while place < len(text) or not steps:
        if text.startswith("[", place):
            step, place = _bracket(text, place)
        else:
            if steps:
                if text[place] != ".":
                    raise ValueError(f"The path `{text[:80]}` needs a `.` or `[` at character {place + 1}.")
                place += 1
            start = place
            while place < len(text) and text[place] not in _SIGNS:
                place += 1
            step = text[start:place].strip()
            if not step:
                raise ValueError(_unnamed(text, start))
            if place < len(text) and text[place] not in ".[":
                raise ValueError(_unnamed(text, place))
        steps.append(step)
        if len(steps) > MAX_STEPS:
            raise ValueError(f"The path `{text[:80]}…` has more than {MAX_STEPS} steps.")
    if isinstance(steps[0], int):
        raise ValueError(f"The path `{text[:80]}` must begin with the name of a column.")
    return tuple(steps)


def written(steps: Iterable[Step]) -> str:
    """The text of a path, with quotes if a name needs them."""
    text = ""
    for step in steps:
        if isinstance(step, int):
            text += f"[{step}]"
        elif not step or step != step.strip() or _SIGNS & set(step):
            text += f"[{json.dumps(step, ensure_ascii=False)}]"
        else:
            text += f".{step}" if text else step
    return text


def value_at(row: Row, steps: tuple[Step, ...]) -> Any:
    """The value at a path, or ``MISSING`` if the row has none there."""
    value: Any = row
    for step in steps:
        if isinstance(step, str):
            if not isinstance(value, dict) or step not in value:
                return MISSING
            value = value[step]
        else:
            if not isinstance(value, list) or not -len(value) <= step < len(value):
                return MISSING
            value = value[step]
    return value


def required(row: Row, steps: tuple[Step, ...]) -> Any:
    """The value at a path.

    Raises:
        ValueError: the row has none there; the message says how far the path exists.
    """
    value: Any = row
    for depth, step in enumerate(steps):
        inner = value_at({"": value}, ("", step))
        if inner is MISSING:
            name = shown(steps)
            if depth == 0:
                raise ValueError(f"The row has no column `{shown(steps[:1])}`, which the mapping reads.")
            around = f"`{shown(steps[:depth])}`"
            if isinstance(step, int) and isinstance(value, list):
                count = "1 element" if len(value) == 1 else f"{len(value)} elements"
                raise ValueError(f"The row has no `{name}`: {around} has {count}.")
            raise ValueError(f"The row has no `{name}`: {around} is {article(json_type(value))} without it.")
        value = inner
    return value


def shown(steps: Iterable[Step]) -> str:
    """A path for messages, shortened if needed."""
    text = written(steps)
    return text if len(text) <= 80 else f"{text[:79]}…"


def article(kind: str) -> str:
    """The name of a JSON type with its article."""
    if kind == "null":
        return kind
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _bracket(text: str, start: int) -> tuple[Step, int]:
    if text.startswith('["', start):
        try:
            name, end = json.JSONDecoder().raw_decode(text, start + 1)
            name.encode()
        except ValueError as error:
            raise ValueError(f"The path `{text[:80]}` has a quote that is not closed as in JSON.") from error
        if not text.startswith("]", end):
            raise ValueError(f"The path `{text[:80]}` has a `[` that is not closed.")
        return name, end + 1
    end = text.find("]", start)
    digits = text[start + 1 : end] if end > 0 else ""
    if not (digits.removeprefix("-").isascii() and digits.removeprefix("-").isdigit() and len(digits) <= 7):
        raise ValueError(
            f'The path `{text[:80]}` needs a position such as [0], or a name in quotes such as ["a.b"], '
            f"at character {start + 1}."
        )
    return int(digits), end + 1


def _unnamed(text: str, place: int) -> str:
    return (
        f"The path `{text[:80]}` has no name at character {place + 1}. Put names with one of "
        f"{' '.join(sorted(_SIGNS))} in brackets and quotes: "
        '["a.b"].'
    )
