"""A vLLM model loader that keeps what weight updates need later: plain parameters and the checkpoint's contract.

On CPU vLLM packs each linear weight for oneDNN and empties the parameter; the packed copy cannot be loaded into. This
loader records the parameters between loading and packing. An update can then put them back, load into them through the
model's own name mapping, and pack again.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from copy import copy
from dataclasses import dataclass, field

import torch
from vllm.config import ModelConfig
from vllm.config.load import LoadConfig
from vllm.model_executor.model_loader import register_model_loader
from vllm.model_executor.model_loader.default_loader import DefaultModelLoader

from trainer_core.update.formats.quantise import rounded_weight
from worker.engine.fp8 import simulate
from worker.engine.models.mixtures import follow_transformers, predicts_further_tokens
from worker.engine.recognition import Samples
from worker.engine.types import Fp8Config

LOAD_FORMAT = "dressage"
RECORD_ATTRIBUTE = "dressage_weight_record"
SIMULATED_FP8 = "dressage_simulated_fp8"
"""Key of the loader's extra configuration: fields of the `Fp8Config` that is simulated."""
HEAD = "lm_head.weight"
EMBEDDING_SUFFIX = "embed_tokens.weight"


def head_name(names: Iterable[str]) -> str:
    """Name of the checkpoint tensor that projects to logits: the head, or the embedding it is tied to."""
    names = list(names)
    return HEAD if HEAD in names else next(name for name in names if name.endswith(EMBEDDING_SUFFIX))


@dataclass(slots=True)
class WeightRecord:
    """Record of what `PlainWeightLoader` saw: each module's own parameters, and the checkpoint's names and shapes."""

    parameters: list[tuple[torch.nn.Module, str, torch.nn.Parameter]] = field(default_factory=list)
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    optional: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Tensors that the loaded files lack but an update may contain, according to the model's class."""
    head: torch.Tensor | None = None
    """The checkpoint's output head (the embedding if tied), kept if the model does not compute in float32."""
    samples: Samples = field(default_factory=Samples)
    """Sampled values that identify the tensors in the kernels, kept until that is done."""


@register_model_loader(LOAD_FORMAT)
class PlainWeightLoader(DefaultModelLoader):
    """Loads like vLLM's default loader and leaves a `WeightRecord` on the model."""

    def __init__(self, load_config: LoadConfig) -> None:
        load_config = copy(load_config)
        load_config.load_format = "auto"  # the parent knows only the built-in names
        extra = dict(load_config.model_loader_extra_config)
        simulated = extra.pop(SIMULATED_FP8, None)
        self._simulated = None if simulated is None else Fp8Config(**simulated)
        load_config.model_loader_extra_config = extra
        super().__init__(load_config)
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._heads: dict[str, torch.Tensor] = {}
        self._samples = Samples()

    def get_all_weights(
        self, model_config: ModelConfig, model: torch.nn.Module
    ) -> Generator[tuple[str, torch.Tensor], None, None]:
        is_constant = getattr(model, "is_constant", lambda name: False)
        for name, tensor in super().get_all_weights(model_config, model):
            if not (is_constant(name) or predicts_further_tokens(name, model_config.hf_config)):
                self._shapes[name] = tuple(tensor.shape)
            if name.endswith((HEAD, EMBEDDING_SUFFIX)) and model_config.dtype != torch.float32:
                self._heads[name] = tensor
            held = tensor if self._simulated is None else rounded_weight(name, tensor, self._simulated.scales)
            self._samples.take(name, held)
            yield name, held

    def load_weights(self, model: torch.nn.Module, model_config: ModelConfig) -> None:
        follow_transformers(model, model_config.hf_config)
        super().load_weights(model, model_config)
        if self._simulated is not None:
            simulate(model, self._simulated)
        record = WeightRecord(shapes=self._shapes, optional=dict(getattr(model, "optional_weights", {})))
        record.samples, self._samples = self._samples, Samples()
        if self._heads:
            record.head = self._heads[head_name(self._heads)]
            self._heads = {}
        for module in model.modules():
            for name, parameter in module.named_parameters(recurse=False):
                record.parameters.append((module, name, parameter))
        # setattr would make torch register the record's modules as children.
        model.__dict__[RECORD_ATTRIBUTE] = record
