"""CUDA graphs for an engine: whether its decoding step is recorded, and the memory that a recording reads.

A recorded step is replayed without Python, which makes a small policy's step several times cheaper. Only steps in which
every sequence decodes one token are recorded, with the same kernels as without a recording. So the samples do not
change and nothing is compiled. Steps with prompts, drafted tokens or scores run as usual. The projection to logits and
the sampler always run outside the recording.
"""

from __future__ import annotations

from typing import Any

import torch

from worker.engine.types import EngineConfig, EngineError


def recording(config: EngineConfig, *, on_cpu: bool) -> dict[str, Any]:
    """vLLM arguments that record the decoding step, if that is possible.

    A CPU has no graphs. Routes through experts are collected by Python in the middle of the step, which a replay skips.
    With several devices, each process would have to copy new weights into its recording, which has not been tried.
    """
    if on_cpu or config.routes or not config.cuda_graphs or config.devices.count > 1:
        return {"enforce_eager": True}
    from vllm.config.compilation import CompilationConfig, CompilationMode, CUDAGraphMode

    compilation = CompilationConfig(mode=CompilationMode.NONE, cudagraph_mode=CUDAGraphMode.FULL_DECODE_ONLY)
    return {"enforce_eager": False, "compilation_config": compilation}


class RecordedMemory:
    """The tensors of a model at the addresses that a recording reads, even if its layers later hold others."""

    def __init__(self, model: torch.nn.Module) -> None:
        """Remember where every layer's tensors are. Call this after the steps have been recorded."""
        self._held = [
            (module, f"{path}.{name}" if path else name, name, tensor)
            for path, module in model.named_modules()
            for name, tensor in _tensors(module).items()
        ]

    @torch.no_grad()
    def restore(self) -> None:
        """Copy values that a layer now holds elsewhere, for example after packing, to where the recording reads them.

        Raises:
            EngineError: a tensor has another shape or type now, or is gone: the recording cannot be used.
        """
        for module, path, name, recorded in self._held:
            now = _tensors(module).get(name)
            if now is not None and now.data_ptr() == recorded.data_ptr() and now.stride() == recorded.stride():
                continue
            if now is None or (now.shape, now.dtype, now.device) != (recorded.shape, recorded.dtype, recorded.device):
                raise EngineError(
                    f"{path} is no longer the tensor in the recorded CUDA graphs after the weight update; set"
                    " rollout.engine.cuda_graphs = false"
                )
            recorded.copy_(now)
            _put(module, name, recorded)


def _tensors(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """A layer's own parameters, buffers and plain attributes that are tensors."""
    every: dict[str, Any] = {**module.__dict__, **module._buffers, **module._parameters}
    return {name: value for name, value in every.items() if isinstance(value, torch.Tensor)}


def _put(module: torch.nn.Module, name: str, tensor: torch.Tensor) -> None:
    for kind in (module._parameters, module._buffers, module.__dict__):
        if name in kind:
            kind[name] = tensor  # type: ignore[assignment]
            return
