"""UltraChat's rows as Zephyr was trained on (Ding et al., arXiv 2305.14233; Tunstall et al., arXiv 2310.16944): the
first question as ``prompt``, and the whole chat as ``messages``, which the model ends."""

from trainer_core.datasets.fields import is_chat, renamed_to_source, with_columns, without
from trainer_core.datasets.shape import Mapped, Row, Shape


def _matches(row: Row) -> bool:
    messages = row.get("messages")
    return isinstance(row.get("prompt"), str) and isinstance(messages, list) and is_chat(messages)


def _convert(row: Row) -> Row:
    messages = row.get("messages")
    if not isinstance(messages, list) or not messages:
        raise ValueError("`messages` must be a list of at least one message.")
    messages, reference = list(messages), None
    while messages and isinstance(messages[-1], dict) and messages[-1].get("role") == "assistant":
        reference = messages.pop().get("content")
    if not messages:
        raise ValueError("`messages` has only messages of the model: there is nothing to ask.")
    made: Row = {"messages": messages, "reference": reference}
    if "prompt" in row:
        made["source_prompt"] = row["prompt"]
    return with_columns(renamed_to_source(without(row, "prompt"), "reference"), **made)


ULTRACHAT = Shape(
    name="ultrachat",
    title="UltraChat (Zephyr)",
    columns="`prompt` (text) and `messages` (a chat)",
    mapping=(
        Mapped("messages", "`messages` without the model's last message"),
        Mapped("reference", "what the model said last"),
        Mapped("source_prompt", "`prompt`"),
        Mapped("source_reference", "`reference`, if the file has one"),
    ),
    matches=_matches,
    convert=_convert,
)
