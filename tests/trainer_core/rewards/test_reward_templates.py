"""The templates that the console offers for a new reward."""

import json
from pathlib import Path
from typing import Any

import pytest

from trainer_core.rewards.definition import RewardDefinition

ROOT = Path(__file__).parents[3]
PATH = ROOT / "frontend" / "src" / "features" / "rewards" / "definition" / "templates.json"
TEMPLATES: list[dict[str, Any]] = json.loads(PATH.read_text())
FILLED = {one["id"]: one["definition"] for one in TEMPLATES if one["definition"] is not None}


def test_ids_and_titles_name_one_template_each() -> None:
    assert len({one["id"] for one in TEMPLATES}) == len({one["title"] for one in TEMPLATES}) == len(TEMPLATES)


@pytest.mark.parametrize("name", FILLED)
def test_a_template_is_a_definition(name: str) -> None:
    RewardDefinition.model_validate(FILLED[name])


@pytest.mark.parametrize("name", FILLED)
def test_what_a_template_needs_is_told(name: str) -> None:
    definition = RewardDefinition.model_validate(FILLED[name])
    needs = next(one["needs"] for one in TEMPLATES if one["id"] == name)
    assert ("judge" in needs) == bool(definition.endpoints)
    assert ("jail" in needs) == definition.needs_jail


def test_no_template_pays_for_a_wrong_answer_more_than_for_a_right_one() -> None:
    """The parts beside the answer never add up to what the answer is worth."""
    for name in ("maths-format", "brief"):
        parts = RewardDefinition.model_validate(FILLED[name]).components
        rest = sum(abs(part.weight) for part in parts if part.name != "correct")
        assert rest < next(part.weight for part in parts if part.name == "correct"), name


def test_the_function_that_python_begins_with_grades() -> None:
    source = FILLED["python"]["components"][0]["grader"]["source"]
    space: dict[str, Any] = {}
    exec(source, space)
    seen = {"answer_text": " 12 "}
    assert space["grade"](seen, {"answer": 12}) == 1.0
    assert space["grade"](seen, {"answer": 13}) == 0.0
    with pytest.raises(KeyError):
        space["grade"](seen, {})
