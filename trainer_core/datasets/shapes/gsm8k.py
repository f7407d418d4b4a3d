"""GSM8K (Cobbe et al., arXiv 2110.14168): the solution ends with the final answer after four hashes."""

from trainer_core.datasets.fields import asked, text_of, with_columns, without_commas
from trainer_core.datasets.shape import BOXED, Mapped, Row, Shape


def _matches(row: Row) -> bool:
    answer = row.get("answer")
    return "question" in row and isinstance(answer, str) and "####" in answer


def _convert(row: Row) -> Row:
    question, solution = text_of(row, "question"), text_of(row, "answer")
    return with_columns(row, messages=asked(question), answer=final_answer(solution), solution=solution)


def final_answer(solution: str) -> str:
    """Text after the hashes of a solution, numbers without commas. Raises ValueError."""
    _, hashes, after = solution.rpartition("####")
    if not hashes:
        raise ValueError("`answer` has no `####` followed by the final answer.")
    gold = after.strip()
    if not gold:
        raise ValueError("There is nothing after the `####` of `answer`.")
    if "\n" in gold:
        raise ValueError("`answer` must end with the final answer: there are more lines after its `####`.")
    return without_commas(gold) if "," in gold or "$" in gold else gold


GSM8K = Shape(
    name="gsm8k",
    title="GSM8K",
    columns="`question` and `answer` (a solution that ends with #### 18)",
    mapping=(
        Mapped("messages", "`question` as the user's message"),
        Mapped("answer", "the text after the `####` of `answer`, numbers without commas"),
        Mapped("solution", "`answer` unchanged"),
    ),
    matches=_matches,
    convert=_convert,
    grader={"type": "math", "reference": "answer", "extraction": "boxed"},
    system=BOXED,
)
