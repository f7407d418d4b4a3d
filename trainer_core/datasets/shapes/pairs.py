"""Tables of two columns without a header: a question and its short answer, as in MGSM (Shi et al., arXiv
2210.03057)."""

import re

from trainer_core.datasets.fields import asked, gold_of, text_of
from trainer_core.datasets.shape import BOXED, Mapped, Row, Shape

_COLUMNS = ("column_1", "column_2")
_NUMBER = re.compile(r"[-+−]?\d[\d,]*(?:\.\d+)?")


def _convert(row: Row) -> Row:
    question, gold = (text_of(row, _COLUMNS[0]), gold_of(row, _COLUMNS[1]))
    return {"messages": asked(question), "answer": gold.replace(",", "") if _NUMBER.fullmatch(gold) else gold}


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
