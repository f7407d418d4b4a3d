"""Times of day and durations, such as 8:05 AM: what looks like a ratio and is none."""

from dataclasses import dataclass

from trainer_core.rewards.mathematics.stream import Stream
from trainer_core.rewards.mathematics.tokens import Token
from trainer_core.rewards.mathematics.tree import Node, is_number, node

_HALF = 12 * 60 * 60
_OCLOCK = {"uhr", "hours", "hrs", "h", "o'clock", "o’clock"}


@dataclass(frozen=True, slots=True)
class _Time:
    """Seconds since midnight, by the half of the day if one is named."""

    seconds: int
    half: str
    is_open: bool
    """Whether it may mean either half of the day: without AM or PM, between 1 and 12, without a zero in front."""


def read_time(stream: Stream) -> Node | None:
    """Take a time of day; None if there is none.

    ``10:30`` is a ratio unless AM or PM follows: only minutes below ten, written with their zero, show a time by
    themselves.
    """
    tokens = [stream.peek()]
    while len(tokens) < 5 and stream.at(":", ahead=len(tokens)) and _is_sixtieth(stream.peek(len(tokens) + 1)):
        tokens += [stream.peek(len(tokens)), stream.peek(len(tokens) + 1)]
    parts = tokens[::2]
    hours = parts[0]
    if len(parts) == 1 or not (hours.kind == "number" and hours.text.isdigit() and len(hours.text) <= 3):
        return None
    if stream.at(":", ahead=len(tokens)) or stream.at(":", ahead=-1):
        return None
    half = half_of_the_day(stream.peek(len(tokens)))
    if not half and not any(part.text.startswith("0") for part in parts):
        return None
    stream.place += len(tokens) + bool(half)
    if not half and stream.peek().kind == "word" and stream.peek().text.casefold() in _OCLOCK:
        stream.take()
    return node("time", [], ":".join(part.text for part in parts) + half)


def half_of_the_day(token: Token) -> str:
    """ "am" or "pm", if ``token`` says so; else nothing."""
    half = token.text.casefold().replace(".", "") if token.kind == "word" else ""
    return half if half in ("am", "pm") else ""


def _is_sixtieth(token: Token) -> bool:
    return token.kind == "number" and token.text.isdigit() and len(token.text) == 2 and token.value < 60


def same_times(gold: Node, answer: Node, half_required: bool) -> bool:
    """Whether two answers, at least one of them a time, are the same time. One side may omit AM or PM.

    Args:
        half_required: whether the answer must say which half of the day it is if the gold answer does.
    """
    one, other = _time(gold), _time(answer)
    if one is None or other is None:
        return False
    if one.seconds == other.seconds and (one.half == other.half or not (one.half and other.half)):
        return not (half_required and one.half and other.is_open)
    named, unnamed = (one, other) if one.half else (other, one)
    if not (named.half and unnamed.is_open) or (half_required and named is one):
        return False
    return (one.seconds - other.seconds) % _HALF == 0


def _time(tree: Node) -> _Time | None:
    text, half = tree.text, ""
    if tree.head == "quantity" and text in ("am", "pm") and is_number(tree.parts[0]):  # 8 AM
        half, text = text, str(tree.parts[0].value)
    elif tree.head == "ratio":  # 10:30
        terms = [part.value if is_number(part) else None for part in tree.parts]
        if len(terms) > 3 or any(term is None or not 10 <= term < 60 for term in terms[1:]):
            return None
        text = ":".join(map(str, terms))
    elif tree.head == "time" and text.endswith("m"):
        text, half = text[:-2], text[-2:]
    elif tree.head != "time":
        return None
    parts = text.split(":")
    if not all(map(str.isdigit, parts)):
        return None
    hours, minutes, seconds = (*map(int, parts), 0, 0)[:3]
    if half and not 1 <= hours <= 12:
        return None
    is_open = not half and 1 <= hours <= 12 and not parts[0].startswith("0")
    hours = hours % 12 + 12 * (half == "pm") if half else hours
    return _Time(3600 * hours + 60 * minutes + seconds, half, is_open)
