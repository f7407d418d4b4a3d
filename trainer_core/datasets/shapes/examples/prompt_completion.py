"""TRL's conversational prompt-completion rows. Completions that are text are stored as they come."""

from trainer_core.datasets.fields import asked, is_chat, list_in, text_of, with_columns, without
from trainer_core.datasets.shape import Mapped, Row, Shape
from trainer_core.datasets.shapes.examples.chats import is_answered, split, written


def _matches(row: Row) -> bool:
    asks = isinstance(row.get("prompt"), str) or is_chat(row.get("prompt"))
    return asks and "messages" not in row and is_answered(row.get("completion"))


def _convert(row: Row) -> Row:
    prompt, completion = row.get("prompt"), row.get("completion")
    chat = list_in(row, "prompt") if is_chat(prompt) else asked(text_of(row, "prompt"))
    if not isinstance(completion, list):
        raise ValueError("`completion` must be a list of messages, as in the rows before it.")
    messages, last = split([*chat, *completion], "completion")
    return with_columns(without(row, "prompt"), messages=messages, **written("completion", last))


PROMPT_COMPLETION = Shape(
    name="prompt_completion",
    title="TRL prompt-completion",
    columns="`prompt` with `completion` (messages of the model)",
    mapping=(
        Mapped("messages", "`prompt`, and `completion` without its last message"),
        Mapped("completion", "the last message of `completion`"),
        Mapped("source_completion", "that message whole, if it holds more than text"),
    ),
    matches=_matches,
    convert=_convert,
)
