"""Instructions with an answer, as of Alpaca (Taori et al., 2023)."""

from trainer_core.datasets.fields import asked, json_type, renamed_to_source, text_of, with_columns
from trainer_core.datasets.shape import Mapped, Row, Shape

_NEEDED = ("instruction", "input", "output")
_MORE = ("prompt", "messages", "history", "system")
"""Columns that change the question. Rows that have one need a mapping."""


def _matches(row: Row) -> bool:
    return all(isinstance(row.get(name), str) for name in _NEEDED) and not any(map(row.get, _MORE))


def _convert(row: Row) -> Row:
    question, given, output = text_of(row, "instruction"), row.get("input"), row.get("output")
    for name, value in (("input", given), ("output", output)):
        if not isinstance(value, str) and (name == "output" or value is not None):
            raise ValueError(f"`{name}` must be a string, not {json_type(value)}.")
    if given:
        question = f"{question}\n\n{given}"
    return with_columns(renamed_to_source(row, "messages", "completion"), messages=asked(question), completion=output)


ALPACA = Shape(
    name="alpaca",
    title="Alpaca",
    columns="`instruction`, `input` and `output`",
    mapping=(
        Mapped("messages", "`instruction`, with `input` below it, as the user's message"),
        Mapped("completion", "`output`"),
        Mapped("source_completion", "`completion`, if the file has one"),
    ),
    matches=_matches,
    convert=_convert,
)
