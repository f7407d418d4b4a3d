"""Recipes: complete run specs that are offered as presets."""

from dataclasses import dataclass
from importlib import resources
from typing import Any

import yaml

from trainer_core.spec.run import RunSpec


@dataclass(frozen=True)
class Recipe:
    """A named preset. ``spec`` is the document as written; ``RunSpec.model_validate`` fills in the defaults."""

    name: str
    title: str
    description: str
    spec: dict[str, Any]

    def run_spec(self) -> RunSpec:
        """The validated spec."""
        return RunSpec.model_validate(self.spec)


def list_recipes() -> list[Recipe]:
    """All shipped recipes, the demo first, then by name."""
    files = [file for file in resources.files(__name__).iterdir() if file.name.endswith(".yaml")]
    recipes = [_read(file.name.removesuffix(".yaml"), file.read_text()) for file in files]
    return sorted(recipes, key=lambda recipe: (recipe.name != "demo", recipe.name))


def _read(name: str, text: str) -> Recipe:
    document = yaml.safe_load(text)
    return Recipe(name=name, title=document["title"], description=document["description"], spec=document["spec"])
