"""The sections and fields that the console's form leaves out of a run without samples: those that the spec refuses."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from trainer_core.spec.rules import objective
from trainer_core.spec.run import HEAD, RunSpec

PATH = Path(__file__).parents[3] / "frontend" / "src" / "entities" / "runs" / "sections.json"
SECTIONS: dict[str, list[str]] = json.loads(PATH.read_text())
BASE: dict[str, Any] = {
    "policy": {"base": "starter"},
    "data": {"sources": [{"name": "chats", "dataset": "chats@1"}]},
    "objective": {"type": "sft"},
}
OTHER: dict[str, Any] = {
    "data.sft": {"type": "demonstrations"},
    "data.stages": [{"name": "only"}],
    "evaluation.pass_at": [1],
    "evaluation.thinking_budget": 8,
    "evaluation.temperature": 0.5,
    "policy.routing.replay": True,
}
"""Values other than the defaults, where 2 is none."""


def test_the_sections_are_those_of_every_run() -> None:
    assert SECTIONS["shared"] == list(HEAD)


def test_the_fields_are_those_that_the_spec_has_no_use_for() -> None:
    assert set(SECTIONS["unused"]) == {".".join(path) for path in objective._UNUSED} | {"policy.routing.replay"}


@pytest.mark.parametrize("path", SECTIONS["unused"])
def test_each_field_is_refused(path: str) -> None:
    spec = json.loads(json.dumps(BASE))
    *sections, name = path.split(".")
    place = spec
    for section in sections:
        place = place.setdefault(section, {})
    place[name] = OTHER.get(path, 2)
    with pytest.raises(ValidationError) as refusal:
        RunSpec.model_validate(spec)
    assert path in {".".join(map(str, error["loc"])) for error in refusal.value.errors()}
