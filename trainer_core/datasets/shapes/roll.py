"""ROLL's rows, as of DeepMath, and others with ``ground_truth``; the chat is often JSON text."""

from trainer_core.datasets.fields import gold_of, is_chat, list_in, text_of, with_columns, without
from trainer_core.datasets.shape import Mapped, Row, Shape


def _matches(row: Row) -> bool:
    return ("ground_truth" in row and ("prompt" in row or "messages" in row)) or isinstance(row.get("messages"), str)


def _convert(row: Row) -> Row:
    # The chat comes first: in some files ``prompt`` is only its system message.
    gold = row.get("answer") if row.get("ground_truth") is None else gold_of(row, "ground_truth")
    if not row.get("messages") and not is_chat(row.get("prompt")):
        return with_columns(without(row, "messages"), prompt=text_of(row, "prompt"), answer=gold)
    kept = without(row, "prompt", "messages")
    if not row.get("messages"):
        return with_columns(kept, messages=list_in(row, "prompt"), answer=gold)
    if "prompt" in row:
        kept["source_prompt"] = row["prompt"]
    return with_columns(kept, messages=list_in(row, "messages"), answer=gold)


ROLL = Shape(
    name="roll",
    title="ROLL (DeepMath)",
    columns="`messages` or `prompt`, as text, a chat or its JSON text, with `ground_truth`",
    mapping=(
        Mapped("messages", "`messages`, or a `prompt` that is a chat, read where they are JSON text"),
        Mapped("prompt", "`prompt`, where it is text and there are no messages"),
        Mapped("answer", "`ground_truth`"),
        Mapped("source_prompt", "`prompt`, where there are messages, too"),
    ),
    matches=_matches,
    convert=_convert,
    grader={"type": "math", "reference": "answer", "extraction": "boxed"},
)
