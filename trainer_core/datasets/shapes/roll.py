"""ROLL's rows, as in DeepMath, and others with ``ground_truth``; the chat is often JSON text."""

from typing import Any

from trainer_core.datasets.fields import (
    gold_of,
    is_chat,
    is_gold,
    is_own,
    list_in,
    renamed_to_source,
    text_of,
    with_columns,
    without,
)
from trainer_core.datasets.shape import Mapped, Row, Shape


def _matches(row: Row) -> bool:
    if isinstance(row.get("messages"), str):
        return True
    if "prompt" in row and "messages" in row:
        return "ground_truth" in row
    # A stated answer is the gold answer, and a ground truth that is an object is for a custom reward.
    return ("prompt" in row or "messages" in row) and "answer" not in row and is_gold(row.get("ground_truth"))


def _convert(row: Row) -> Row:
    if is_own(row) and not _matches(row):
        return row
    if row.get("ground_truth") is None:
        return answered(row, row.get("answer"))
    return answered(renamed_to_source(row, "answer"), gold_of(row, "ground_truth"))


def answered(row: Row, gold: Any) -> Row:
    """The row with its chat, or else its text prompt, and the gold answer. Raises ValueError."""
    if not row.get("messages") and not is_chat(row.get("prompt")):
        return with_columns(without(row, "messages"), prompt=text_of(row, "prompt"), answer=gold)
    kept = without(row, "prompt", "messages")
    if not row.get("messages"):
        return with_columns(kept, messages=list_in(row, "prompt"), answer=gold)
    if "prompt" in row:  # in some files it is only the system message of the chat
        kept["source_prompt"] = row["prompt"]
    return with_columns(kept, messages=list_in(row, "messages"), answer=gold)


ROLL = Shape(
    name="roll",
    title="ROLL (DeepMath)",
    columns="`messages` or `prompt`, as text, a chat or its JSON text, with `ground_truth`",
    mapping=(
        Mapped("messages", "`messages`, or a `prompt` that is a chat, parsed if they are JSON text"),
        Mapped("prompt", "`prompt`, if it is text and there are no messages"),
        Mapped("answer", "`ground_truth`"),
        Mapped("source_prompt", "`prompt`, if there are messages too"),
        Mapped("source_answer", "`answer`, if it differs from `ground_truth`"),
    ),
    matches=_matches,
    convert=_convert,
    grader={"type": "math", "reference": "answer", "extraction": "boxed"},
)
