"""Rules on number formats: flows that unify nothing, and rounding that nobody corrects."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainer_core.spec.learner.adapter import LoRAAdapter
from trainer_core.spec.learner.precision import UnifiedPrecision
from trainer_core.spec.rules.off_policy import weighs

if TYPE_CHECKING:
    from trainer_core.spec.run import RunSpec

Path = tuple[str | int, ...]


def precision(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """A unified flow without anything to unify or with two output layers; FP8 without correction or hardware."""
    engine, fp8 = spec.rollout.engine, spec.rollout.engine.quantization
    unified = isinstance(spec.precision, UnifiedPrecision)
    wide = engine.dtype == "float32"
    if unified and wide and fp8 is None:
        yield (
            ("precision",),
            "unified adopts the engine's rounding, and a float32 engine has none: choose rollout.engine.dtype or"
            " rollout.engine.quantization",
        )
    if unified and not wide and engine.lm_head_dtype != "float32":
        yield (
            ("rollout", "engine", "lm_head_dtype"),
            "the learner's output layer is float32: with precision.type = unified the engine's must be too",
        )
    if isinstance(spec.policy.adapter, LoRAAdapter) and (unified or fp8 is not None):
        yield (
            ("policy", "adapter"),
            "the engine rounds the sum of weights and adapter, the learner keeps them separate: the rounding would"
            " differ. Train all weights, or remove FP8 and unified",
        )
    if fp8 is not None and fp8.execution == "hardware":
        if wide:
            yield (
                ("rollout", "engine", "dtype"),
                "FP8 hardware returns results with 16 bits: choose bfloat16 or float16 (auto simulates)",
            )
        if not fp8.activations:
            yield (
                ("rollout", "engine", "quantization", "activations"),
                "FP8 hardware multiplies FP8 by FP8: activations must be FP8 too (auto simulates)",
            )
    if fp8 is not None and not unified and not weighs(spec):
        yield (
            ("rollout", "engine", "quantization"),
            "fp8 samples from a distribution other than the learner's: add an importance-sampling correction, or set"
            " precision.type = unified",
        )
