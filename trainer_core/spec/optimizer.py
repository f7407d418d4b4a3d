"""How gradients become updates."""

from typing import Literal

from trainer_core.spec.base import SpecModel, field


class Optimizer(SpecModel):
    """AdamW (arXiv 1711.05101)."""

    type: Literal["adamw"] = "adamw"
    learning_rate: float = field(1e-6, gt=0.0, le=1.0, steer="optimizer_step", widget="slider")
    """Step size after warm-up."""
    beta1: float = field(0.9, ge=0.0, lt=1.0)
    """Decay of the first moment."""
    beta2: float = field(0.95, ge=0.0, lt=1.0)
    """Decay of the second moment."""
    epsilon: float = field(1e-8, gt=0.0)
    """Added to the root of the second moment."""
    weight_decay: float = field(0.0, ge=0.0)
    """Decoupled weight decay."""
    max_grad_norm: float = field(1.0, gt=0.0, steer="optimizer_step")
    """Gradients are scaled down to this global norm."""
    warmup_steps: int = field(0, ge=0, unit="steps")
    """Linear warm-up of the step size."""
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    """Course of the step size after warm-up, over ``schedule.steps``."""
