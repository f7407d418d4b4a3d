"""Tables of two columns without a header: a question and its short answer, as in MGSM (Shi et al., arXiv
2210.03057)."""

from trainer_core.datasets.fields import asked, text_of, without_commas
from trainer_core.datasets.shape import BOXED, Mapped, Row, Shape

_COLUMNS = ("column_1", "column_2")


def _convert(row: Row) -> Row:
    question, gold = text_of(row, _COLUMNS[0]), text_of(row, _COLUMNS[1]).strip()
    return {"messages": asked(question), "answer": without_commas(gold)}


PAIRS = Shape(
    name="pairs",
    title="Questions and answers without a header (MGSM)",
    columns="a table of two columns without a header",
    mapping=(
        Mapped("messages", "the first column as the user's message"),
        Mapped("answer", "the second column, numbers without commas"),
    ),
    matches=lambda row: tuple(row) == _COLUMNS,
    convert=_convert,
    grader={"type": "math", "reference": "answer", "extraction": "boxed"},
    system=BOXED,
)
