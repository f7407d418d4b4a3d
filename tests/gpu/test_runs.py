"""Runs on a card: the demo's, and three steps of every recipe, through the whole loop as a worker has it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.warm_loop import WarmLoop, demo_bundle
from tests.worker.conftest import cluster
from tests.worker.loop.platform_double import PlatformDouble
from tests.worker.loop.test_recipes_run import assert_recipe_runs, policy, rows
from trainer_core.spec.recipes import Recipe, list_recipes
from worker.cluster.placement import place, usable_gpus

__all__ = ["cluster", "policy"]


@pytest.fixture(scope="module")
def loop(cluster: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WarmLoop]:
    gpus = place(1, 1, usable_gpus()).gpus
    assert gpus > 0.0, "Ray has found no GPU where torch has one"
    with WarmLoop(tmp_path_factory.mktemp("runs"), gpus=gpus) as warm:
        yield warm


@pytest.mark.parametrize("recipe", list_recipes(), ids=lambda recipe: recipe.name)
def test_recipe_runs(recipe: Recipe, loop: WarmLoop, platform: PlatformDouble, policy: Path) -> None:
    assert_recipe_runs(recipe, loop, platform, policy)


def test_the_demo_learns(loop: WarmLoop, platform: PlatformDouble, policy: Path) -> None:
    recipe = next(recipe for recipe in list_recipes() if recipe.name == "demo")
    spec = recipe.run_spec()
    data = {source.dataset: rows(source.dataset) for source in [*spec.data.sources, *spec.evaluation.sources]}
    loop.run(platform, demo_bundle(platform, spec.model_dump(mode="json"), policy, data))
    assert platform.states() == ["starting", "running", "succeeded"], platform.of("state")[-1]["data"]
    assert not [event for event in platform.of("alert") if event["data"]["level"] == "error"]
    rewards = [event["data"]["metrics"]["reward/mean"] for event in platform.of("step")]
    part = max(1, len(rewards) // 5)
    assert sum(rewards[-part:]) > sum(rewards[:part])
