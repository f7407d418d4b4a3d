"""Linear layers in FP8: on the GPU if it supports them, else simulated by rounding activations and weights.

A simulated layer multiplies FP8 values in the engine's own type. Log-probabilities match an FP8 engine; speed and
memory do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import torch

from trainer_core.update.formats.quantise import is_quantised, rounded_activations
from worker.engine.types import EngineConfig, EngineError, Fp8Config

if TYPE_CHECKING:
    from vllm.config import VllmConfig

Execution = Literal["hardware", "simulated"]

ROUNDED = "dressage_rounded"
"""Name of the attribute that holds the scales by which a layer's experts round their inputs."""
MIN_CAPABILITY = (8, 9)
"""Oldest CUDA compute capability with FP8 matrix products."""
SCHEMES = {"block": "fp8_per_block", "channel": "fp8_per_channel"}
"""vLLM's names. Weights and activations are quantised in tiles of the same shapes as in a simulation."""


def execution(config: EngineConfig) -> Execution | None:
    """Mode in which the engine of ``config`` computes in FP8; None if it does not.

    Raises:
        EngineError: hardware FP8 is required, but this machine does not support it.
    """
    if config.fp8 is None:
        return None
    if config.fp8.execution == "simulated":
        return "simulated"
    reason = refusal(config.fp8, config.dtype)
    if reason is None:
        return "hardware"
    if config.fp8.execution == "hardware":
        raise EngineError(f"refused: FP8 by hardware needs {reason}")
    return "simulated"


def refusal(fp8: Fp8Config, dtype: str) -> str | None:
    """Reason why this machine cannot compute FP8 matrix products; None if it can."""
    if not fp8.activations:
        return "activations in FP8, not only weights"
    if dtype not in ("bfloat16", "float16"):
        return f"a dtype of 16 bits, not {dtype}"
    if not torch.cuda.is_available():
        return "a CUDA GPU, and this machine has none"
    found = torch.cuda.get_device_capability()
    if found < MIN_CAPABILITY:
        needed = ".".join(map(str, MIN_CAPABILITY))
        return f"compute capability {needed}, and this GPU has {found[0]}.{found[1]}"
    return None


def simulate(model: torch.nn.Module, fp8: Fp8Config) -> None:
    """Make the linear layers of ``model`` round activations to FP8. The loader has already rounded their weights.

    Raises:
        EngineError: the model holds its experts in one tensor, whose activations are not accessible.
    """
    from vllm.model_executor.layers.linear import LinearBase

    for name, module in model.named_modules():
        joint = next((own for own, value in module.named_parameters(recurse=False) if value.ndim > 2), None)
        if joint is None:
            continue
        if not _are_plain(module):
            raise EngineError(
                f"refused: FP8 cannot be simulated in fused experts ({f'{name}.{joint}'.lstrip('.')}): remove"
                " rollout.engine.quantization, or run on a GPU with FP8"
            )
        setattr(module, ROUNDED, fp8.scales if fp8.activations else None)
    if not fp8.activations:
        return

    def read(_: torch.nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return rounded_activations(inputs[0], fp8.scales), *inputs[1:]

    for name, module in model.named_modules():
        if isinstance(module, LinearBase) and is_quantised(f"{name}.weight", 2):
            module.register_forward_pre_hook(read)


def _are_plain(module: Any) -> bool:
    """Whether these experts run in plain torch, with matrices that are quantised one by one."""
    from worker.engine.models.plain_experts import PlainExperts

    return getattr(getattr(module, "quant_method", None), "experts_cls", None) is PlainExperts and not hasattr(
        module, "w13_bias"
    )


def reload(vllm_config: VllmConfig, model: torch.nn.Module, tensors: Mapping[str, torch.Tensor]) -> None:
    """Load a checkpoint's tensors into a model that vLLM itself quantises, layer by layer."""
    from vllm.model_executor.model_loader.reload.inplace import reload_weights

    reload_weights(vllm_config, model, iter(tensors.items()), None, True)
