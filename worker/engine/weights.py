"""Replace a serving model's weights in place: check everything first, then copy, then pack every layer again."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from vllm.config import ModelConfig, VllmConfig
from vllm.model_executor.layers.attention import is_deferred_attention_layer
from vllm.model_executor.layers.quantization.base_config import QuantizeMethodBase
from vllm.model_executor.model_loader.utils import device_loading_context, process_weights_after_loading
from vllm.utils.torch_utils import set_default_torch_dtype

from trainer_core.update.formats.changes import VALUES, apply, digest, fault, touched
from trainer_core.update.formats.quantise import Scales, rounded_weight
from worker.engine import fp8
from worker.engine.graphs import RecordedMemory
from worker.engine.head import Float32Head
from worker.engine.landings import LandingWatch, owners
from worker.engine.loader import EMBEDDING_SUFFIX, HEAD, RECORD_ATTRIBUTE, WeightRecord
from worker.engine.models.mixtures import forget_packed_experts
from worker.engine.readback import WeightReader
from worker.engine.recognition import Samples
from worker.engine.types import EngineError, WeightsRefusedError

Tensors = Mapping[str, "np.ndarray | torch.Tensor"]
Shape = tuple[int, ...]


class WeightContract:
    """The names and shapes that an update of one model must have: those of its checkpoint."""

    def __init__(self, required: Mapping[str, Shape], optional: Mapping[str, Shape], tied: bool) -> None:
        """Shapes of required and optional tensors by name, and whether head and embedding are tied."""
        self.required, self.optional, self.tied = required, optional, tied

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Hugging Face name and shape of every tensor that an update must contain."""
        return dict(self.required)

    def check(self, tensors: Tensors) -> Mapping[str, torch.Tensor]:
        """Validate names, shapes and finiteness. Raises `WeightsRefusedError`; changes nothing.

        The returned mapping reads the tensors again, one by one: a version is never fully in memory.
        """
        expected, given = self.required, set(tensors)
        if self.tied and HEAD in given and HEAD not in expected:
            self._check_tied_head(tensors)
            given.remove(HEAD)
        expected = {**expected, **{name: shape for name, shape in self.optional.items() if name in given}}
        unknown = sorted(given - set(expected))
        missing = sorted(set(expected) - given)
        if self.tied and HEAD in missing:
            missing.remove(HEAD)
        if unknown or missing:
            raise WeightsRefusedError(f"weights refused: unknown {unknown[:5]}, missing {missing[:5]}")
        checked = Checked(tensors, given)
        for name, tensor in checked.items():
            if tuple(tensor.shape) != expected[name]:
                raise WeightsRefusedError(
                    f"weights refused: {name} has shape {tuple(tensor.shape)}, the model needs {expected[name]}"
                )
            if not _is_finite(tensor):
                raise WeightsRefusedError(f"weights refused: {name} contains values that are not finite")
        return checked

    def _check_tied_head(self, tensors: Tensors) -> None:
        """A tied model's state dict names the head too; it must be the embedding itself."""
        head = _as_tensor(HEAD, tensors[HEAD])
        embedding = next((name for name in tensors if name.endswith(EMBEDDING_SUFFIX)), None)
        if embedding is None or not torch.equal(head, _as_tensor(embedding, tensors[embedding])):
            raise WeightsRefusedError(
                f"weights refused: {HEAD} differs from the embedding, but this model ties the two"
            )


class WeightStore(WeightContract):
    """The plain parameters of one model, with the contract of its updates."""

    def __init__(
        self,
        model: torch.nn.Module,
        model_config: ModelConfig,
        device: torch.device,
        *,
        float32_head: bool = False,
        simulated_fp8: Scales | None = None,
        quantised_by: VllmConfig | None = None,
        recorded: bool = False,
    ) -> None:
        """Take over a model that `PlainWeightLoader` has loaded.

        `simulated_fp8` rounds the weights of each update; with `quantised_by` vLLM quantises them itself. `recorded`:
        CUDA graphs read the model's tensors at their current addresses.
        """
        record = getattr(model, RECORD_ATTRIBUTE, None)
        if not isinstance(record, WeightRecord):
            raise EngineError("the model was not loaded by PlainWeightLoader: its weights cannot be updated")
        tied = bool(getattr(model_config.hf_text_config, "tie_word_embeddings", False))
        super().__init__(record.shapes, record.optional, tied)
        self._model = model
        self._model_config = model_config
        self._device = device
        self._simulated_fp8, self._quantised_by = simulated_fp8, quantised_by
        self._record = record
        self._recorded = RecordedMemory(model) if recorded else None
        # A model that computes in float32 does not need a float32 head.
        self._head = Float32Head(model, record.head, device) if float32_head and record.head is not None else None
        record.head = None
        self._head_name = ""
        self._places: dict[str, torch.Tensor] | None = None
        """Flat views of the plain parameters by Hugging Face name; located at the first load."""
        self.reader = WeightReader(model, model_config.dtype, device, record.samples, self._head is not None)
        """Reads back what the kernels hold."""
        record.samples = Samples()

    def load(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Copy checked tensors into the plain parameters and pack every layer again, the tied head included."""
        if self._quantised_by is not None:
            fp8.reload(self._quantised_by, self._model, tensors)
            if self._head is not None:
                self._head.load(tensors)
            self._restore()
            return
        for module, name, parameter in self._record.parameters:
            module._parameters[name] = parameter
        with torch.no_grad(), set_default_torch_dtype(self._model_config.dtype):
            load_weights: Any = self._model.load_weights  # every vLLM model has it, but torch's types do not show it
            if self._simulated_fp8 is not None:
                load_weights(_rounded(tensors, self._simulated_fp8))
            elif self._places is None:
                with LandingWatch() as watch:
                    load_weights(watch.following(tensors.items()))
            else:
                load_weights(iter(tensors.items()))
            self.pack()
            if self._head is not None:
                self._head.load(tensors)
            if self._simulated_fp8 is None and self._places is None:
                # Experts are packed as a whole, by a kernel that is rebuilt each time.
                joint = any(parameter.ndim > 2 for _, _, parameter in self._record.parameters)
                self._places = {} if joint else watch.places(tensors)
        self._restore()

    def begin(self, head: str) -> None:
        """Prepare to ``take`` an update whose output layer is named ``head``."""
        for module, name, parameter in self._record.parameters:
            module._parameters[name] = parameter
        self._head_name = head

    def take(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Copy some of an update's checked tensors into the plain parameters."""
        with torch.no_grad(), set_default_torch_dtype(self._model_config.dtype):
            load_weights: Any = self._model.load_weights
            load_weights(iter(tensors.items()))
            if self._head is not None and self._head_name in tensors:
                self._head.load({self._head_name: tensors[self._head_name]})

    def end(self) -> None:
        """Serve the weights that were taken."""
        with torch.no_grad(), set_default_torch_dtype(self._model_config.dtype):
            self.pack()

    def refusal(self, chain: Sequence[Mapping[str, torch.Tensor]]) -> str | None:
        """Reason why changes cannot be applied in place; None if they can. Changes nothing.

        Raises:
            WeightsRefusedError: the changes are invalid, regardless of the current weights.
        """
        if not self._places:
            return "this model's weights are loaded as a whole"
        for changes in chain:
            for name in sorted(touched(changes)):
                if name not in self._places:
                    return f"{name} is not a separate parameter of the model"
                if (reason := fault(self._places[name], name, changes)) is not None:
                    raise WeightsRefusedError(f"weights refused: {reason}")
        return None

    def change(self, chain: Sequence[Mapping[str, torch.Tensor]], digests: Mapping[str, bytes]) -> None:
        """Apply changes that were not refused, verify the results by their digests, and repack the affected layers.

        Raises:
            EngineError: a tensor differs from the learner's. The parameters then belong to no version.
        """
        assert self._places is not None
        kinds: dict[str, torch.dtype | None] = {}
        with torch.no_grad(), set_default_torch_dtype(self._model_config.dtype):
            for changes in chain:
                for name in touched(changes):
                    apply(self._places[name], name, changes)
                    kinds[name] = None if name in changes else changes[name + VALUES].dtype
                if self._head is not None:
                    self._head.change(changes)
            for name, expected in digests.items():
                # The learner's type is the narrower one, so this conversion loses nothing.
                if digest(self._places[name].to(kinds[name])) != expected:
                    raise EngineError(f"{name} differs from the learner's")
            self._pack_again(owners((self._places[name] for name in kinds), self._record.parameters))
        self._restore()

    def pack(self) -> None:
        """Convert plain parameters to the form that the kernels read. On CUDA this leaves the parameters unchanged."""
        forget_packed_experts(self._model)
        process_weights_after_loading(self._model, self._model_config, self._device)

    def _restore(self) -> None:
        if self._recorded is not None:
            self._recorded.restore()

    def _pack_again(self, modules: Sequence[torch.nn.Module]) -> None:
        """`pack` for some modules, as vLLM does it for all."""
        chosen = {id(module) for module in modules}
        for module, name, parameter in self._record.parameters:
            if id(module) in chosen:
                module._parameters[name] = parameter
        for module in modules:
            method = getattr(module, "quant_method", None)
            if isinstance(method, QuantizeMethodBase):
                with device_loading_context(module, self._device):
                    method.process_weights_after_loading(module)
        layers: list[Any] = list(self._model.modules())
        for layer in layers:
            if is_deferred_attention_layer(layer):
                with device_loading_context(layer, self._device):
                    layer.process_weights_after_loading(self._model_config.dtype)


class Checked(Mapping[str, torch.Tensor]):
    """Tensors that passed the check, by name, read again on every access."""

    def __init__(self, tensors: Tensors, names: Collection[str]) -> None:
        """Wrap the tensors in ``names``, in the order of ``tensors``."""
        self._tensors, self._names = tensors, names

    def __getitem__(self, name: str) -> torch.Tensor:
        """The tensor of that name."""
        return _as_tensor(name, self._tensors[name])

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return (name for name in self._tensors if name in self._names)

    def __len__(self) -> int:
        """Number of tensors."""
        return len(self._names)


def _rounded(tensors: Mapping[str, torch.Tensor], scales: Scales) -> Iterator[tuple[str, torch.Tensor]]:
    for name, tensor in tensors.items():
        yield name, rounded_weight(name, tensor, scales)


def _as_tensor(name: str, value: np.ndarray | torch.Tensor) -> torch.Tensor:
    if isinstance(value, torch.Tensor):
        return value.detach()
    if isinstance(value, np.ndarray):
        with warnings.catch_warnings():
            # Shared-memory views are read-only, which torch cannot express. They are only read here.
            warnings.simplefilter("ignore", UserWarning)
            return torch.from_numpy(value)
    raise WeightsRefusedError(f"weights refused: {name} is a {type(value).__name__}, not an array or a tensor")


def _is_finite(tensor: torch.Tensor) -> bool:
    """Whether no element is NaN or infinite. NaN propagates into both extremes; three times faster than `isfinite`."""
    low, high = torch.aminmax(tensor)
    return bool(torch.isfinite(low) & torch.isfinite(high))
