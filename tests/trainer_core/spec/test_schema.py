"""The JSON Schema draws forms and the reference, so every field must explain itself."""

from collections.abc import Iterator
from typing import Any

import pytest

from trainer_core.rewards import RewardDefinition
from trainer_core.spec import RunSpec
from trainer_core.spec.base import SpecModel
from trainer_core.spec.recipes import list_recipes

METHODS = {
    "GRPOAdvantage",
    "DrGRPOAdvantage",
    "PPOClipLoss",
    "ReinforceLoss",
    "TruncatedImportanceSampling",
    "KL",
    "TokenMean",
    "SequenceMean",
    "ZeroAdvantageFilter",
    "TruncatedFilter",
}


def models(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield schema["title"], schema
    yield from schema["$defs"].items()


@pytest.mark.parametrize("model", [RunSpec, RewardDefinition])
def test_every_field_has_a_description(model: type[SpecModel]) -> None:
    undescribed = [
        f"{name}.{field}"
        for name, definition in models(model.model_json_schema())
        for field, info in definition["properties"].items()
        # The discriminator of a union is described by the member's own description.
        if not info.get("description") and not (field == "type" and "const" in info)
    ]
    assert undescribed == []


@pytest.mark.parametrize("model", [RunSpec, RewardDefinition])
def test_every_model_has_a_description_and_refuses_unknown_keys(model: type[SpecModel]) -> None:
    for name, definition in models(model.model_json_schema()):
        assert definition.get("description"), name
        assert definition["additionalProperties"] is False, name


def test_every_method_has_a_formula_and_a_source() -> None:
    definitions = RunSpec.model_json_schema()["$defs"]
    assert {name for name, definition in definitions.items() if "formula" in definition} == METHODS
    assert all(definitions[name]["source"] and definitions[name]["title"] for name in METHODS)


def test_unions_tell_their_members_apart_by_type() -> None:
    properties = RunSpec.model_json_schema()["properties"]
    for name in ("thinking", "curriculum", "advantage", "loss", "aggregation"):
        assert properties[name]["discriminator"]["propertyName"] == "type", name


def test_recipes_are_valid_and_the_demo_comes_first() -> None:
    recipes = list_recipes()
    assert recipes[0].name == "demo"
    for recipe in recipes:
        assert recipe.title and recipe.description
        resolved = recipe.run_spec()
        assert RunSpec.model_validate(resolved.model_dump(mode="json")) == resolved
