"""Questions with a short gold answer, the usual form of AIME."""

from trainer_core.datasets.fields import asked, gold_of, is_gold, text_of, with_columns
from trainer_core.datasets.shape import BOXED, Mapped, Row, Shape

_ABOUT = ("context", "passage", "article", "paragraph", "story", "choices", "options", "endings")
"""Columns that such a question depends on. Rows that have one need a mapping, so that the prompt shows it."""


def _matches(row: Row) -> bool:
    gold = row.get("ground_truth") if row.get("answer") is None else row["answer"]
    fits = is_gold(gold) if isinstance(gold, list) else not isinstance(gold, bool | dict)
    return "question" in row and ("answer" in row or "ground_truth" in row) and fits and not any(map(row.get, _ABOUT))


def _convert(row: Row) -> Row:
    has_other = row.get("answer") is None and "ground_truth" in row
    gold = gold_of(row, "ground_truth" if has_other or "answer" not in row else "answer")
    return with_columns(row, messages=asked(text_of(row, "question")), answer=gold)


QUESTION_ANSWER = Shape(
    name="question_answer",
    title="Questions with a final answer (AIME)",
    columns="`question` with a short `answer` or `ground_truth`, or a list of accepted ones",
    mapping=(
        Mapped("messages", "`question` as the user's message"),
        Mapped("answer", "`answer`, else `ground_truth`"),
    ),
    matches=_matches,
    convert=_convert,
    grader={"type": "math", "reference": "answer", "extraction": "boxed"},
    system=BOXED,
)
