"""Remarks on a clip that never acts, and recipes that have one say so."""

from typing import Any

import pytest

from tests.trainer_core.specs import spec
from trainer_core.explain import explain
from trainer_core.explain.remarks import IDLE_CLIP
from trainer_core.explain.text import render
from trainer_core.spec.recipes import Recipe, list_published, list_recipes

ASYNC = {"group_size": 4, "mode": {"type": "async"}}


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({}, "With one update per step, π_old is π_θ: every ratio of ppo_clip is 1, and the clip never acts."),
        ({"rollout": ASYNC}, "What bounds stale samples is the correction truncated_is."),
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
