"""Rows of verifiers' environments: a question, perhaps an answer, and what their rubrics read in ``info``."""

from typing import Any

from trainer_core.datasets.fields import asked, gold_of, text_of, with_columns
from trainer_core.datasets.json_text import read_json
from trainer_core.datasets.shape import Mapped, Row, Shape


def _convert(row: Row) -> Row:
    made: Row = {"messages": asked(text_of(row, "question"))}
    if row.get("answer") not in (None, "", []):
        made["answer"] = gold_of(row, "answer")
    elif "answer" in row:
        made["answer"] = None
    if "info" in row:
        made["info"] = _info(row["info"])
    return with_columns(row, **made)


def _info(value: Any) -> Any:
    if isinstance(value, str) and value.strip():
        try:
            value = read_json(value)
        except ValueError as error:
            raise ValueError(f"`info` is text that {error}.") from error
    if value not in (None, "") and not isinstance(value, dict):
        raise ValueError("`info` must be an object, or an object as JSON text.")
    return value or {}


VERIFIERS = Shape(
    name="verifiers",
    title="verifiers",
    columns="`question` with `info` or `task`, and optionally `answer`",
    mapping=(
        Mapped("messages", "`question` as the user's message"),
        Mapped("answer", "`answer`; an empty one is ignored"),
        Mapped("info", "`info`, parsed if it is JSON text"),
    ),
    matches=lambda row: "question" in row and ("info" in row or "task" in row),
    convert=_convert,
)
