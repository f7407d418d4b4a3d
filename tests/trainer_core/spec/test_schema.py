"""The JSON Schema draws forms and the reference, so every field must explain itself."""

from collections.abc import Iterator
from typing import Any

import pytest

from trainer_core.rewards import RewardDefinition
from trainer_core.spec import RunSpec
from trainer_core.spec.base import SpecModel
from trainer_core.spec.recipes import list_recipes

ROOMS = ("advantage", "loss", "corrections", "kl", "aggregation", "filters")
"""Parts of a run spec that hold methods: whatever may stand there has a formula and a source."""


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


def references(node: Any) -> Iterator[str]:
    """Names of all definitions that a part of a schema points to."""
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"].rsplit("/", 1)[1]
        node = list(node.values())
    if isinstance(node, list):
        for child in node:
            yield from references(child)


@pytest.mark.parametrize("room", ROOMS)
def test_every_method_has_a_formula_and_a_source(room: str) -> None:
    schema = RunSpec.model_json_schema()
    methods = set(references(schema["properties"][room]))
    assert methods
    for name in methods:
        definition = schema["$defs"][name]
        assert definition["formula"] and definition["source"] and definition["title"] != name, name


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
