"""Every recipe runs: three steps of its own spec through the whole loop, on the starter policy and the demo's data."""

import copy
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from tests.support.warm_loop import WarmLoop, demo_bundle
from tests.worker.loop.platform_double import PlatformDouble
from trainer_core.methods.advantages.assign import assign
from trainer_core.spec import RunSpec
from trainer_core.spec.recipes import Recipe, list_recipes
from trainer_core.trajectory import Group
from worker.messages.ticket import Batch

ROOT = Path(__file__).resolve().parents[3]
STEPS = 3
SHARE = 4
"""A quarter of the recipe's prompts: the batch is the only thing that is smaller."""


def rows(dataset: str) -> list[dict[str, Any]]:
    lines = (ROOT / "demo" / "data" / f"{dataset.partition('@')[0]}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines[:256]]


def shortened(recipe: Recipe) -> dict[str, Any]:
    """The recipe, a few steps of a smaller batch, and warm-ups of one step."""
    spec = recipe.run_spec().model_dump(mode="json")
    schedule = spec["schedule"]
    schedule["steps"] = STEPS
    schedule["prompts_per_step"] = max(schedule["prompts_per_step"] // SHARE, schedule["updates_per_step"])
    spec["evaluation"] |= {"every_steps": STEPS, "max_prompts": 4}
    spec["optimizer"]["warmup_steps"] = min(spec["optimizer"]["warmup_steps"], 1)
    if spec.get("critic"):
        spec["critic"]["warmup_steps"] = 1
    return spec


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The starter policy under the name by which a recipe calls it as its teacher."""
    link = tmp_path_factory.mktemp("policies") / "starter"
    link.symlink_to(ROOT / "demo" / "starter-policy")
    return link


@pytest.fixture(scope="module")
def loop(cluster: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WarmLoop]:
    with WarmLoop(tmp_path_factory.mktemp("recipes")) as warm:
        yield warm


@pytest.mark.parametrize("recipe", list_recipes(), ids=lambda recipe: recipe.name)
def test_recipe_runs(recipe: Recipe, loop: WarmLoop, platform: PlatformDouble, policy: Path) -> None:
    document = shortened(recipe)
    spec = RunSpec.model_validate(document)
    data = {source.dataset: rows(source.dataset) for source in [*spec.data.sources, *spec.evaluation.sources]}

    seen = loop.run(platform, demo_bundle(platform, document, policy, data))

    assert platform.states() == ["starting", "running", "succeeded"], platform.of("state")[-1]["data"]
    assert not [event for event in platform.of("alert") if event["data"]["level"] == "error"]
    assert platform.steps() == list(range(1, STEPS + 1))
    assert [event["step"] for event in platform.of("eval")] == [0, STEPS]
    metrics = [event["data"]["metrics"] for event in platform.of("step")]
    for step, m in enumerate(metrics, 1):
        assert all(isinstance(value, int | float) and math.isfinite(value) for value in m.values()), m
        assert m["training/policy_version"] == step and m["groups/count"] == spec.schedule.prompts_per_step
        assert m["reward/error_share"] == 0.0
        assert m["probe/max_abs_diff"] < spec.rollout.engine.tolerance
    # So few groups may all be without a signal in one step: then there is no update to tell of.
    assert any(m.get("actor/grad_norm", 0.0) > 0.0 for m in metrics)
    assert_weights_moved(platform, policy, spec)
    assert_age(metrics, spec)
    assert_parts(metrics, spec)
    for batch, _ in seen:
        assert_sampling(batch, spec)
        assert_advantages(batch, spec)
        assert_filters(batch, spec)


def assert_weights_moved(platform: PlatformDouble, policy: Path, spec: RunSpec) -> None:
    """The last checkpoint holds other weights than the base policy, by as much as so many updates can do."""
    saved = platform.of("checkpoint")[-1]
    assert saved["step"] == STEPS
    [file] = Path(saved["data"]["path"]).rglob("model.safetensors")
    before, after = load_file(policy / "model.safetensors"), load_file(file)
    moved = max(float(np.abs(after[name].astype(np.float64) - before[name]).max()) for name in before)
    updates = STEPS * spec.schedule.updates_per_step
    assert 0.0 < moved < 10.0 * updates * spec.optimizer.learning_rate


def assert_age(metrics: list[dict[str, float]], spec: RunSpec) -> None:
    """Its mode: tokens are as old as it allows, and where it overlaps they are indeed old."""
    ages = {int(name.rpartition("/")[2]) for m in metrics for name in m if name.startswith("staleness/share/")}
    assert min(ages) >= 0
    oldest = max(ages)
    assert oldest <= spec.rollout.max_staleness
    assert (oldest > 0) == spec.rollout.overlaps


def assert_parts(metrics: list[dict[str, float]], spec: RunSpec) -> None:
    """What a recipe has beside its loss shows in the metrics, and only then."""
    shown = {
        "actor/kl_loss": spec.kl is not None and spec.kl.coefficient > 0.0,
        "critic/vf_loss": spec.critic is not None,
        "actor/distill_loss": spec.distillation is not None,
        "actor/sft_loss": spec.data.sft is not None,
        "reward_parts/overlong/mean": spec.reward.overlong is not None,
        "reward_parts/length_shaping/mean": spec.reward.length is not None,
    }
    found = {name for m in metrics for name in m}
    assert {name for name, wanted in shown.items() if wanted} == shown.keys() & found


def assert_sampling(batch: Batch, spec: RunSpec) -> None:
    for ticket in batch.tickets:
        group = ticket.group
        assert len(group.trajectories) == spec.rollout.group_size
        window = ticket.spec.rollout.max_tokens
        assert window == spec.rollout.max_tokens or spec.length_window is not None
        for trajectory in group.trajectories:
            assert trajectory.temperature == spec.rollout.temperature and trajectory.length <= window
    assert batch.spec.loss == spec.loss and batch.spec.corrections == spec.corrections


def assert_advantages(batch: Batch, spec: RunSpec) -> None:
    """They are those of the recipe's method for the rewards that were seen."""
    groups = copy.deepcopy(batch.groups)
    for trajectory in everybody(groups):
        trajectory.advantage, trajectory.excluded = 0.0, None
    assign(spec.advantage, groups, minibatches=spec.schedule.updates_per_step)
    found = [t.advantage for t in everybody(batch.groups)]
    assert found == pytest.approx([t.advantage for t in everybody(groups)])


def assert_filters(batch: Batch, spec: RunSpec) -> None:
    """Left out is what the recipe's filters name, and nothing else."""
    kinds = {entry.type for entry in spec.filters}
    reasons = {t.excluded for t in everybody(batch.groups)} - {None, "pivot"}
    assert reasons <= kinds, (reasons, kinds)
    for group in batch.groups:
        silent = len({t.reward for t in group.trajectories}) == 1
        if "zero_advantage" in kinds and silent:
            assert all(t.excluded is not None for t in group.trajectories)
        for trajectory in group.trajectories:
            if "truncated" in kinds and trajectory.finish_reason == "length":
                assert trajectory.excluded is not None


def everybody(groups: list[Group]) -> list[Any]:
    return [trajectory for group in groups for trajectory in group.trajectories]
