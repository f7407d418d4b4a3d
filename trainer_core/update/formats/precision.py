"""The learner's layers in 16 bits or FP8, as an engine computes them, on float32 weights.

float32 weights ─ rounded ─┐                                 ┌─► float32: output layer, log-probabilities, loss
                embedding ─┴► layers in the flow's formats ──┤
gradients of the weights ◄─ divided ─ backward in them too ◄─┴─ scaled: float16 has no room for small gradients

Only the weight probe changes the flow: it is always scored in the engine's formats. Any difference that it finds is
then a fault of the transfer and not the engine's rounding.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import MethodType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import PreTrainedModel

from trainer_core.spec import RunSpec
from trainer_core.spec.learner.precision import Float32Precision, HalfPrecision, UnifiedPrecision
from trainer_core.update.formats.quantise import (
    Quantised,
    Scales,
    dequantise,
    is_quantised,
    quantised_activations,
    rounded,
    weight_tile,
)
from trainer_core.update.packed.attention import UnsupportedPolicy

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass(frozen=True, slots=True)
class Flow:
    """The formats of one forward pass."""

    dtype: torch.dtype = torch.float32
    fp8: Scales | None = None
    """Scales of linear layers' weights in FP8; None if these stay in ``dtype``."""
    activations: bool = True
    """Whether the inputs of these layers are in FP8 too."""


@dataclass(frozen=True, slots=True)
class Flows:
    """Formats of a policy: in training, and in the engines."""

    training: Flow = Flow()
    engine: Flow = Flow()

    @classmethod
    def of(cls, spec: RunSpec) -> "Flows":
        """Formats that a spec requests."""
        settings, fp8 = spec.rollout.engine, spec.rollout.engine.quantization
        dtype = DTYPES[settings.dtype]
        engine = Flow(dtype) if fp8 is None else Flow(dtype, fp8.scales, fp8.activations)
        match spec.precision:
            case Float32Precision():
                return cls(Flow(), engine)
            case HalfPrecision():
                return cls(Flow(DTYPES[spec.precision.dtype]), engine)
            case UnifiedPrecision():
                return cls(engine, engine)

    @property
    def alone(self) -> "Flows":
        """Formats of a copy that no engine serves."""
        return Flows(self.training, self.training)

    @property
    def plain(self) -> bool:
        """Whether everything is float32."""
        return self == Flows()


class _Switch:
    """State that the layers of one policy share."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.gradient_scale = torch.ones(())
        """Gradient scale of the running backward pass."""


def use_precision(model: PreTrainedModel, flows: Flows | None) -> None:
    """Make the layers of ``model`` compute in ``flows``; its weights do not change.

    A policy that trains in float32 and has layers of unknown kinds is left unchanged: its probe is scored in float32.

    Raises:
        UnsupportedPolicy: the policy has such layers, but is to be trained in fewer bits or served in FP8.
    """
    if flows is None or flows.plain:
        return
    known = _known if flows.engine.fp8 is None else _known_with_experts
    if (strange := _strange(model, known)) is not None:
        if flows.training == Flow() and flows.engine.fp8 is None:
            return
        raise UnsupportedPolicy(
            f"{strange} belongs to neither a linear layer nor an embedding nor a norm: it cannot be rounded as in an"
            " engine. Train in float32 and serve without FP8"
        )
    switch = _Switch(flows.training)
    head = model.get_output_embeddings()
    for name, module in model.named_modules():
        if type(module) is nn.Linear and module is not head:
            quantised = is_quantised(f"{name}.weight", 2)
            _replace(module, switch, _linear, quantised=quantised, product=functional.linear)
        elif isinstance(module, nn.Embedding):
            _replace(module, switch, _embedding)
        elif _is_norm(module):
            _replace(module, switch, _norm, wide_forward=module.forward)
        elif _are_experts(module):
            _replace(module, switch, _experts, wide_forward=module.forward)
        elif _is_router(module):
            module.held = partial(_held, switch)
    layers = getattr(model, model.base_model_prefix)
    layers.register_forward_hook(lambda _module, _inputs, output: _leave(switch, output))
    model.flows, model.switch = flows, switch


def rounds_as_engine(model: nn.Module) -> bool:
    """Whether ``as_engine`` computes differently from float32."""
    policy: Any = getattr(model, "module", model)
    return getattr(policy, "switch", None) is not None and policy.flows.engine != Flow()


@contextmanager
def as_engine(model: nn.Module, *, exactly: bool = False) -> Iterator[None]:
    """Makes the policy (or the engine around it) compute in the formats of the rollout engines while open.

    ``exactly``: in float32 instead, which shows the effect of those formats.
    """
    policy: Any = getattr(model, "module", model)
    switch = getattr(policy, "switch", None)
    if switch is None:
        yield
        return
    switch.flow = Flow() if exactly else policy.flows.engine
    try:
        yield
    finally:
        switch.flow = policy.flows.training


def _strange(model: nn.Module, known: Callable[[nn.Module], bool]) -> str | None:
    """A weight that is used by a layer of unknown kind."""
    for name, module in model.named_modules():
        if known(module):
            continue
        for own, _ in module.named_parameters(prefix=name, recurse=False):
            return own
    return None


def _known(module: nn.Module) -> bool:
    return type(module) is nn.Linear or isinstance(module, nn.Embedding) or _is_norm(module)


def _known_with_experts(module: nn.Module) -> bool:
    """Engines that do not compute in FP8 round experts differently, so experts are left unchanged for them."""
    return _known(module) or _are_experts(module) or _is_router(module)


def _are_experts(module: Any) -> bool:
    """Whether these are all experts of a layer, [gate; up] and down, without biases."""
    plain = not (getattr(module, "has_bias", True) or getattr(module, "is_transposed", True))
    own = {name for name, _ in module.named_parameters(recurse=False)}
    return plain and own == {"gate_up_proj", "down_proj"} and bool(module.has_gate and module.is_concatenated)


def _is_router(module: Any) -> bool:
    """Whether ``module`` is a router adapted by ``hybrid.router``."""
    own = {name for name, _ in module.named_parameters(recurse=False)}
    return hasattr(module, "replayed") and own == {"weight"}


def _is_norm(module: nn.Module) -> bool:
    return type(module).__name__.endswith("Norm") and isinstance(getattr(module, "weight", None), nn.Parameter)


def _replace(module: nn.Module, switch: _Switch, forward: Any, **facts: Any) -> None:
    for name, fact in {"switch": switch, "forward": MethodType(forward, module), **facts}.items():
        setattr(module, name, fact)


# ── forward passes; ``self`` is the module whose forward pass they replace ──


def _linear(self: Any, x: Tensor) -> Tensor:
    flow = self.switch.flow
    if flow.fp8 is not None and self.quantised:
        if flow.activations:
            return _Fp8Linear.apply(x.to(flow.dtype), self.weight, self.bias, self.switch)
        bias = None if self.bias is None else _narrow(self.bias, self.switch)
        return functional.linear(x.to(flow.dtype), _Fp8Weight.apply(self.weight, self.switch), bias)
    bias = None if self.bias is None else _narrow(self.bias, self.switch)
    found: Tensor = self.product(x.to(flow.dtype), _narrow(self.weight, self.switch), bias)
    return found


def _experts(self: Any, states: Tensor, chosen: Tensor, shares: Tensor) -> Tensor:
    """Sum over the chosen experts [N, K] of states [N, D], in float32, like the engine's."""
    flow = self.switch.flow
    if flow == Flow():
        found: Tensor = self.wide_forward(states, chosen, shares)
        return found
    summed = torch.zeros(states.shape, dtype=torch.float32, device=states.device)
    matrices = zip(self.gate_up_proj.unbind(0), self.down_proj.unbind(0), strict=True)
    for expert, (gate_up, down) in enumerate(matrices):
        rows, slots = torch.where(chosen == expert)
        gate, up = (_product(states[rows], matrix, self.switch) for matrix in gate_up.chunk(2))
        told = _product(self.act_fn(gate) * up, down, self.switch)
        summed.index_add_(0, rows, told.float() * shares[rows, slots, None].float())
    return _narrow(summed, self.switch)


def _product(x: Tensor, weight: Tensor, switch: _Switch) -> Tensor:
    """x · Wᵀ with an expert's matrix, which is quantised like the separate tensor that it is in the files."""
    flow = switch.flow
    if flow.fp8 is not None and flow.activations:
        return _Fp8Linear.apply(x.to(flow.dtype), weight, None, switch)
    narrow = _narrow(weight, switch) if flow.fp8 is None else _Fp8Weight.apply(weight, switch)
    return functional.linear(x.to(flow.dtype), narrow)


def _held(switch: _Switch, weight: Tensor) -> Tensor:
    """A router's weight as the engine holds it, in float32."""
    dtype = switch.flow.dtype
    return weight if dtype == torch.float32 else _RoundWeight.apply(weight, dtype)


def _embedding(self: Any, ids: Tensor) -> Tensor:
    found = _narrow(functional.embedding(ids, self.weight, self.padding_idx), self.switch)
    scale = getattr(self, "embed_scale", None)  # Gemma's; engines also apply it to the rounded embedding
    return found if scale is None else found * scale.to(found.dtype)


def _norm(self: Any, x: Tensor) -> Tensor:
    """Normalise in float32 between two roundings, as engines do."""
    if self.switch.flow.dtype == torch.float32:
        return self.wide_forward(x)
    states, epsilon = _Widen.apply(x, self.switch), getattr(self, "lean_epsilon", None)
    if epsilon is None:
        return _narrow(self.wide_forward(states), self.switch)
    return _narrow(
        self.normalise(states, _RoundWeight.apply(self.weight, self.switch.flow.dtype), epsilon), self.switch
    )


def _leave(switch: _Switch, output: Any) -> Any:
    """Convert the input of the output layer to float32. The gradient returns through here."""
    output.last_hidden_state = _Leave.apply(output.last_hidden_state, switch)
    return output


def _narrow(values: Tensor, switch: _Switch) -> Tensor:
    """Convert float32 to the flow's number type. The gradient returns in float32 and without its scale."""
    return values if switch.flow.dtype == values.dtype else _Narrow.apply(values, switch)


# ── roundings, each with a straight-through gradient ──


class _Narrow(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, switch: _Switch) -> Tensor:
        ctx.switch = switch
        return values.to(switch.flow.dtype)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return grad.float().div_(ctx.switch.gradient_scale), None


class _Widen(torch.autograd.Function):
    """Temporarily back to float32."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, switch: _Switch) -> Tensor:
        ctx.switch, ctx.dtype = switch, states.dtype
        return states.float()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return (grad * ctx.switch.gradient_scale).to(ctx.dtype), None


class _Leave(_Widen):
    """Out of the layers. If they are in float16, the gradient enters them with its largest entry between 1 and 2."""

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        scale = torch.ones((), device=grad.device)
        if ctx.dtype == torch.float16 and grad.numel():
            # A power of two, so scaling and unscaling are exact. A gradient of zeros, or a non-finite one, which will
            # be refused, is not scaled.
            exact = torch.exp2(-grad.abs().amax().log2().floor().clamp(-100.0, 100.0))
            scale = torch.where(exact.isfinite(), exact, scale)
        ctx.switch.gradient_scale = scale
        return (grad * scale).to(ctx.dtype), None


class _RoundWeight(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor, dtype: torch.dtype) -> Tensor:
        return weight.to(dtype).to(weight.dtype)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return grad, None


class _Fp8Weight(_Narrow):
    """The gradient is the same as for narrowing alone."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, switch: _Switch) -> Tensor:
        ctx.switch = switch
        return _rounded(values, switch.flow)


class _Fp8Linear(torch.autograd.Function):
    """y = q(x) · q(W)ᵀ + b. Activations are saved for the backward pass in FP8, one byte each."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, switch: _Switch) -> Tensor:
        flow = switch.flow
        assert flow.fp8 is not None
        held = quantised_activations(x, flow.fp8)
        ctx.switch, ctx.flow, ctx.tile, ctx.shape = switch, flow, held.tile, x.shape
        ctx.save_for_backward(held.codes, held.scales, weight)
        states = dequantise(held).to(flow.dtype).view(x.shape)
        return functional.linear(states, _rounded(weight, flow), None if bias is None else bias.to(flow.dtype))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        codes, scales, weight = ctx.saved_tensors
        flat, scale = grad.reshape(-1, grad.shape[-1]), ctx.switch.gradient_scale
        to_states = to_weight = to_bias = None
        if ctx.needs_input_grad[0]:
            to_states = (flat @ _rounded(weight, ctx.flow)).view(ctx.shape)
        if ctx.needs_input_grad[1]:
            states = dequantise(Quantised(codes, scales, ctx.tile)).to(ctx.flow.dtype)
            to_weight = (flat.T @ states).float().div_(scale)
        if ctx.needs_input_grad[2]:
            to_bias = flat.float().sum(0).div_(scale)
        return to_states, to_weight, to_bias, None


def _rounded(weight: Tensor, flow: Flow) -> Tensor:
    assert flow.fp8 is not None
    return rounded(weight, weight_tile(flow.fp8, weight.shape[1])).to(flow.dtype)
