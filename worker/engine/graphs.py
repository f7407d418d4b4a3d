"""CUDA graphs of an engine: whether its decoding step is recorded, and the memory that a recording reads.

A recorded step is replayed without Python: a small policy's step costs a fraction. Only steps in which every sequence
decodes one token are recorded, with the kernels that run without a recording too: what is sampled does not change,
nothing is compiled, and steps with prompts, drafted tokens or scores run as ever. The projection to logits and the
sampler always run outside of the recording.
"""

from __future__ import annotations

from typing import Any

import torch

from worker.engine.types import EngineConfig, EngineError


def recording(config: EngineConfig, *, on_cpu: bool) -> dict[str, Any]:
    """Arguments of vLLM's that have the decoding step recorded, where that is possible.

    A CPU has no graphs. Routes through experts are told by Python in the middle of the step, which a replay skips. The
    processes of several devices would each have to bring new weights to their recording, which nobody has tried.
    """
    if on_cpu or config.routes or not config.cuda_graphs or config.devices.count > 1:
        return {"enforce_eager": True}
    from vllm.config.compilation import CompilationConfig, CompilationMode, CUDAGraphMode

    compilation = CompilationConfig(mode=CompilationMode.NONE, cudagraph_mode=CUDAGraphMode.FULL_DECODE_ONLY)
    return {"enforce_eager": False, "compilation_config": compilation}


class RecordedMemory:
    """The tensors of a model as a recording reads them: by address, whatever the model's layers hold later."""

    def __init__(self, model: torch.nn.Module) -> None:
        """Remember where every layer's tensors are, once the steps have been recorded."""
        self._held = [
            (module, f"{path}.{name}" if path else name, name, tensor)
            for path, module in model.named_modules()
            for name, tensor in _tensors(module).items()
        ]

    @torch.no_grad()
    def restore(self) -> None:
        """Bring values that a layer now keeps elsewhere, as packing may leave them, to where the recording reads them.

        Raises:
            EngineError: a tensor has another shape or type now, or is gone: the recording cannot be used.
        """
        for module, path, name, recorded in self._held:
            now = _tensors(module).get(name)
            if now is not None and now.data_ptr() == recorded.data_ptr() and now.stride() == recorded.stride():
                continue
            if now is None or (now.shape, now.dtype, now.device) != (recorded.shape, recorded.dtype, recorded.device):
                raise EngineError(
                    f"{path} is another tensor since the weights came than the one in the recorded CUDA graphs; set "
                    "rollout.engine.cuda_graphs = false"
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
