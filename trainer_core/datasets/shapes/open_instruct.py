"""open-instruct's rows for verifiable rewards (Lambert et al., Tülu 3, arXiv 2411.15124): ``ground_truth`` and
``dataset``, the name of the verifier; either a text, or lists of equal length."""

from trainer_core.datasets.fields import gold_of, is_gold
from trainer_core.datasets.shape import Mapped, Row, Shape
from trainer_core.datasets.shapes.roll import answered


def _matches(row: Row) -> bool:
    names = row.get("dataset")
    if isinstance(names, list):
        names = names[0] if names else None
    asks = "messages" in row or "prompt" in row
    return asks and "answer" not in row and isinstance(names, str) and is_gold(row.get("ground_truth"))


def _convert(row: Row) -> Row:
    truths, names = gold_of(row, "ground_truth"), row.get("dataset")
    if isinstance(truths, list) and isinstance(names, list) and len(truths) != len(names):
        raise ValueError(f"`ground_truth` lists {len(truths)} answers, and `dataset` the verifiers of {len(names)}.")
    # One truth in a list is how the format writes every row, not a list of alternatives.
    gold = truths[0] if isinstance(truths, list) and len(truths) == 1 else truths
    return answered(row, gold)


OPEN_INSTRUCT = Shape(
    name="open_instruct",
    title="open-instruct (RLVR)",
    columns="`messages` or `prompt` with `ground_truth` and `dataset`, texts or lists",
    mapping=(
        Mapped("messages", "`messages`, or a `prompt` that is a chat"),
        Mapped("prompt", "`prompt`, if it is text and there are no messages"),
        Mapped("answer", "`ground_truth`; the only one of a list as text, several as a list"),
        Mapped("source_prompt", "`prompt`, if there are messages, too"),
    ),
    matches=_matches,
    convert=_convert,
    grader={"type": "math", "reference": "answer"},
)
