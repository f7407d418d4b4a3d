"""TRL's conversational rows: ``prompt`` is a chat. Other columns, such as ``solution``, are left for the reward."""

from trainer_core.datasets.fields import is_chat, list_in, with_columns, without
from trainer_core.datasets.shape import Mapped, Row, Shape


def _convert(row: Row) -> Row:
    return with_columns(without(row, "prompt"), messages=list_in(row, "prompt"))


CONVERSATIONAL = Shape(
    name="conversational",
    title="TRL conversational",
    columns="`prompt` (a chat)",
    mapping=(Mapped("messages", "`prompt`, which is a chat"),),
    matches=lambda row: "messages" not in row and isinstance(row.get("prompt"), list) and is_chat(row["prompt"]),
    convert=_convert,
)
