"""What a spec amounts to: batch, bands, methods, metrics; and the command that prints it."""

import json
import typing
from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel

from tests.trainer_core.specs import document, spec
from trainer_core.__main__ import main
from trainer_core.explain import explain
from trainer_core.explain.text import render
from trainer_core.metrics import METRICS
from trainer_core.spec.base import SpecModel
from trainer_core.spec.methods.loss import Loss
from trainer_core.spec.recipes import list_recipes


def test_effective_batch() -> None:
    batch = explain(
        spec(
            rollout={"group_size": 4, "max_tokens": 50},
            schedule={"steps": 10, "prompts_per_step": 6, "updates_per_step": 3},
        )
    ).batch
    assert (batch.samples_per_step, batch.tokens_per_step) == (24, 1200)
    assert (batch.prompts_per_update, batch.samples_per_update, batch.tokens_per_update) == (2, 8, 400)
    assert (batch.samples, batch.updates) == (240, 30)


def test_passes_multiply_the_updates_and_not_the_samples() -> None:
    several = spec(schedule={"steps": 10, "prompts_per_step": 6, "updates_per_step": 3, "epochs": 4})
    batch = explain(several).batch
    assert (batch.epochs, batch.updates_per_step, batch.updates) == (4, 3, 120)
    assert (batch.prompts_per_update, batch.samples) == (2, 10 * 6 * several.rollout.group_size)
    assert "12 updates per step in 4 passes; 120 updates" in render(explain(several))


def test_the_band_of_the_loss_is_the_specs() -> None:
    found = explain(spec(loss={"type": "ppo_clip", "ratio_min": 0.9, "ratio_max": 1.5})).bands
    loss, correction = found
    assert (loss.path, loss.ratio_min, loss.ratio_max) == ("loss", 0.9, 1.5)
    assert min(loss.ratios) < 0.9 and max(loss.ratios) > 1.5
    middle = len(loss.ratios) // 2
    assert loss.ratios[middle] == loss.positive[middle] == loss.negative[middle] == 1.0
    for ratio, up, down in zip(loss.ratios, loss.positive, loss.negative, strict=True):
        assert (up == 0) == (ratio > 1.5) and (down == 0) == (ratio < 0.9)
    assert correction.path == "corrections.0" and correction.ratio_max == 2.0
    assert loss.ratio == "π_θ / π_old"
    assert explain(spec(proximal={"type": "sampler"}, corrections=[])).bands[0].ratio == "π_θ / π_behaviour"


@pytest.mark.parametrize("member", typing.get_args(typing.get_args(Loss)[0]))
def test_every_loss_has_a_picture(member: type[BaseModel]) -> None:
    kind = member.model_fields["type"].default
    band = explain(spec(loss={"type": kind}, corrections=[])).bands[0]
    middle = band.ratios.index(1.0)
    assert band.positive[middle] == pytest.approx(1.0) and band.negative[middle] == pytest.approx(1.0)


def test_methods_are_those_of_the_spec_with_their_own_parameters() -> None:
    found = {method.path: method for method in explain(spec(advantage={"type": "opo"}, filters=[])).methods}
    assert found["advantage"].title == "OPO" and found["advantage"].parameters == {"counted": "all", "whiten": "none"}
    assert found["corrections.0"].parameters["ratio_max"] == 2.0
    assert "kl" not in found and not any(path.startswith("filters") for path in found)
    assert explain(spec(kl={"coefficient": 0.1})).methods != explain(spec()).methods


def _with_formula(model: type[SpecModel]) -> typing.Iterator[type[SpecModel]]:
    extra = model.model_config.get("json_schema_extra")
    if isinstance(extra, dict) and "formula" in extra and model.__module__.startswith("trainer_core.spec."):
        yield model
    for child in model.__subclasses__():
        yield from _with_formula(child)


def test_every_method_has_advice_of_its_own_and_every_metric_of_it_exists() -> None:
    found = list(_with_formula(SpecModel))
    assert len(found) > 80
    assert [model.__name__ for model in found if "advice" not in vars(model)] == []
    assert {name for model in found if model.advice is not None for name in model.advice.watch} <= set(METRICS)


def test_the_text_tells_it_all() -> None:
    text = render(explain(spec()))
    for words in (
        "per update",
        "Ratio band of loss: from 0.8, to 1.28",
        "GRPO (advantage)",
        "arXiv 2402.03300",
        "Watch",
    ):
        assert words in text


@pytest.mark.parametrize("recipe", list_recipes(), ids=lambda recipe: recipe.name)
def test_every_recipe_can_be_explained(recipe, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", recipe.name]) == 0
    assert "Effective batch" in capsys.readouterr().out


def test_a_file_may_hold_a_spec_or_a_recipe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    alone, recipe = tmp_path / "spec.json", tmp_path / "recipe.yaml"
    alone.write_text(json.dumps(document()))
    recipe.write_text(yaml.safe_dump({"title": "t", "spec": document()}))
    outputs = []
    for path in (alone, recipe):
        assert main(["explain", str(path), "--json"]) == 0
        outputs.append(json.loads(capsys.readouterr().out))
    assert outputs[0] == outputs[1]
    assert outputs[0]["batch"]["samples_per_prompt"] == 8
    assert outputs[0]["bands"][0]["path"] == "loss"


def test_what_cannot_be_explained_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "no-such-recipe"]) == 2
    assert "shipped recipes: demo" in capsys.readouterr().err
    bad = tmp_path / "bad.yaml"
    bad.write_text(yaml.safe_dump(document(rollout={"group_size": 1})))
    assert main(["explain", str(bad)]) == 2
    assert "compares the samples of a group" in capsys.readouterr().err
    bad.write_text("a: [")
    assert main(["explain", str(bad)]) == 2
