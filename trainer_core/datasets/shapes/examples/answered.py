"""Chats that the model ends, as for supervised fine-tuning: OpenAI's, TRL's and those of the Hub."""

from trainer_core.datasets.fields import renamed_to_source, with_columns
from trainer_core.datasets.shape import Mapped, Row, Shape
from trainer_core.datasets.shapes.examples.chats import is_answered, split, written

_GRADED = ("prompt", "ground_truth", "reward_model", "reference_answer", "chosen", "rejected")
"""Columns of other shapes, which ask the policy for the answer."""


def _matches(row: Row) -> bool:
    return is_answered(row.get("messages")) and not any(name in row for name in _GRADED)


def _convert(row: Row) -> Row:
    messages, last = split(row.get("messages"), "messages")
    if not messages:
        raise ValueError("`messages` has only a message of the model: there is nothing to answer.")
    return with_columns(renamed_to_source(row, "completion"), messages=messages, **written("completion", last))


ANSWERED = Shape(
    name="answered",
    title="Answered chats (OpenAI, TRL)",
    columns="`messages` (a chat that the model ends)",
    mapping=(
        Mapped("messages", "`messages` without the model's last message"),
        Mapped("completion", "the model's last message"),
        Mapped("source_completion", "that message whole, if it holds more than text, or else a `completion` of before"),
    ),
    matches=_matches,
    convert=_convert,
)
