"""Recipes: complete run specs that are offered as presets."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

import yaml

from trainer_core.spec.run import RunSpec


@dataclass(frozen=True)
class Published:
    """Requirements of a preset of published size, and the basis of its time estimate."""

    model: str
    """Name of the model on the Hugging Face hub."""
    machine: str
    """Machine that it fits on, by its name in ``trainer_core.planning.machines``."""
    datasets: dict[str, str]
    """Datasets that the spec names, by their slug, each with what to upload."""
    rewards: dict[str, Any]
    """Definitions of the rewards that the spec names, by their slug."""
    architecture: str
    """Architecture of the model, by its name in ``trainer_core.starter.architectures``."""
    prompt_tokens: float
    """Assumed mean prompt length."""
    lengths: dict[str, Any]
    """Assumed completion lengths, as in the planner's rates."""


@dataclass(frozen=True)
class Recipe:
    """A named preset. ``spec`` is the document as written; ``RunSpec.model_validate`` fills in the defaults."""

    name: str
    title: str
    description: str
    spec: dict[str, Any]
    published: Published | None = None
    """Requirements of a preset for a real model; None for one that fits the starter policy."""

    def run_spec(self) -> RunSpec:
        """The validated spec."""
        return RunSpec.model_validate(self.spec)


def list_recipes() -> list[Recipe]:
    """All recipes for the starter policy, the demo first, then by name."""
    found = [
        Recipe(name=name, title=document["title"], description=document["description"], spec=document["spec"])
        for name, document in _documents(__name__)
    ]
    return sorted(found, key=lambda recipe: (recipe.name != "demo", recipe.name))


def list_published() -> list[Recipe]:
    """All recipes at published size for real models: by file, then as their variants stand in it."""
    return [
        recipe for name, document in sorted(_documents(f"{__name__}.published")) for recipe in _variants(name, document)
    ]


def _documents(package: str) -> list[tuple[str, dict[str, Any]]]:
    files = [file for file in resources.files(package).iterdir() if file.name.endswith(".yaml")]
    return [(file.name.removesuffix(".yaml"), yaml.safe_load(file.read_text())) for file in files]


def _variants(name: str, document: dict[str, Any]) -> Iterator[Recipe]:
    """The recipe of a file, or one for each of its variants, which are laid over what they share."""
    shared = {key: value for key, value in document.items() if key != "variants"}
    for variant, own in document.get("variants", {"": {}}).items():
        whole = _laid_over(shared, own)
        yield Recipe(
            name=f"{name}-{variant}" if variant else name,
            title=whole["title"].replace("{model}", whole["model"].rpartition("/")[2]),
            description=whole["description"],
            spec=whole["spec"],
            published=Published(
                model=whole["model"],
                machine=whole["machine"],
                datasets=whole["datasets"],
                rewards=whole["rewards"],
                architecture=whole["architecture"],
                prompt_tokens=whole["prompt_tokens"],
                lengths=whole["lengths"],
            ),
        )


def _laid_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        merged[key] = _laid_over(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged
