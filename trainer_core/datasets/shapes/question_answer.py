"""Questions with a short gold answer, as AIME's are passed around."""

from trainer_core.datasets.fields import asked, gold_of, text_of, with_columns
from trainer_core.datasets.shape import BOXED, Mapped, Row, Shape


def _convert(row: Row) -> Row:
    gold = gold_of(row, "ground_truth" if row.get("answer") is None else "answer")
    return with_columns(row, messages=asked(text_of(row, "question")), answer=gold)


QUESTION_ANSWER = Shape(
    name="question_answer",
    title="Questions with a final answer (AIME)",
    columns="`question` with `answer` or `ground_truth`",
    mapping=(
        Mapped("messages", "`question` as the user's message"),
        Mapped("answer", "`answer`, else `ground_truth`"),
    ),
    matches=lambda row: "question" in row and ("answer" in row or "ground_truth" in row),
    convert=_convert,
    grader={"type": "math", "reference": "answer", "extraction": "boxed"},
    system=BOXED,
)
