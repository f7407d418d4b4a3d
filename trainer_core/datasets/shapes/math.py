"""MATH (Hendrycks et al., arXiv 2103.03874) and similar: a problem, its solution, perhaps the final answer."""

from trainer_core.datasets.fields import asked, gold_of, text_of, with_columns
from trainer_core.datasets.shape import BOXED, Mapped, Row, Shape
from trainer_core.rewards.graders.math.extract import boxed


def _matches(row: Row) -> bool:
    return "problem" in row and any(column in row for column in ("answer", "solution", "ground_truth"))


def _convert(row: Row) -> Row:
    return with_columns(row, messages=asked(text_of(row, "problem")), answer=_gold(row))


def _gold(row: Row) -> str | list[str]:
    for column in ("answer", "ground_truth"):
        if row.get(column) is not None:
            return gold_of(row, column)
    boxes = boxed(text_of(row, "solution"))
    if not boxes or not boxes[-1]:
        raise ValueError("The row has no `answer`, and its `solution` has no \\boxed{} with it.")
    return boxes[-1]


MATH = Shape(
    name="math",
    title="MATH",
    columns="`problem` with `answer`, `ground_truth` or a `solution` that contains a \\boxed{}",
    mapping=(
        Mapped("messages", "`problem` as the user's message"),
        Mapped("answer", "`answer` or `ground_truth`, else the last \\boxed{} of `solution`"),
    ),
    matches=_matches,
    convert=_convert,
    grader={"type": "math", "reference": "answer", "extraction": "boxed"},
    system=BOXED,
)
