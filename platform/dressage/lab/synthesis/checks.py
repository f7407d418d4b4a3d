"""Cheap checks of a variation, made before a model answers it."""

import json
import re
from typing import NamedTuple

from dressage.datasets.limits import MAX_ROW_BYTES
from dressage.lab.reports import RefusalReason
from dressage.lab.synthesis.likeness import near_one
from dressage.lab.synthesis.numbers import numbers_in, other_numbers
from dressage.lab.synthesis.prompts import WrittenQuestion
from dressage.lab.synthesis.source import SourceRow
from trainer_core.datasets import control_tokens
from trainer_core.datasets.invisible import is_blank

_TIMES = 3
"""Factor by which a variation may be longer or shorter than its source."""
_SPARE = 200
"""Difference in characters that is always allowed."""
_WHOLE = re.compile(r"-?[0-9]{1,30}")
_UNREADABLE = re.compile("[\0\ud800-\udfff\ufffd]")


class VariationRefusal(NamedTuple):
    """Why a variation is not kept."""

    reason: RefusalReason
    detail: str


def refusal_of(
    source: SourceRow, written: WrittenQuestion, others: list[str], *, same_numbers: bool, near: float
) -> VariationRefusal | None:
    """Reason why a text is not a valid variation of a row; None if it is valid.

    Args:
        source: the row.
        written: the text from the model.
        others: earlier variations of the row.
        same_numbers: whether it must have the same numbers.
        near: Jaccard similarity at or above which two texts say the same.
    """
    text, answer = written.text, written.answer
    if is_blank(text):
        return VariationRefusal("empty", "It has no visible text.")
    if _UNREADABLE.search(text):
        return VariationRefusal("unreadable", "It contains characters that no policy can read.")
    if tokens := control_tokens(text):
        return VariationRefusal("control_tokens", f"It contains text like control tokens: {', '.join(tokens[:5])}.")
    if refused := _length(source, text):
        return refused
    if answer is not None and not _WHOLE.fullmatch(answer):
        return VariationRefusal("answer_not_whole", f"Its answer, {_short(answer)!r}, is not a whole number.")
    for told in (source.answer, answer or ""):
        if leaks(source.text, told, text):
            return VariationRefusal("answer_told", f"It reveals the answer, {_short(told)}, which its source does not.")
    if same_numbers and (detail := other_numbers(source.text, text)):
        return VariationRefusal("other_numbers", detail)
    # A variation with its own answer asks for something else, although most of its words are those of its source.
    if near_one(text, [source.text], near if answer is None else 1.0):
        return VariationRefusal("alike", "It is nearly identical to its source.")
    if near_one(text, others, near):
        return VariationRefusal("alike", "It is nearly identical to another variation of the same row.")
    return None


def leaks(source: str, answer: str, text: str) -> bool:
    """Whether a text contains the answer as a separate word or number, and its source does not."""
    answer = answer.strip()
    if not answer:
        return False
    numbers = numbers_in(answer)
    if len(numbers) == 1 and not re.search(r"[^\W\d_]", answer):  # 1,000 is 1000
        return numbers <= numbers_in(text) and not numbers <= numbers_in(source)
    return _holds(text, answer) and not _holds(source, answer)


def _holds(text: str, answer: str) -> bool:
    flags = re.I if len(answer) > 1 else 0  # the option letter A is not the word "a"
    return re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text, flags) is not None


def _length(source: SourceRow, text: str) -> VariationRefusal | None:
    own, least, most = len(source.text), len(source.text) // _TIMES - _SPARE, len(source.text) * _TIMES + _SPARE
    if not least <= len(text) <= most:
        bounds = f"from {max(least, 1):,} to {most:,}"
        return VariationRefusal(
            "length", f"It has {len(text):,} characters, and its source {own:,}: allowed are {bounds}."
        )
    if len(json.dumps(source.with_text(text), ensure_ascii=False).encode()) > MAX_ROW_BYTES - 1_000:
        return VariationRefusal("length", f"The row would have more than {MAX_ROW_BYTES:,} bytes.")
    return None


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}…"
