"""AdamW with its own clipping and refusal of steps, and its step-size schedule."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from trainer_core.spec import RunSpec
from trainer_core.spec.learner.optimizer import Optimizer
from trainer_core.update.model.naming import VALUE_HEAD
from trainer_core.update.model.shards import whole_shape
from trainer_core.update.optimization.masters import Masters

MOMENTS = ("exp_avg", "exp_avg_sq")


class Clipping(torch.optim.Optimizer, ABC):
    """Common behaviour of all AdamW variants: a step clips to a global gradient norm; a non-finite norm refuses it.

    Parameter groups that are ``resting`` are left unchanged, including moments and step counts. Under ZeRO, DeepSpeed
    does its own clipping and refusal; there ``max_grad_norm`` stays None and each call steps one partition.
    """

    max_grad_norm: float | None = None
    divisor = 1.0
    grad_norm = math.nan
    applied = True

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """Clip, then step. If the gradient norm is not finite, changes nothing and sets ``applied`` to False."""
        if closure is not None:
            raise ValueError(f"{type(self).__name__} accepts no closure")
        if self.max_grad_norm is not None:
            gradients = [p.grad for group in self.param_groups for p in group["params"] if p.grad is not None]
            self.grad_norm = float(torch.nn.utils.get_total_norm(gradients)) / self.divisor
            self.applied = math.isfinite(self.grad_norm)
            if not self.applied:
                return
            scale = 1.0 / self.divisor
            if self.grad_norm > self.max_grad_norm:
                scale *= self.max_grad_norm / (self.grad_norm + 1e-6)
            if scale != 1.0:
                torch._foreach_mul_(gradients, scale)
        # A step of size 0 would not move a weight but still be counted: with moments of 0, the bias correction of the
        # first real step would count many earlier steps and make that step several times too long.
        everybody, self.param_groups = self.param_groups, [g for g in self.param_groups if not g["resting"]]
        try:
            super().step()
        finally:
            self.param_groups = everybody

    @abstractmethod
    def allocate(self, parameters: Iterable[Tensor]) -> None:
        """Create the moments of ``parameters`` now rather than at the first step, so that they can be loaded."""

    def kept(self, parameter: Tensor) -> dict[str, Tensor]:
        """The moments of a parameter, not copied; all zeros at first."""
        return {name: self.state[parameter][name] for name in MOMENTS}

    def steps(self, parameter: Tensor) -> int:
        """Steps that a parameter has taken."""
        return int(self.state[parameter]["step"])

    def set_steps(self, parameter: Tensor, count: int) -> None:
        """Set the number of steps that a parameter has taken to ``count``."""
        self.state[parameter]["step"].fill_(count)


class ClippedAdamW(Clipping, torch.optim.AdamW):
    """AdamW (arXiv 1711.05101) with clipping."""

    def __init__(self, model: nn.Module, spec: Optimizer, masters: Masters | None = None) -> None:
        stepped, betas = groups(model, spec, masters), (spec.beta1, spec.beta2)
        super().__init__(stepped, lr=spec.learning_rate, betas=betas, eps=spec.epsilon, fused=True)

    def allocate(self, parameters: Iterable[Tensor]) -> None:
        """Implements ``Clipping.allocate``."""
        for parameter in parameters:
            self.state[parameter] = {
                "step": torch.zeros((), dtype=torch.float32, device=parameter.device),
                **{name: torch.zeros_like(parameter) for name in MOMENTS},
            }


def groups(model: nn.Module, spec: Optimizer, masters: Masters | None = None) -> list[dict[str, Any]]:
    """Parameter groups of the trained weights of ``model``, or their masters, each with a ``role``: policy or value."""
    trained = [
        (name, parameter if masters is None else masters.of(parameter))
        for name, parameter in model.named_parameters()
        if parameter.requires_grad
    ]
    head = [parameter for name, parameter in trained if name.startswith(f"{VALUE_HEAD}.")]
    policy = [parameter for name, parameter in trained if not name.startswith(f"{VALUE_HEAD}.")]
    matrices = [parameter for parameter in policy if len(whole_shape(parameter)) >= 2]
    vectors = [parameter for parameter in policy if len(whole_shape(parameter)) < 2]
    # Decay is for matrices only: pulling a normalisation's scale to zero would not regularise anything.
    found: list[dict[str, Any]] = [{"params": matrices, "weight_decay": spec.weight_decay, "role": "policy"}]
    if vectors:
        found.append({"params": vectors, "weight_decay": 0.0, "role": "policy"})
    if head:
        found.append({"params": head, "weight_decay": 0.0, "role": "value"})
    return [{**group, "resting": False} for group in found]


def learning_rate(spec: RunSpec, step: int) -> float:
    """Step size of training step ``step`` (1-based): linear warm-up, then constant, linear or cosine.

    Linear and cosine start at the full value in the first step after warm-up and end one step before zero.
    """
    optimizer = spec.optimizer
    if step <= optimizer.warmup_steps:
        return optimizer.learning_rate * step / optimizer.warmup_steps
    progress = (step - optimizer.warmup_steps - 1) / max(1, spec.schedule.steps - optimizer.warmup_steps)
    progress = min(progress, 1.0)
    match optimizer.schedule:
        case "constant":
            return optimizer.learning_rate
        case "linear":
            return optimizer.learning_rate * (1.0 - progress)
        case "cosine":
            return optimizer.learning_rate * 0.5 * (1.0 + math.cos(math.pi * progress))
