"""The recipes as the console's presets: each is offered by its name, and runs as it is in the demo's team."""

from pathlib import Path

import pytest
from django.core.management import call_command
from rest_framework.test import APIClient

from dressage.supervisor.management.commands.demo import DATASETS, REWARDS
from dressage.teams.models import User
from tests.support.about import INSTALLATION
from tests.support.warm_loop import REWARDS as TRAINED_WITH
from trainer_core.spec.recipes import list_recipes

PUBLISHED = {
    *("areal", "cispo", "dapo", "distillation", "dppo", "dr-grpo", "gdpo", "grpo", "gspo", "icepop", "l1", "magistral"),
    *("maxrl", "mc-grpo", "olmorl", "pipelinerl", "ppo-gae", "prorl", "reinforce", "reinforce-pp", "rloo", "sapo"),
    *("scalerl", "siri", "vapo", "vcpo", "vineppo"),
    *("l1-max", "minpro", "ppo-epochs", "trpo", "vespo"),
    *("dpo", "sft"),
}


@pytest.fixture
def demo(db: None, settings: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> APIClient:
    """The demo's team and its admin."""
    settings.DATASET_ROOT, settings.POLICY_ROOT = tmp_path / "datasets", tmp_path / "policies"  # type: ignore[attr-defined]
    settings.POLICY_ROOTS = [tmp_path / "policies"]  # type: ignore[attr-defined]
    for folder in ("datasets", "policies"):
        (tmp_path / folder).mkdir()
    monkeypatch.setenv("DRESSAGE_ADMIN_EMAIL", "demo@example.com")
    monkeypatch.setenv("DRESSAGE_ADMIN_PASSWORD", "a-long-test-password")
    call_command("demo", no_run=True)
    client = APIClient()
    client.force_login(User.objects.get(email="demo@example.com"))
    return client


@pytest.mark.expensive(3, "walks over many requests", about=INSTALLATION)
def test_every_recipe_is_a_preset_that_can_be_started(demo: APIClient) -> None:
    found = demo.get("/api/v1/spec/recipes").json()["data"]
    recipes = [recipe for recipe in found if recipe["published"] is None]
    assert found[: len(recipes)] == recipes, "those for real models come behind"
    assert [recipe["name"] for recipe in recipes] == ["demo", *sorted(PUBLISHED)]
    assert len({recipe["title"] for recipe in recipes}) == len(recipes)
    for recipe in recipes:
        assert recipe["title"] and recipe["description"].endswith(".")
        answer = demo.post("/api/v1/spec/validate", {"spec": recipe["spec"]}, format="json").json()
        assert (recipe["name"], answer["valid"], answer["errors"]) == (recipe["name"], True, [])
        rows = {"sft": 64, "dpo": 128}
        assert answer["explanation"]["batch"]["samples_per_step"] in (rows.get(recipe["name"], 256), 260)


def test_a_recipe_for_a_real_model_says_what_it_needs_and_misses_just_that(demo: APIClient) -> None:
    found = demo.get("/api/v1/spec/recipes").json()["data"]
    [recipe] = [recipe for recipe in found if recipe["name"] == "grpo-gsm8k-qwen3-0.6b"]
    published = recipe["published"]
    assert (published["model"], published["machine"]) == ("Qwen/Qwen3-0.6B", "1× H100 80 GB")
    assert published["datasets"].keys() == {"gsm8k", "gsm8k-test"}
    answer = demo.post("/api/v1/spec/validate", {"spec": recipe["spec"]}, format="json").json()
    assert {error["pointer"] for error in answer["errors"]} == {
        "/spec/policy/base",
        "/spec/data/sources/0/dataset",
        "/spec/evaluation/sources/0/dataset",
        "/spec/reward/definition",
    }
    [[slug, definition]] = published["rewards"].items()
    made = demo.post("/api/v1/rewards", {"name": slug, "definition": definition}, format="json")
    assert (made.status_code, made.json()["slug"]) == (201, recipe["spec"]["reward"]["definition"].removesuffix("@1"))


def test_recipes_name_what_the_demo_has() -> None:
    for recipe in list_recipes():
        spec = recipe.run_spec()
        sources = [*spec.data.sources, *spec.evaluation.sources]
        assert {source.dataset.removesuffix("@1") for source in sources} <= DATASETS.keys()
        if spec.examples is None:
            assert spec.reward.definition.removesuffix("@1") in REWARDS
    assert TRAINED_WITH == REWARDS, "the tests and benchmarks of recipes train with the demo's rewards"
