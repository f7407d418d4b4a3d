"""Optimizers: how gradients become updates."""

from typing import Literal

from trainer_core.spec.base import SpecModel, field


class Optimizer(SpecModel):
    """AdamW (arXiv 1711.05101)."""

    type: Literal["adamw"] = "adamw"
    learning_rate: float = field(1e-6, gt=0.0, le=1.0, steer="optimizer_step", widget="slider")
    """Step size after warm-up."""
    beta1: float = field(0.9, ge=0.0, lt=1.0)
    """Decay of the first moment. MiniMax-M1 (arXiv 2506.13585) uses 0.9, 0.95 and an epsilon of 1e-15: its gradients go
    down to 1e-18."""
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
    ess_scaling: Literal["none", "sqrt", "linear"] = "none"
    """Shrink the step size with the effective sample size of the importance weights w = π_θ / π_behaviour of whole
    completions: by min(1, ((Σw)² / (B·Σw²)) / ess_base), or by its root, which suits AdamW. Source: VCPO (arXiv
    2602.17616)."""
    ess_base: float = field(1.0, gt=0.0, le=1.0, unit="share")
    """Effective share of the samples above which the step size is full."""
    moment_bits: Literal[32, 8] = 32
    """Bits of each moment. 8 takes a quarter of the memory: blocks of 256 values share a scale (8-bit optimizers, arXiv
    2110.02861); weights of fewer than 4096 numbers keep 32. Needs the library bitsandbytes and ZeRO stage 0."""
    offload: bool = False
    """Keep moments and float32 masters in host memory and step them there, as ZeRO-Offload does (arXiv 2101.06840).
    Needs ZeRO stage 1 to 3. Refused on a CPU, where they already are."""
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    """Schedule of the step size after warm-up, over ``schedule.steps``."""
