"""Number formats in which engines and learner compute."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from trainer_core.spec.base import Advice, SpecModel, method_doc


class Fp8(SpecModel):
    """Linear layers of the engine compute with FP8 weights and activations; embeddings and output layer do not. Weights
    are quantised again at every update. Without FP8 hardware the format is *simulated*: weights and activations are
    rounded to the numbers that FP8 has, and multiplied in the engine's ``dtype``. Samples are those of FP8, speed and
    memory are not. The metric ``perf/fp8_simulated`` reports which it was.
    """

    model_config = method_doc(
        "FP8 rollouts",
        "s = max|tile| / 448; x ↦ s · e4m3(x / s)",
        "FP8 formats (arXiv 2209.05433); tiles of DeepSeek-V3 (arXiv 2412.19437) and Jet-RL (arXiv 2601.14243)",
    )
    advice: ClassVar[Advice] = Advice(
        "Generation is the bottleneck and the GPU has FP8; elsewhere, to test what FP8 would do to a run.",
        ("perf/fp8_simulated", "rollout_corr/k3_kl", "rollout_corr/cause/numerics", "probe/max_abs_diff"),
    )
    type: Literal["fp8"] = "fp8"
    scales: Literal["block", "channel"] = "block"
    """One scale per 128 × 128 weights and per 128 channels of a token, or per output channel and per token."""
    activations: bool = True
    """Off: only weights are in FP8, and execution is simulated. Engine and learner then agree to the last digits
    under a unified flow; with activations a value halfway between two FP8 numbers may round either way."""
    execution: Literal["auto", "hardware", "simulated"] = "auto"
    """FP8 matrix products need a GPU of compute capability 8.9 or more, a ``dtype`` of 16 bits and activations in FP8;
    ``auto`` simulates if one is missing, ``hardware`` refuses to start."""


class Float32Precision(SpecModel):
    """The learner computes in float32, in which the weights are stored."""

    type: Literal["float32"] = "float32"


class HalfPrecision(SpecModel):
    """The learner's layers compute with 16 bits, on float32 weights; gradients reach these unrounded by the optimizer.

    The output layer, log-probabilities and the loss stay in float32. In float16 the gradient that enters the layers is
    scaled by a power of two, chosen for each micro-batch so that its largest entry is between 1 and 2; gradients of the
    weights are divided by it.
    """

    model_config = method_doc(
        "16-bit learner",
        "y = half(W) · half(x); ∂L/∂W of the float32 W = ∂L/∂half(W)",
        "Defeating the training-inference mismatch via FP16 (arXiv 2510.26788)",
    )
    advice: ClassVar[Advice] = Advice(
        "The engines compute with 16 bits: in float16 both sides differ by an eighth as much as in bfloat16.",
        ("rollout_corr/k3_kl", "rollout_corr/cause/numerics", "actor/grad_norm"),
    )
    type: Literal["half"] = "half"
    dtype: Literal["float16", "bfloat16"] = "float16"
    """float16 has 3 more bits of precision, and is reported to close the gap to an engine of the same type."""


class UnifiedPrecision(SpecModel):
    """The learner computes as the engines do: in their ``dtype``, with the same quantised weights and activations.

    Values that the engine rounds are rounded in the learner's forward pass too, so that both are one policy. The
    gradient passes through the rounding unchanged (straight-through) and moves float32 weights. Products of quantised
    values are computed in ``dtype``: the learner simulates FP8 on every machine.
    """

    model_config = method_doc(
        "Unified precision flow",
        "y = q(W) · q(x); ∂L/∂W ≔ ∂L/∂q(W), ∂L/∂x ≔ ∂L/∂q(x); q: the engine's rounding",
        "Jet-RL (arXiv 2601.14243); straight-through estimator (arXiv 1308.3432)",
    )
    advice: ClassVar[Advice] = Advice(
        "FP8 rollouts, or long completions over which rounding adds up; no correction is needed for the format then.",
        ("rollout_corr/k3_kl", "rollout_corr/cause/numerics", "actor/grad_norm"),
    )
    type: Literal["unified"] = "unified"


LearnerPrecision = Annotated[Float32Precision | HalfPrecision | UnifiedPrecision, Field(discriminator="type")]

PROBE_TOLERANCE = {"float32": 0.05, "float16": 0.1, "bfloat16": 0.5}
"""Nats, by the engine's number type, with a float32 output layer."""
ROUNDED_HEAD = 2.0
"""Factor where the engine's output layer computes in 16 bits as well."""
FLIPS = 0.5
"""Nats added for activations in FP8: a value in the middle between two numbers may fall either way in engine and
learner, and by an eighth of itself; all later layers hear of it."""


def probe_tolerance(dtype: str, lm_head_dtype: str, fp8: Fp8 | None) -> float:
    """Largest mean difference between engine and learner at the same weights that may count as noise, in nats.

    Both compute in the engine's precision when the probe is scored, whatever the learner trains in: what is left is
    the order of sums, and where a rounding falls differently in consequence.
    """
    rounds_head = dtype != "float32" and lm_head_dtype == "model"
    flips = FLIPS if fp8 is not None and fp8.activations else 0.0
    return PROBE_TOLERANCE[dtype] * (ROUNDED_HEAD if rounds_head else 1.0) + flips
