"""IFEval (Zhou et al., arXiv 2311.07911) and similar: instructions that a program can check."""

from typing import Any

from trainer_core.datasets.fields import asked, is_chat, list_in, text_of, texts_of, with_columns, without
from trainer_core.datasets.shape import Mapped, Row, Shape


def _convert(row: Row) -> Row:
    messages = list_in(row, "prompt") if is_chat(row.get("prompt")) else asked(text_of(row, "prompt"))
    names = texts_of(row, "instruction_id_list")
    given = row.get("kwargs")
    if not isinstance(given, list) or len(given) != len(names):
        raise ValueError(f"`kwargs` must list one object for each of the {len(names)} instructions.")
    return with_columns(without(row, "prompt"), messages=messages, kwargs=[_parameters(one) for one in given])


def _parameters(given: Any) -> dict[str, Any]:
    """The parameters of one check. Files converted from Parquet name the parameters of all checks, with null for unused
    ones."""
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise ValueError("`kwargs` must list objects.")
    return {name: value for name, value in given.items() if value is not None}


IFEVAL = Shape(
    name="ifeval",
    title="IFEval",
    columns="`prompt`, `instruction_id_list` and `kwargs`",
    mapping=(
        Mapped("messages", "`prompt` as the user's message"),
        Mapped("kwargs", "`kwargs` without parameters that are null"),
    ),
    matches=lambda row: (
        "prompt" in row and isinstance(row.get("instruction_id_list"), list) and isinstance(row.get("kwargs"), list)
    ),
    convert=_convert,
    grader={"type": "ifeval"},
)
