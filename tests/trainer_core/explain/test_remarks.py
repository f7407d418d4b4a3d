"""Remarks on a clip that never acts, and recipes that have one say so."""

from typing import Any

import pytest

from tests.trainer_core.specs import spec
from trainer_core.explain import explain
from trainer_core.explain.remarks import IDLE_CLIP, idle_kl, odd_learning_rate, remarks, repeated_prompts
from trainer_core.explain.text import render
from trainer_core.spec.recipes import Recipe, list_published, list_recipes

ASYNC = {"group_size": 4, "mode": {"type": "async"}}


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({}, "With one update per step, π_old is π_θ: every ratio of ppo_clip is 1, and the clip never acts."),
        ({"rollout": ASYNC}, "Stale samples are bounded by the correction truncated_is."),
        ({"loss": {"type": "gspo"}, "corrections": []}, "every ratio of gspo is 1"),
        (
            {"proximal": {"type": "interpolated"}, "schedule": {"updates_per_step": 4}},
            "All samples are fresh, and for these the interpolated π_old is π_θ",
        ),
        (
            {"proximal": {"type": "ewma", "decay": 0.0}, "schedule": {"epochs": 2}},
            "is the newest weights: π_old is π_θ",
        ),
    ],
)
def test_a_clip_that_never_acts(parts: dict[str, Any], words: str) -> None:
    found = explain(spec(**parts))
    [remark] = found.remarks
    assert words in remark
    assert remark in render(found)


@pytest.mark.parametrize(
    "parts",
    [
        {"schedule": {"updates_per_step": 2}},
        {"schedule": {"epochs": 2}},
        {"proximal": {"type": "sampler"}, "corrections": []},
        {"proximal": {"type": "interpolated"}, "rollout": ASYNC},
        {"proximal": {"type": "snapshot"}},
        {"loss": {"type": "dppo"}, "corrections": []},
        {"loss": {"type": "reinforce"}},
    ],
)
def test_a_clip_that_may_act_or_is_not_there(parts: dict[str, Any]) -> None:
    found = explain(spec(**parts))
    assert found.remarks == ()
    assert "Remarks" not in render(found)


@pytest.mark.parametrize("recipe", [*list_recipes(), *list_published()], ids=lambda recipe: recipe.name)
def test_a_recipe_says_that_its_clip_never_acts_and_only_then(recipe: Recipe) -> None:
    idle = any(IDLE_CLIP in remark for remark in explain(recipe.run_spec()).remarks)
    assert (IDLE_CLIP in " ".join(recipe.description.split())) == idle


@pytest.mark.parametrize(
    ("kl", "idle"),
    [
        ({"estimator": "k1", "coefficient": 0.1}, True),
        ({"estimator": "k1", "coefficient": 0.1, "placement": "reward"}, False),
        ({"estimator": "k1", "coefficient": 0.0}, False),
        ({"estimator": "k2", "coefficient": 0.1}, False),
        ({"estimator": "k3", "coefficient": 0.1}, False),
    ],
)
def test_k1_in_the_loss_pulls_nowhere(kl: dict[str, Any], idle: bool) -> None:
    remark = idle_kl(spec(kl=kl))
    assert (remark is not None) == idle
    if remark is not None:
        assert remark.startswith("The KL penalty is k1 in the loss. The mean of its gradient is zero")
        assert remark in explain(spec(kl=kl)).remarks


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ({"sums@1": 3, "products@1": 100}, None),
        ({"sums@1": 1, "products@1": 100}, "sums has 1 row, and a step takes 2 prompts from it."),
        ({"sums@1": 1, "products@1": 5}, "from it; products has 5 rows, and a step takes 6 prompts from it."),
        ({"sums@1": 2, "products@1": 6}, None),
        ({"products@1": 5}, "products has 5 rows, and a step takes 6 prompts"),
        ({}, None),
    ],
)
def test_a_step_that_takes_more_prompts_than_there_are(rows: dict[str, int], words: str | None) -> None:
    """Of the sources' weights 1 and 3, 8 prompts are 2 and 6."""
    asked = spec(schedule={"prompts_per_step": 8})
    remark = repeated_prompts(asked, rows)
    assert (remark is None) == (words is None)
    if remark is not None and words is not None:
        assert words in remark
        assert remark in explain(asked, rows=rows).remarks


@pytest.mark.parametrize(
    ("rate", "parameters", "adapter", "words"),
    [
        (0.05, 604_000, "none", "is above the usual band for all weights of a policy with 604,000 parameters"),
        (2e-3, 604_000, "none", None),
        (9e-7, 604_000, "none", "is below the usual band"),
        (2e-4, 600_000_000, "none", "Begin with optimizer.learning_rate = 1e-06."),
        (2e-5, 600_000_000, "none", None),
        (2e-4, 600_000_000, "lora", None),
        (0.01, 600_000_000, "lora", "band for adapters of a policy with 600,000,000 parameters (1e-07 to 0.001 with"),
        (1e-9, 8_000_000_000, "none", "The policy may not change in the whole run."),
    ],
)
def test_a_learning_rate_outside_the_usual_band(rate: float, parameters: int, adapter: str, words: str | None) -> None:
    asked = spec(optimizer={"learning_rate": rate}, policy={"base": "small", "adapter": {"type": adapter}})
    remark = odd_learning_rate(asked, parameters)
    assert (remark is None) == (words is None)
    assert (remark in remarks(asked, parameters=parameters)) == (words is not None)
    if remark is not None and words is not None:
        assert words in remark


@pytest.mark.parametrize("recipe", [*list_recipes(), *list_published()], ids=lambda recipe: recipe.name)
def test_no_recipe_has_an_odd_learning_rate(recipe: Recipe) -> None:
    """Recipes for the starter policy are for small ones; published ones for billions."""
    parameters = 604_000 if recipe in list_recipes() else 1_700_000_000
    assert odd_learning_rate(recipe.run_spec(), parameters) is None
