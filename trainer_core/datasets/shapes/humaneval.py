"""HumanEval (Chen et al., arXiv 2107.03374): the beginning of a function, and a program that checks it."""

from trainer_core.datasets.fields import text_of, with_columns
from trainer_core.datasets.shape import Mapped, Row, Shape


def _matches(row: Row) -> bool:
    if "prompt" not in row or "messages" in row or "tests" in row:
        return False
    entry_point = row.get("entry_point")
    # Other rows with a text prompt are stored as they are.
    return isinstance(row.get("test"), str) and isinstance(entry_point, str) and entry_point.isidentifier()


def _convert(row: Row) -> Row:
    prompt, entry_point = text_of(row, "prompt"), text_of(row, "entry_point")
    if not entry_point.isidentifier():
        raise ValueError("`entry_point` must be the name of a function.")
    return with_columns(row, prompt=prompt, tests=[f"{text_of(row, 'test')}\ncheck({entry_point})"])


HUMANEVAL = Shape(
    name="humaneval",
    title="HumanEval",
    columns="`prompt`, `test` and `entry_point`",
    mapping=(
        Mapped("prompt", "`prompt`, which the policy continues as text"),
        Mapped("tests", "`test` with a call of `check` for `entry_point`"),
    ),
    matches=_matches,
    convert=_convert,
    grader={"type": "code_tests", "tests": "tests", "entry_point": "entry_point", "prepend": "prompt"},
)
