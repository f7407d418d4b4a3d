"""Recipes at published size run on tiny policies of the same architecture; ``python -m tests.bench.recipes published``
runs all of them."""

from pathlib import Path

import pytest

from tests.bench.published import STEPS, run
from tests.support.about import RUNS, TRAINING
from tests.support.warm_loop import WarmLoop
from trainer_core.spec.recipes import list_published

RECIPES = {recipe.name: recipe for recipe in list_published()}


@pytest.fixture(scope="module")
def policies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tiny")


# Both ask for the same engine, which is started once.
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("grpo-gsm8k-qwen3-0.6b", marks=pytest.mark.expensive(22, "trains in bfloat16", about=TRAINING)),
        pytest.param("lora-24gb", marks=pytest.mark.expensive(22, "trains in bfloat16", about=RUNS)),
    ],
)
def test_a_published_recipe_trains(name: str, warm_loop: WarmLoop, policies: Path) -> None:
    seen = run(warm_loop, RECIPES[name], policies)
    assert (seen.state, seen.steps, seen.errors) == ("succeeded", STEPS, 0.0)
    assert seen.trained > 0.0
    assert seen.mismatch < 0.05
