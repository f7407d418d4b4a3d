"""Stages of the data: what is refused and where, what is accepted, and what may be steered."""

from typing import Any

import pytest
from pydantic import ValidationError

from tests.trainer_core.specs import document, spec, weighted
from trainer_core.spec import ControlError, RunSpec, apply_control, targets

AFTER_TWO = {"type": "steps", "steps": 2}
BANDED = {"type": "difficulty_band"}
SUMS = [{"name": "sums"}]


def measured(**values: Any) -> dict[str, Any]:
    return {"type": "pass_rate", "threshold": 0.7, "window": 2, "max_steps": 5, **values}


def staged(*stages: dict[str, Any], steps: int = 10, **parts: Any) -> dict[str, Any]:
    data = {**weighted(sums=1.0, products=3.0), "stages": list(stages), **parts.pop("data", {})}
    return document(data=data, schedule={"steps": steps}, **parts)


def first(gate: Any = AFTER_TWO, **values: Any) -> dict[str, Any]:
    return {"name": "easy", "gate": gate, **values}


LAST = {"name": "hard"}
ZERO = [{"name": "sums", "weight": 0.0}]
PATHS = ("data", "stages")
CONTRADICTIONS = {
    "a transition as well": (
        staged(
            first(), LAST, data={"transition": {"start": 1, "end": 3, "sources": [{"name": "sums", "weight": 2.0}]}}
        ),
        PATHS,
        "would both move the weights",
    ),
    "a name twice": (staged(first(), {"name": "easy"}), (*PATHS, 1, "name"), "'easy' is used twice"),
    "a gate that nothing follows": (staged(first(), {**LAST, "gate": AFTER_TWO}), (*PATHS, 1, "gate"), "no gate"),
    "no gate": (staged(first(None), LAST), (*PATHS, 0, "gate"), "the stage 'easy' never ends"),
    "an unknown source": (
        staged(first(sources=[{"name": "minus"}]), LAST),
        (*PATHS, 0, "sources", 0, "name"),
        "there is no source 'minus'",
    ),
    "a source twice": (
        staged(first(sources=SUMS * 2), LAST),
        (*PATHS, 0, "sources", 1, "name"),
        "'sums' is named twice",
    ),
    "no weight": (staged(first(sources=ZERO), LAST), (*PATHS, 0, "sources"), "above zero in the stage 'easy'"),
    "a gate on an unknown source": (
        staged(first(measured(sources=["minus"])), LAST),
        (*PATHS, 0, "gate", "sources", 0),
        "there is no source 'minus'",
    ),
    "a gate on a source that rests": (
        staged(first(measured(sources=["products"]), sources=SUMS), LAST),
        (*PATHS, 0, "gate", "sources", 0),
        "draws nothing from 'products'",
    ),
    "a band without a curriculum of bands": (
        staged(first(band={"max_pass_rate": 0.5}), LAST),
        (*PATHS, 0, "band"),
        "uniform has none",
    ),
    "a source in no stage": (
        staged(first(sources=SUMS), {**LAST, "sources": SUMS}),
        ("data", "sources", 1),
        "no stage names the source 'products'",
    ),
    "a stage behind the run's end": (
        staged(first({"type": "steps", "steps": 10}), LAST),
        (*PATHS, 0, "gate"),
        "'hard' begins at step 11 or later, and the run ends at step 10",
    ),
    "two stages that are too long together": (
        staged(first({"type": "steps", "steps": 6}), {"name": "more", "gate": measured(min_steps=4)}, LAST),
        (*PATHS, 1, "gate"),
        "'hard' begins at step 11 or later",
    ),
    "a window that is too long for the run": (
        staged(first(measured(window=10, max_steps=20)), LAST),
        (*PATHS, 0, "gate"),
        "begins at step 11 or later",
    ),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_contradictions_are_refused_with_the_path_of_the_field(name: str) -> None:
    given, path, message = CONTRADICTIONS[name]
    with pytest.raises(ValidationError) as refused:
        RunSpec.model_validate(given)
    [found] = refused.value.errors()
    assert found["loc"] == path and message in found["msg"]


@pytest.mark.parametrize(
    ("gate", "message"),
    [
        (measured(min_steps=6), "min_steps must not be above max_steps"),
        (measured(window=5), "max_steps must be above the window"),
        ({"type": "pass_rate", "threshold": 0.7}, "Field required"),
        (measured(threshold=1.5), "less than or equal to 1"),
        ({"type": "steps", "steps": 0}, "greater than or equal to 1"),
        ({"type": "steps"}, "Field required"),
        ({"type": "loss", "threshold": 1.0}, "does not match any of the expected tags"),
    ],
)
def test_gates_that_cannot_open_or_cannot_close_are_refused(gate: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        RunSpec.model_validate(staged(first(gate), LAST))


@pytest.mark.parametrize(
    "given",
    [
        staged(LAST),
        staged(first(), LAST),
        staged(first({"type": "steps", "steps": 9}), LAST),
        staged(first(measured(window=9, max_steps=20)), LAST),
        staged(first(measured(sources=["sums"], when="at_most")), LAST),
        staged(first({**measured(), "type": "reward", "threshold": -3.0}), LAST),
        staged(first({**measured(), "type": "response_length", "threshold": 300.0}), LAST),
        staged(first(sources=SUMS), {**LAST, "sources": [{"name": "products", "weight": 0.5}, *ZERO]}),
        staged(first(band={"min_pass_rate": 0.5}), LAST, curriculum=BANDED),
        staged(first(band={"min_pass_rate": 0.5}), LAST, curriculum={"type": "goldilocks"}),
        staged(first(), LAST, curriculum={"type": "adaptive_ratio"}),
    ],
)
def test_what_makes_sense_is_accepted(given: dict[str, Any]) -> None:
    assert RunSpec.model_validate(given).data.stages[-1].name == "hard"


def steerable(given: RunSpec) -> set[str]:
    return {target.path for target in targets(given)}


def test_what_a_stage_says_is_steered_in_the_stage() -> None:
    chosen = RunSpec.model_validate(
        staged(first(measured(), sources=SUMS, band={"min_pass_rate": 0.5}), LAST, curriculum=BANDED)
    )
    assert steerable(chosen) >= {
        "data.stages.easy.sources.sums.weight",
        "data.stages.easy.band.min_pass_rate",
        "data.stages.easy.gate.threshold",
        "data.stages.easy.gate.max_steps",
        "data.sources.sums.weight",
        "curriculum.min_pass_rate",
    }
    assert apply_control(chosen, "data.stages.easy.sources.sums.weight", 4.0).data.stages[0].sources[0].weight == 4.0
    with pytest.raises(ControlError, match="above zero in the stage 'easy'"):
        apply_control(chosen, "data.stages.easy.sources.sums.weight", 0.0)
    with pytest.raises(ControlError, match="cannot change while the run is active"):
        apply_control(chosen, "data.stages.easy.gate.window", 3)


def test_what_every_stage_replaces_is_not_steered_to_no_effect() -> None:
    both = [{"name": "sums"}, {"name": "products"}]
    chosen = RunSpec.model_validate(
        staged(
            first(sources=both, band={"min_pass_rate": 0.5}),
            {**LAST, "sources": both, "band": {"max_pass_rate": 0.5}},
            curriculum=BANDED,
        )
    )
    assert not steerable(chosen) & {"data.sources.sums.weight", "curriculum.min_pass_rate", "curriculum.max_pass_rate"}
    assert "curriculum.explore" in steerable(chosen)
    with pytest.raises(ControlError, match=r"no effect: every stage has its own. Steer data\.stages\.<stage>\.sources"):
        apply_control(chosen, "data.sources.sums.weight", 2.0)
    with pytest.raises(ControlError, match=r"Steer data\.stages\.<stage>\.band\.min_pass_rate"):
        apply_control(chosen, "curriculum.min_pass_rate", 0.2)


def test_runs_without_stages_steer_as_before() -> None:
    assert {"data.sources.sums.weight", "data.sources.products.weight"} <= steerable(spec())
