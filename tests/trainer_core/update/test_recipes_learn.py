"""Every recipe learns: two steps of its own spec through the real learner, on made-up trajectories."""

import math
from pathlib import Path

import numpy as np
import pytest

from tests.support.about import TRAINING
from tests.trainer_core.update.making import VOCABULARY
from trainer_core.episodes import Group, Trajectory, Verdict
from trainer_core.spec import RunSpec
from trainer_core.spec.recipes import Recipe, list_recipes
from trainer_core.update.learner import Learner
from worker.loop.advantages import assign_advantages

RECIPES = [recipe for recipe in list_recipes() if recipe.run_spec().examples is None]
"""Those with rewards. What learns from rows has tests of its own."""
PARTS = {"correct": 1.0, "format": 0.1, "length": 0.1}
STEPS = 2
PROMPTS = 8


def small(recipe: Recipe) -> RunSpec:
    """The recipe with few prompts and no waiting for a warm-up."""
    document = recipe.run_spec().model_dump(mode="json")
    document["schedule"]["prompts_per_step"] = max(PROMPTS, document["schedule"]["updates_per_step"])
    document["optimizer"]["warmup_steps"] = 0
    if document.get("critic"):
        document["critic"]["warmup_steps"] = 1
    return RunSpec.model_validate(document)


def sampled(spec: RunSpec, step: int) -> list[Group]:
    """Groups of random completions; parts of the reward are drawn, most of them with right and wrong answers."""
    rng = np.random.default_rng(step)
    groups = []
    for index in range(spec.schedule.prompts_per_step):
        prompt = rng.integers(0, VOCABULARY, rng.integers(3, 8)).astype(np.int32)
        members = [completion(rng, prompt, spec.rollout.temperature) for _ in range(spec.rollout.group_size)]
        groups.append(Group(f"{step}-{index}", f"a:{index}", "a", "a@1", {}, "", 0, trajectories=members))
    return groups


def completion(rng: np.random.Generator, prompt: np.ndarray, temperature: float) -> Trajectory:
    length = int(rng.integers(2, 16))
    parts = {name: float(rng.integers(0, 2)) for name in PARTS}
    return Trajectory(
        trajectory_id=f"t{rng.integers(1 << 30)}",
        prompt_ids=prompt,
        token_ids=rng.integers(0, VOCABULARY, length).astype(np.int32),
        behaviour_logprobs=rng.normal(-4.16, 0.1, length).astype(np.float32),
        versions=np.zeros(length, dtype=np.int32),
        sampled=np.ones(length, dtype=np.bool_),
        finish_reason="stop",
        temperature=temperature,
        step_starts=np.array([0, length // 2], dtype=np.int32),
        state_values=rng.random(2),
        verdict=Verdict(reward=sum(PARTS[name] * value for name, value in parts.items()), parts=parts),
    )


@pytest.mark.expensive(2, "builds a learner and steps it", about=TRAINING)
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_two_steps(recipe: Recipe, policy_dir: Path) -> None:
    spec = small(recipe)
    learner = Learner(policy_dir, spec, teacher=policy_dir)
    before = learner.weights()
    for step in range(1, STEPS + 1):
        groups = sampled(spec, step)
        assign_advantages(groups, spec)
        metrics = learner.update(groups, spec, step)
        assert metrics and all(math.isfinite(value) for value in metrics.values())
    assert metrics["actor/grad_norm"] > 0
    warming = 0 if spec.critic is None else spec.critic.warmup_steps
    assert learner.version == STEPS - warming, "the policy rests while its critic warms up"
    after = learner.weights()
    change = max(float(np.abs(before[name] - after[name]).max()) for name in before)
    assert 0 < change < 100 * spec.optimizer.learning_rate


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_every_figure_has_a_source(recipe: Recipe) -> None:
    """The file opens with the paper, and tells what the learning rate was made from."""
    import trainer_core.spec.recipes as folder

    text = (Path(str(folder.__file__)).parent / f"{recipe.name}.yaml").read_text()
    assert text.startswith("# ")
    if recipe.name != "demo":
        assert "arXiv" in text.splitlines()[0] + text.splitlines()[1] or "Williams" in text
        [rate] = [line for line in text.splitlines() if "learning_rate:" in line and "critic" not in line]
        assert "#" in rate
