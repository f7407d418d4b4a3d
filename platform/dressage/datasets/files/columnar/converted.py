"""Converts a block into stored rows, with a fast path for the shape or with its function row by row."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dressage.datasets.files.columnar.column import AskedColumn, StoredColumn
from dressage.datasets.files.columnar.source import SourceRows, alike
from dressage.datasets.rows.row import check_row
from trainer_core.datasets import Shape
from trainer_core.datasets.shapes.gsm8k import GSM8K, final_answer
from trainer_core.datasets.shapes.own import OWN


@dataclass(frozen=True, slots=True)
class Converted:
    """Converted rows of a block, all of which ``check_row`` accepts."""

    columns: dict[str, StoredColumn]
    prompts: StoredColumn
    """The prompt of each row, or the text of its last message."""
    answers: Sequence[str | None]
    """The answer of each row as stored next to the row."""
    asked: list[Any]
    """The question of each row: its prompt, or the roles and texts of its chat."""


def converted(shape: Shape, source: SourceRows) -> Converted | None:
    """The converted rows of a block; None if one is faulty, or the converted rows are not alike."""
    quick = _QUICK.get(shape.name)
    if quick is not None:
        found = quick({name: StoredColumn(values) for name, values in source.columns.items()})
        if found is not None:
            return found
    try:
        rows = [check_row(shape.convert(row)) for row in source.rows()]
    except ValueError:
        return None
    made = alike([row.data for row in rows])
    if made is None:
        return None
    if "prompt" in made.columns:
        asked = made.columns["prompt"]
    else:
        asked = [tuple([(one["role"], one["content"]) for one in chat]) for chat in made.columns["messages"]]
    return Converted(
        {name: StoredColumn(values) for name, values in made.columns.items()},
        StoredColumn([row.prompt for row in rows]),
        [row.answer for row in rows],
        asked,
    )


def _own(columns: Mapping[str, StoredColumn]) -> Converted | None:
    """Rows in the platform's own format: prompts are text, answers are text or missing."""
    prompts, answers = columns.get("prompt"), columns.get("answer")
    if prompts is None or "messages" in columns or not prompts.all_seen:
        return None
    if answers is not None and not answers.is_text:
        return None
    told = answers.values if answers is not None else [None] * len(prompts.values)
    return Converted(dict(columns), prompts, told, prompts.values)


def _gsm8k(columns: Mapping[str, StoredColumn]) -> Converted | None:
    questions, solutions = columns.get("question"), columns.get("answer")
    if questions is None or solutions is None or "prompt" in columns or not solutions.is_text or not questions.all_seen:
        return None
    try:
        golds = [*map(final_answer, solutions.values)]
    except ValueError:
        return None
    made: dict[str, StoredColumn] = {
        "messages": AskedColumn(questions),
        "answer": StoredColumn(golds),
        "solution": solutions,
    }
    rest = {name: column for name, column in columns.items() if name not in made}
    return Converted(made | rest, questions, golds, [(("user", question),) for question in questions.values])


_QUICK: dict[str, Callable[[Mapping[str, StoredColumn]], Converted | None]] = {OWN.name: _own, GSM8K.name: _gsm8k}
"""Fast paths that create no Python object per row, for the shapes of the largest files."""
