"""Number formats of engines and learner: what contradicts itself, and the probe's tolerance."""

from typing import Any

import pytest
from pydantic import ValidationError

from tests.trainer_core.specs import spec
from trainer_core.spec import RunSpec
from trainer_core.spec.generation.rollout import Engine


def made(engine: dict[str, Any], precision: str = "float32", **parts: Any) -> RunSpec:
    return spec(rollout={"engine": engine}, precision={"type": precision}, **parts)


FP8 = {"type": "fp8"}


@pytest.mark.parametrize(
    ("engine", "precision", "parts"),
    [
        ({}, "half", {}),
        ({"dtype": "float16"}, "half", {}),
        ({"dtype": "bfloat16", "lm_head_dtype": "float32"}, "unified", {}),
        ({"quantization": FP8}, "float32", {}),
        ({"quantization": FP8}, "unified", {"corrections": []}),
        ({"quantization": {**FP8, "execution": "hardware"}, "dtype": "bfloat16"}, "float32", {}),
    ],
)
def test_formats_that_go_together(engine: dict[str, Any], precision: str, parts: dict[str, Any]) -> None:
    made(engine, precision, **parts)


@pytest.mark.parametrize(
    ("engine", "precision", "parts", "path", "sentence"),
    [
        ({}, "unified", {}, ("precision",), "a float32 engine has none"),
        (
            {"dtype": "float16"},
            "unified",
            {},
            ("rollout", "engine", "lm_head_dtype"),
            "the learner's output layer is float32",
        ),
        (
            {"quantization": {**FP8, "execution": "hardware"}},
            "float32",
            {},
            ("rollout", "engine", "dtype"),
            "returns results with 16 bits",
        ),
        (
            {"quantization": {**FP8, "execution": "hardware", "activations": False}, "dtype": "bfloat16"},
            "float32",
            {},
            ("rollout", "engine", "quantization", "activations"),
            "multiplies FP8 by FP8",
        ),
        (
            {"quantization": FP8},
            "float32",
            {"corrections": []},
            ("rollout", "engine", "quantization"),
            "add an importance-sampling correction",
        ),
        (
            {"quantization": FP8},
            "half",
            {"corrections": []},
            ("rollout", "engine", "quantization"),
            "or set precision.type = unified",
        ),
        (
            {"quantization": FP8},
            "float32",
            {"policy": {"base": "starter", "adapter": {"type": "lora"}}},
            ("policy", "adapter"),
            "rounds the sum of weights and adapter",
        ),
    ],
)
def test_formats_that_contradict_one_another(
    engine: dict[str, Any], precision: str, parts: dict[str, Any], path: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        made(engine, precision, **parts)
    [error] = caught.value.errors()
    assert error["loc"] == path and sentence in error["msg"]


@pytest.mark.parametrize(
    ("settings", "tolerance"),
    [
        ({}, 0.05),
        ({"dtype": "float16"}, 0.2),
        ({"dtype": "float16", "lm_head_dtype": "float32"}, 0.1),
        ({"dtype": "bfloat16"}, 1.0),
        ({"dtype": "bfloat16", "lm_head_dtype": "float32"}, 0.5),
        ({"quantization": FP8}, 0.55),
        ({"quantization": {**FP8, "activations": False}}, 0.05),
        ({"quantization": FP8, "probe_tolerance": 0.3}, 0.3),
    ],
)
def test_tolerance_follows_the_format(settings: dict[str, Any], tolerance: float) -> None:
    assert Engine.model_validate(settings).tolerance == pytest.approx(tolerance)


@pytest.mark.parametrize("off", [0.0, -1.0, 6.0])
def test_the_probe_cannot_be_switched_off(off: float) -> None:
    with pytest.raises(ValidationError):
        Engine.model_validate({"probe_tolerance": off})
