"""Rows in verl's training format, such as DAPO-Math-17k: a chat, and the gold answer inside ``reward_model``."""

import json

from trainer_core.datasets.fields import gold_of, is_chat, is_gold, list_in, renamed_to_source, with_columns, without
from trainer_core.datasets.shape import Mapped, Row, Shape


def _matches(row: Row) -> bool:
    if "reward_model" not in row or not is_chat(row.get("prompt")):
        return False
    # A text prompt can be stored as it is, with its answer.
    return isinstance(row["prompt"], list) or ("answer" not in row and isinstance(row["reward_model"], dict))


def _convert(row: Row) -> Row:
    model = row.get("reward_model")
    if not isinstance(model, dict):
        raise ValueError("`reward_model` must be an object with `ground_truth`.")
    truth = model.get("ground_truth")
    if isinstance(truth, dict | list) and not is_gold(truth):
        # Some rewards store an object there, such as tests. A custom grader gets it as text.
        gold: str | list[str] = json.dumps(truth, ensure_ascii=False)
    else:
        gold = gold_of(model, "ground_truth")
    kept = renamed_to_source(without(row, "prompt"), "answer")
    return with_columns(kept, messages=list_in(row, "prompt"), answer=gold)


VERL = Shape(
    name="verl",
    title="verl (DAPO-Math)",
    columns="`prompt` (a chat) and `reward_model` with `ground_truth`",
    mapping=(
        Mapped("messages", "`prompt`, which is a chat"),
        Mapped("answer", "`ground_truth` in `reward_model`; a list of accepted answers stays one"),
        Mapped("source_answer", "`answer`, if there is one too"),
    ),
    matches=_matches,
    convert=_convert,
    grader={"type": "math", "reference": "answer", "extraction": "last_number"},
)
