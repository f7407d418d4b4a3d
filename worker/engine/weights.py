"""Replace a serving model's weights in place: check everything first, then copy, then pack every layer again."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from vllm.config import ModelConfig, VllmConfig
from vllm.model_executor.model_loader.utils import process_weights_after_loading
from vllm.utils.torch_utils import set_default_torch_dtype

from trainer_core.update.formats.quantise import Scales, rounded_weight
from worker.engine import fp8
from worker.engine.head import Float32Head
from worker.engine.loader import EMBEDDING_SUFFIX, HEAD, RECORD_ATTRIBUTE, WeightRecord
from worker.engine.models.mixtures import forget_packed_experts
from worker.engine.types import EngineError, WeightsRefusedError

Tensors = Mapping[str, "np.ndarray | torch.Tensor"]


class WeightStore:
    """The plain parameters of one model and the names an update must bring (those of its checkpoint)."""

    def __init__(
        self,
        model: torch.nn.Module,
        model_config: ModelConfig,
        device: torch.device,
        *,
        float32_head: bool = False,
        simulated_fp8: Scales | None = None,
        quantised_by: VllmConfig | None = None,
    ) -> None:
        """Take over a model that `PlainWeightLoader` has loaded.

        `simulated_fp8` rounds the weights of each update; with `quantised_by` vLLM quantises them itself.
        """
        record = getattr(model, RECORD_ATTRIBUTE, None)
        if not isinstance(record, WeightRecord):
            raise EngineError("the model was not loaded by PlainWeightLoader: its weights cannot be updated")
        self._model = model
        self._model_config = model_config
        self._device = device
        self._simulated_fp8, self._quantised_by = simulated_fp8, quantised_by
        self._record = record
        # A model that computes in float32 has nothing to gain.
        self._head = Float32Head(model, record.head, device) if float32_head and record.head is not None else None
        record.head = None
        self._tied = bool(getattr(model_config.hf_text_config, "tie_word_embeddings", False))

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Hugging Face name to shape of every tensor an update must bring."""
        return dict(self._record.shapes)

    def check(self, tensors: Tensors) -> dict[str, torch.Tensor]:
        """Validate names, shapes and finiteness. Raises `WeightsRefusedError`; changes nothing."""
        expected = self._record.shapes
        given = {name: _as_tensor(name, value) for name, value in tensors.items()}
        if self._tied and HEAD in given and HEAD not in expected:
            self._drop_tied_head(given)
        expected = {**expected, **{name: shape for name, shape in self._record.optional.items() if name in given}}
        unknown = sorted(set(given) - set(expected))
        missing = sorted(set(expected) - set(given))
        if self._tied and HEAD in missing:
            missing.remove(HEAD)
        if unknown or missing:
            raise WeightsRefusedError(f"weights refused: unknown {unknown[:5]}, missing {missing[:5]}")
        for name, tensor in given.items():
            if tuple(tensor.shape) != expected[name]:
                raise WeightsRefusedError(
                    f"weights refused: {name} has shape {tuple(tensor.shape)}, the model needs {expected[name]}"
                )
            if not _is_finite(tensor):
                raise WeightsRefusedError(f"weights refused: {name} holds values that are not finite")
        return given

    def load(self, tensors: dict[str, torch.Tensor]) -> None:
        """Copy checked tensors into the plain parameters and pack every layer again, the tied head included."""
        scales = self._simulated_fp8
        held = tensors if scales is None else {name: rounded_weight(name, t, scales) for name, t in tensors.items()}
        if self._quantised_by is not None:
            fp8.reload(self._quantised_by, self._model, held)
            if self._head is not None:
                self._head.load(tensors)
            return
        for module, name, parameter in self._record.parameters:
            module._parameters[name] = parameter
        with torch.no_grad(), set_default_torch_dtype(self._model_config.dtype):
            load_weights: Any = self._model.load_weights  # every vLLM model has it; torch's types do not say so
            load_weights(iter(held.items()))
            self.pack()
            if self._head is not None:
                self._head.load(tensors)

    def pack(self) -> None:
        """Turn plain parameters into the form the kernels read. On CUDA this keeps the parameters as they are."""
        forget_packed_experts(self._model)
        process_weights_after_loading(self._model, self._model_config, self._device)

    def _drop_tied_head(self, given: dict[str, torch.Tensor]) -> None:
        """A tied model's state dict names the head too; it must be the embedding itself."""
        head = given.pop(HEAD)
        embedding = next((value for name, value in given.items() if name.endswith(EMBEDDING_SUFFIX)), None)
        if embedding is None or not torch.equal(head, embedding):
            raise WeightsRefusedError(
                f"weights refused: {HEAD} differs from the embedding, but this model ties the two"
            )


def _as_tensor(name: str, value: np.ndarray | torch.Tensor) -> torch.Tensor:
    if isinstance(value, torch.Tensor):
        return value.detach()
    if isinstance(value, np.ndarray):
        with warnings.catch_warnings():
            # Shared-memory views are read-only, which torch cannot express; they are only read here.
            warnings.simplefilter("ignore", UserWarning)
            return torch.from_numpy(value)
    raise WeightsRefusedError(f"weights refused: {name} is a {type(value).__name__}, not an array or a tensor")


def _is_finite(tensor: torch.Tensor) -> bool:
    """Whether no element is NaN or infinite. NaN propagates into both extremes; three times faster than `isfinite`."""
    low, high = torch.aminmax(tensor)
    return bool(torch.isfinite(low) & torch.isfinite(high))
