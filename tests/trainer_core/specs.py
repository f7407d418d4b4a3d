"""Run specs for tests."""

from collections.abc import Mapping
from typing import Any

from trainer_core.spec import RunSpec


def document(**parts: Any) -> dict[str, Any]:
    """A small valid run spec as JSON; ``parts`` replace whole sections."""
    return {
        "policy": {"base": "starter"},
        "data": {
            "sources": [
                {"name": "sums", "dataset": "sums@1", "weight": 1.0},
                {"name": "products", "dataset": "products@1", "weight": 3.0},
            ]
        },
        "reward": {"definition": "calculation@1"},
        **parts,
    }


def spec(**parts: Any) -> RunSpec:
    """The validated ``document``."""
    return RunSpec.model_validate(document(**parts))


def weighted(**weights: float) -> Mapping[str, Any]:
    """A data section with these sources and weights."""
    return {"sources": [{"name": n, "dataset": f"{n}@1", "weight": w} for n, w in weights.items()]}
