"""Every recipe runs: three steps of its own spec through the whole loop, on the starter policy and the demo's data.

The same loop, kept warm, also runs what no recipe asks for, and shows what a run does whose checkpoints fail.
"""

import copy
import json
import math
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from tests.support import combinations
from tests.support.about import RUNS, TRAINING
from tests.support.warm_loop import WarmLoop, demo_bundle
from tests.worker.loop.conftest import RUN_CPU_S
from tests.worker.loop.platform_double import PlatformDouble
from trainer_core.episodes import Credit, Group
from trainer_core.methods.advantages.assign import assign
from trainer_core.spec import RunSpec
from trainer_core.spec.recipes import Recipe, list_recipes
from worker.learner.ranks import LearnerGroup
from worker.loop import saving
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


def parts(spec: RunSpec) -> dict[str, bool]:
    """Metrics of what a recipe may have beside its loss, and whether it has it."""
    return {
        "actor/kl_loss": spec.kl is not None and spec.kl.coefficient > 0.0,
        "critic/vf_loss": spec.critic is not None,
        "actor/distill_loss": spec.distillation is not None,
        "actor/sft_loss": spec.data.sft is not None,
        "reward_parts/overlong/mean": spec.reward.overlong is not None,
        "reward_parts/length_shaping/mean": spec.reward.length is not None,
    }


def traits(recipe: Recipe) -> set[str]:
    """What a recipe shows of the loop: its loss, its mode, and each part that it has beside them."""
    spec = recipe.run_spec()
    return {spec.loss.type, spec.rollout.mode.type, *(name for name, wanted in parts(spec).items() if wanted)}


def few_with_everything(recipes: Sequence[Recipe]) -> set[str]:
    """Names of recipes that have every trait between them, those with the most first."""
    left, chosen = set().union(*map(traits, recipes)), set[str]()
    while left:
        best = max(recipes, key=lambda recipe: len(traits(recipe) & left))
        chosen.add(best.name)
        left -= traits(best)
    return chosen


RECIPES = [recipe for recipe in list_recipes() if recipe.run_spec().examples is None]
FEW = few_with_everything(RECIPES)
"""Recipes that run whatever is changed in the science; all learn in ``trainer_core/update/test_recipes_learn.py``."""
WIDELY = pytest.mark.expensive(RUN_CPU_S, "trains a short run", about=TRAINING)
FURTHER = pytest.mark.expensive(RUN_CPU_S, "trains a short run", about=RUNS)


@pytest.mark.parametrize(
    "recipe", [pytest.param(one, marks=WIDELY if one.name in FEW else FURTHER, id=one.name) for one in RECIPES]
)
def test_recipe_runs(recipe: Recipe, warm_loop: WarmLoop, platform: PlatformDouble, policy: Path) -> None:
    assert_recipe_runs(recipe, warm_loop, platform, policy)


def assert_recipe_runs(recipe: Recipe, warm_loop: WarmLoop, platform: PlatformDouble, policy: Path) -> None:
    """Train the recipe's first steps and compare what is seen with what its spec says."""
    document = shortened(recipe)
    spec = RunSpec.model_validate(document)
    data = {source.dataset: rows(source.dataset) for source in [*spec.data.sources, *spec.evaluation.sources]}

    seen = warm_loop.run(platform, demo_bundle(platform, document, policy, data))

    assert platform.states() == ["starting", "running", "succeeded"], platform.of("state")[-1]["data"]
    assert not [event for event in platform.of("alert") if event["data"]["level"] == "error"]
    assert platform.steps() == list(range(1, STEPS + 1))
    assert [event["step"] for event in platform.of("eval")] == [0, STEPS]
    metrics = [event["data"]["metrics"] for event in platform.of("step")]
    for step, m in enumerate(metrics, 1):
        assert all(isinstance(value, int | float) and math.isfinite(value) for value in m.values()), m
        warming = 0 if spec.critic is None else spec.critic.warmup_steps  # the critic alone learns in these
        updates = sum(earlier.get("actor/grad_norm", 0.0) > 0.0 for earlier in metrics[warming:step])
        # Momentum moves the weights in a step without a signal, too.
        assert updates <= m["training/policy_version"] <= step and m["groups/count"] == spec.schedule.prompts_per_step
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


@pytest.mark.parametrize(
    ("name", "reported"),
    [
        ("sync", {"actor/pg_clipfrac/epoch/2", "rollout_corr/opsm_masked_share", "reward_parts/length_shaping/mean"}),
        ("async", {"actor/sft_loss", "reward_parts/length_shaping/mean", "staleness/mean"}),
        ("in_flight", {"thinking/mean", "actor/ppo_kl"}),
        ("critic", {"critic/vf_loss", "reward_parts/length_shaping/mean", "actor/smoothed_share"}),
        ("masked", {"vine/states", "actor/ppo_kl"}),
    ],
)
def test_what_no_recipe_asks_for_runs(
    name: str, reported: set[str], warm_loop: WarmLoop, platform: PlatformDouble, policy: Path
) -> None:
    document = combinations.document(name)
    spec = RunSpec.model_validate(document)
    sources = [*spec.data.sources, *spec.evaluation.sources]
    data = {one.dataset: [row | combinations.COLUMNS for row in rows(one.dataset)] for one in sources}

    seen = warm_loop.run(platform, demo_bundle(platform, document, policy, data))

    assert platform.states() == ["starting", "running", "succeeded"], platform.of("state")[-1]["data"]
    assert not [event for event in platform.of("alert") if event["data"]["level"] == "error"]
    assert platform.steps() == [1, 2]
    metrics = [event["data"]["metrics"] for event in platform.of("step")]
    assert all(math.isfinite(value) for m in metrics for value in m.values())
    assert all(m["reward/error_share"] == 0.0 for m in metrics)
    assert any(m.get("actor/grad_norm", 0.0) > 0.0 for m in metrics)
    assert reported <= {key for m in metrics for key in m}
    for batch, _ in seen:
        assert (batch.spec.loss, batch.spec.proximal) == (spec.loss, spec.proximal)


class Unsaved:
    """Learner groups that are asked for checkpoints no file can hold, at the tries that ``plan`` says."""

    def __init__(self, plan: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """``plan`` has a letter per try: F for one that fails."""
        self.plan, self._save = list(plan), LearnerGroup.save
        monkeypatch.setattr(LearnerGroup, "save", lambda *arguments: self._saved(*arguments))

    def _saved(self, group: LearnerGroup, folder: Path, extra: dict[str, Any]) -> Any:
        return self._save(group, folder, {**extra, "broken": math.nan} if self.plan.pop(0) == "F" else extra)


def resume_after_pauses(platform: PlatformDouble, count: int) -> None:
    """Take note of each pause, as the platform does, then resume the run."""
    for number in range(1, count + 1):
        platform.wait(lambda number=number: platform.states().count("paused") == number)
        platform.desired_state = "paused"
        syncs = platform.syncs
        platform.wait(lambda syncs=syncs: platform.syncs > syncs + 2)
        platform.desired_state = "running"


def test_a_checkpoint_that_fails_is_told_counted_and_tried_again_and_three_in_a_row_pause_the_run(
    warm_loop: WarmLoop, platform: PlatformDouble, policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saving, "WAITS_S", (0.0, 0.0))
    recipe = list_recipes()[0]
    document = shortened(recipe) | {"checkpoint": {"every_steps": 1}}
    document["schedule"]["steps"] = 4
    spec = RunSpec.model_validate(document)
    data = {source.dataset: rows(source.dataset) for source in [*spec.data.sources, *spec.evaluation.sources]}
    unsaved = Unsaved("F." + "FFF" + "." + "FFF.", monkeypatch)
    people = threading.Thread(target=resume_after_pauses, args=(platform, 2), daemon=True)
    people.start()

    warm_loop.run(platform, demo_bundle(platform, document, policy, data))

    people.join(60)
    assert unsaved.plan == []
    # The last checkpoint failed too: the run stands until it can be written, and only then has it succeeded.
    assert platform.states() == ["starting", "running", "paused", "running", "paused", "running", "succeeded"]
    why = "ValueError: Out of range float values are not JSON compliant: nan"
    paused = [event["data"] for event in platform.of("state") if event["data"]["state"] == "paused"]
    assert [(one["reason"], one["by_request"]) for one in paused] == [
        (f"The checkpoint after step {step} could not be written: {why}", False) for step in (2, 4)
    ]
    told = [(e["step"], e["data"]["level"], e["data"]["title"], e["data"]["message"]) for e in platform.of("alert")]
    title, ending = "A checkpoint could not be written", "It is retried, three times in total."
    assert told == [(step, "warn", title, f"The checkpoint after step {step}: {why}. {ending}") for step in (1, 2, 4)]
    assert [event["data"]["metrics"]["checkpoint/failures"] for event in platform.of("step")] == [0.0, 1.0, 3.0, 0.0]
    assert [(event["step"], event["data"]["reason"]) for event in platform.of("checkpoint")] == [
        (1, "schedule"),
        (3, "schedule"),
        (4, "final"),
    ]
    assert not list(Path(platform.of("checkpoint")[-1]["data"]["path"]).parent.glob(".*")), "nothing is left over"


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
    shown = parts(spec)
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
        trajectory.credit = Credit()
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
        if "zero_advantage" in kinds and silent and spec.compares == "group":
            assert all(t.excluded is not None for t in group.trajectories)
        for trajectory in group.trajectories:
            if "truncated" in kinds and trajectory.finish_reason == "length":
                assert trajectory.excluded is not None


def everybody(groups: list[Group]) -> list[Any]:
    return [trajectory for group in groups for trajectory in group.trajectories]
