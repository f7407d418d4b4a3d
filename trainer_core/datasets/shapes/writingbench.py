"""WritingBench (Wu et al., arXiv 2503.05244): a request and criteria, each with a scoring scale."""

from typing import Any

from trainer_core.datasets.fields import asked, is_chat, text_of, with_columns
from trainer_core.datasets.shape import Mapped, Row, Shape

_LEVELS = ("1-2", "3-4", "5-6", "7-8", "9-10")
_NAME, _DESCRIPTION = 200, 4000
"""Most characters of a criterion that the grader reads."""


def _convert(row: Row) -> Row:
    found = row.get("checklist")
    if not isinstance(found, list) or not found:
        raise ValueError("`checklist` must be a list of at least one criterion.")
    names: dict[str, int] = {}
    rubric = [_criterion(one, place, names) for place, one in enumerate(found, 1)]
    return with_columns(row, messages=asked(text_of(row, "query")), rubric=rubric)


def _criterion(one: Any, place: int, names: dict[str, int]) -> dict[str, Any]:
    if not isinstance(one, dict) or not isinstance(one.get("name"), str) or not one["name"].strip():
        raise ValueError(f"Criterion {place} of `checklist` must be an object with a `name`.")
    name = one["name"].strip()[: _NAME - 10]
    names[name] = names.get(name, 0) + 1
    levels = [f"{level} points: {one[level]}" for level in _LEVELS if isinstance(one.get(level), str)]
    description = "\n".join([str(one.get("criteria_description") or name), *levels])
    return {
        "name": name if names[name] == 1 else f"{name} ({names[name]})",
        "description": description[:_DESCRIPTION],
        "weight": 1.0,
    }


WRITINGBENCH = Shape(
    name="writingbench",
    title="WritingBench",
    columns="`query` and `checklist` (criteria with `name` and `criteria_description`)",
    mapping=(
        Mapped("messages", "`query` as the user's message"),
        Mapped("rubric", "`checklist`, each criterion with its points, all of equal weight"),
    ),
    matches=lambda row: "query" in row and is_chat(row.get("checklist")),
    convert=_convert,
    grader={"type": "rubric", "items_field": "rubric", "scale": "likert"},
)
