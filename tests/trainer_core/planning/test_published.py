"""Recipes at published size: valid, complete in what they need, and within the machine that they name."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.bench.published import FILES, TOKENS, estimate, needs, rows, scaled
from trainer_core.planning.lengths import LognormalLengths
from trainer_core.planning.machines import LIBRARIES, MACHINES
from trainer_core.planning.memory import GIB, memory
from trainer_core.planning.models import MODELS
from trainer_core.planning.policy_size import PolicySize
from trainer_core.rewards.definition import RewardDefinition
from trainer_core.spec import RunSpec
from trainer_core.spec.recipes import Recipe, list_published, list_recipes
from trainer_core.starter.architectures import ARCHITECTURES, make_tiny

RECIPES = {recipe.name: recipe for recipe in list_published()}


def slugs(spec: RunSpec) -> set[str]:
    """The datasets that a spec names."""
    refs = [source.dataset for source in spec.data.sources] + [source.dataset for source in spec.evaluation.sources]
    return {ref.removesuffix("@1") for ref in refs}


def test_the_recipes_that_are_asked_for() -> None:
    sizes = ("qwen3-0.6b", "qwen3-1.7b", "qwen3-8b")
    assert set(RECIPES) == {
        *(f"{method}-{size}" for method in ("grpo-gsm8k", "dapo-math") for size in sizes),
        *("magistral-8b", "cispo-8b", "olmo3-7b", "scalerl-8b", "code-mbpp-1.7b", "ifeval-1.7b", "lora-24gb"),
        "dr-tulu-8b",
    }
    everything = [*RECIPES.values(), *list_recipes()]
    assert (
        len({recipe.name for recipe in everything}) == len({recipe.title for recipe in everything}) == len(everything)
    )
    assert all(recipe.published is None for recipe in list_recipes())


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_a_recipe_is_valid_and_names_what_it_needs(recipe: Recipe) -> None:
    own, spec = needs(recipe), recipe.run_spec()
    named = slugs(spec)
    assert named <= own.datasets.keys() <= FILES.keys()
    assert own.rewards.keys() == {spec.reward.definition.removesuffix("@1")}
    for definition in own.rewards.values():
        RewardDefinition.model_validate(definition)
    assert own.architecture in ARCHITECTURES and own.machine in MACHINES and own.model in MODELS
    assert recipe.title and recipe.description.endswith(".")
    # As people train: both sides in bfloat16, float32 masters, and the output layer in float32.
    assert (spec.policy.dtype, spec.rollout.engine.dtype, spec.rollout.engine.lm_head_dtype) == (
        "bfloat16",
        "bfloat16",
        "float32",
    )


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_a_recipe_fits_the_machine_that_it_names(recipe: Recipe) -> None:
    found = estimate(recipe)
    assert found.room_gib > 0
    assert 0 < found.step_seconds < 6 * 3600


def test_a_recipe_does_not_fit_a_smaller_machine() -> None:
    lora, large = RECIPES["lora-24gb"], RECIPES["dapo-math-qwen3-8b"]
    whole = replace(lora, spec=lora.spec | {"policy": {"base": "qwen3-1.7b", "dtype": "bfloat16"}})
    assert estimate(lora).room_gib > 0 > estimate(whole).room_gib
    spec = large.run_spec()
    need = memory(MODELS["Qwen/Qwen3-8B"], spec)
    assert MACHINES["8× H100 80 GB"].fits(need, 4, 4)
    assert not MACHINES["8× H100 80 GB"].fits(need, 8, 8), "both share each GPU"
    assert MACHINES["1× H100 80 GB"].room(need, 4, 4) < 0, "four engines on one GPU"


def test_room_is_what_the_fullest_gpu_has_left() -> None:
    machine, spec = MACHINES["8× H100 80 GB"], RECIPES["olmo3-7b"].run_spec()
    need = memory(MODELS["allenai/Olmo-3-7B-Think-DPO"], spec)
    fullest = max(need.learner.peak, need.engine.total)
    assert machine.room(need, 4, 4) == machine.memory - fullest - LIBRARIES
    assert machine.room(need, 8, 8) == machine.memory - need.learner.peak - need.engine.total - 2 * LIBRARIES


@pytest.mark.parametrize(
    ("model", "billions"),
    [
        ("Qwen/Qwen3-0.6B", 0.596),
        ("Qwen/Qwen3-1.7B", 1.721),
        ("Qwen/Qwen3-8B", 8.191),
        ("meta-llama/Llama-3.1-8B-Instruct", 8.030),
    ],
)
def test_sizes_are_those_of_the_model_cards(model: str, billions: float) -> None:
    assert MODELS[model].parameters / 1e9 == pytest.approx(billions, abs=0.0005)


def test_a_size_is_that_of_a_folder(tmp_path: Path) -> None:
    """The formula for models that nobody has downloaded agrees with what a folder of the architecture tells."""
    from trainer_core.planning.models import decoder

    found = PolicySize.of(make_tiny("qwen3", tmp_path / "qwen3"))
    made = decoder(
        layers=found.layers,
        hidden=found.hidden,
        heads=found.heads,
        kv_heads=found.kv_heads,
        head_dim=found.head_dim,
        intermediate=found.intermediate,
        vocabulary=found.vocabulary,
        tied=True,
        normalises_heads=True,
    )
    assert made == found


def test_rates_follow_peak_and_bandwidth() -> None:
    machine, spec = MACHINES["1× H100 80 GB"], RECIPES["grpo-gsm8k-qwen3-1.7b"].run_spec()
    size = MODELS["Qwen/Qwen3-1.7B"]
    rates = machine.rates(size, spec, 150.0, LognormalLengths(median=220.0))
    assert "not measured" in rates.source
    assert rates.learner.tokens_per_s == pytest.approx(989e12 * 0.35 / (8 * size.parameters))
    first, last = rates.engine.decode[0], rates.engine.decode[-1]
    assert first.running == 1
    assert first.tokens_per_s == pytest.approx(3.35e12 * 0.6 / (2 * size.parameters), rel=0.02)
    held = spec.rollout.engine.kv_cache_gib * GIB / (2 * 28 * 8 * 128 * 2 * 260)
    assert last.running == min(256, int(held))
    speeds = [point.tokens_per_s for point in rates.engine.decode]
    assert speeds == sorted(speeds), "more sequences at once are never slower"


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_a_recipe_shrinks_to_a_valid_spec_of_the_same_methods(recipe: Recipe) -> None:
    small, whole = RunSpec.model_validate(scaled(recipe)), recipe.run_spec()
    assert small.rollout.max_tokens == TOKENS
    for part in ("policy", "advantage", "loss", "corrections", "kl", "aggregation", "curriculum", "precision"):
        assert getattr(small, part) == getattr(whole, part)
    assert small.data.sources == whole.data.sources
    assert type(small.thinking) is type(whole.thinking) and small.rollout.mode == whole.rollout.mode
    assert small.parallelism.zero_stage == whole.parallelism.zero_stage
    assert all(rows(slug) for slug in slugs(whole))
