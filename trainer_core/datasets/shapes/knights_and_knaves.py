"""Knights and knaves in Logic-RL's form (Xie et al., arXiv 2502.14768): the prompt already includes its template."""

from collections.abc import Iterator
from typing import Any

from trainer_core.datasets.fields import asked, gold_of, text_of, with_columns, without
from trainer_core.datasets.shape import Mapped, Row, Shape

_BEGIN, _END = "<|im_start|>", "<|im_end|>"
_ANSWER = """\
import re


def statements(text):
    return {name.lower(): kind.lower() for name, kind in re.findall(r"(\\w+) is a (knight|knave)", text, re.IGNORECASE)}


def grade(sample, item):
    found = re.findall(r"<answer>(.*?)</answer>", sample["output_text"], re.DOTALL)
    wanted = statements(item["answer"])
    return float(bool(found) and bool(wanted) and statements(found[-1]) == wanted)
"""


def _convert(row: Row) -> Row:
    messages = _without_template(row.get("prompt")) or asked(text_of(row, "quiz"))
    return with_columns(without(row, "prompt"), messages=messages, answer=gold_of(row, "solution_text_format"))


def _without_template(prompt: Any) -> list[dict[str, str]]:
    """The turns of a prompt in ChatML, without the beginning of the answer."""
    if isinstance(prompt, list) and len(prompt) == 1 and isinstance(prompt[0], dict):
        prompt = prompt[0].get("content")
    if not isinstance(prompt, str):
        return []
    return list(_turns(prompt))


def _turns(prompt: str) -> Iterator[dict[str, str]]:
    for piece in prompt.split(_BEGIN)[1:]:
        turn, end, _ = piece.partition(_END)
        role, line_end, text = turn.partition("\n")
        if end and line_end and role in ("system", "user"):
            yield {"role": role, "content": text.strip()}


KNIGHTS_AND_KNAVES = Shape(
    name="knights_and_knaves",
    title="Knights and knaves (Logic-RL)",
    columns="`quiz` and `solution_text_format`",
    mapping=(
        Mapped("messages", "the turns of `prompt` without the control tokens of its template, else `quiz`"),
        Mapped("answer", "`solution_text_format`"),
    ),
    # Stored rows have messages and keep both columns. They are not converted a second time.
    matches=lambda row: isinstance(row.get("quiz"), str) and "solution_text_format" in row and "messages" not in row,
    convert=_convert,
    grader={"type": "python", "source": _ANSWER},
)
