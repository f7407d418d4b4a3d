"""Log-probability of given tokens, and entropy, directly from hidden states and the output layer's weight."""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from kernels.backend import Backend, uses_triton
from kernels.linear_logprob import reference


def linear_logprob(
    hidden: Tensor,
    weight: Tensor,
    targets: Tensor,
    temperature: Tensor,
    bias: Tensor | None = None,
    *,
    softcap: float | None = None,
    batch_invariant: bool = False,
    backend: Backend = "auto",
) -> tuple[Tensor, Tensor]:
    """Natural-log probability of each target, and the entropy of its distribution in nats, both with gradient.

    With z = (hidden · weightᵀ + bias) / temperature: ``z_target − log Σ_v exp z_v`` and ``−Σ_v p_v log p_v``. Apart
    from inputs and gradients, memory does not grow with tokens times vocabulary.

    Args:
        hidden: [T, D], float64, float32, bfloat16 or float16.
        weight: [V, D], same type.
        targets: int64 [T], each in 0 … V − 1.
        temperature: [T], above 0; without gradient.
        bias: [V]; −inf takes a token out of the vocabulary.
        softcap: c if logits are capped to c·tanh(logit / c) before the temperature divides them; the reference computes
            it on every device.
        batch_invariant: whether a token's results must be the same to the last bit for any other tokens in the batch.
        backend: see ``kernels.backend``.

    Returns:
        Two times [T] in float32 (float64 for float64 inputs).

    Raises:
        BackendUnavailable: Triton was requested but cannot run here.
        ValueError: shapes do not fit, the vocabulary is empty, or Triton was requested with a cap.
    """
    if hidden.ndim != 2 or weight.ndim != 2 or hidden.shape[1] != weight.shape[1] or not len(weight):
        raise ValueError(f"hidden {tuple(hidden.shape)} and weight {tuple(weight.shape)} must be [T, D] and [V, D]")
    if targets.shape != hidden.shape[:1] or temperature.shape != hidden.shape[:1]:
        raise ValueError(f"targets and temperature must have the shape [{len(hidden)}] of the tokens")
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ValueError(f"the bias must have the shape [{len(weight)}] of the vocabulary")
    if softcap is not None and backend == "triton":
        raise ValueError("the Triton path does not cap logits: leave backend at 'auto'")
    implementation = _implementation(softcap is None and uses_triton(hidden, backend))
    rows = len(hidden)
    if batch_invariant and (spare := -rows % implementation.row_tile(hidden, weight)):
        # Pad to whole tiles: the shape of the last one must not affect the results.
        hidden, targets = pad(hidden, (0, 0, 0, spare)), pad(targets, (0, spare))
        temperature = pad(temperature, (0, spare), value=1.0)
    given = (hidden, weight, targets, temperature, bias, softcap)
    logprobs, entropies = _LinearLogprob.apply(*given, batch_invariant, implementation)
    return logprobs[:rows], entropies[:rows]


def _implementation(triton: bool) -> Any:
    if triton:
        from kernels.linear_logprob import triton as compiled

        return compiled
    return reference


class _LinearLogprob(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        targets: Tensor,
        temperature: Tensor,
        bias: Tensor | None,
        softcap: float | None,
        batch_invariant: bool,
        implementation: Any,
    ) -> tuple[Tensor, Tensor]:
        given = reference.OutputLayerInputs(hidden, weight, targets, temperature, bias, softcap)
        logprobs, saved = implementation.forward(given, batch_invariant=batch_invariant)
        ctx.implementation, ctx.softcap = implementation, softcap
        # Outputs must not be stored on the context itself, because they would keep their own graph alive.
        ctx.save_for_backward(hidden, weight, targets, temperature, bias, saved.logsumexp, saved.entropy, saved.kept)
        ctx.set_materialize_grads(False)
        return logprobs, saved.entropy

    @staticmethod
    def backward(ctx: Any, slope: Tensor | None, entropy_slope: Tensor | None) -> tuple[Tensor | None, ...]:
        if slope is None and entropy_slope is None:
            return (None,) * 8
        hidden, weight, targets, temperature, bias, logsumexp, entropy, kept = ctx.saved_tensors
        saved = reference.Saved(logsumexp, entropy, kept)
        needs = (ctx.needs_input_grad[0], ctx.needs_input_grad[1], ctx.needs_input_grad[4])
        given = reference.OutputLayerInputs(hidden, weight, targets, temperature, bias, ctx.softcap)
        found = ctx.implementation.backward(slope, entropy_slope, saved, given, needs)
        return found.hidden, found.weight, None, None, found.bias, None, None, None
