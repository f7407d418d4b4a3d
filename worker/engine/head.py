"""The output projection in float32, while the rest of the model keeps its own number type.

Logits of a bfloat16 head are rounded to 8 significant bits: near 32 that is a step of 0.25 nats. The learner computes
logits in float32 and would disagree with every sampled log-probability. Here hidden states are widened and multiplied
by the unrounded weights that the learner sent.
Source: MiniMax-M1 (arXiv 2506.13585), precision mismatch between generation and training.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch.nn import functional
from vllm.distributed import get_tensor_model_parallel_world_size
from vllm.model_executor.layers.logits_processor import LogitsProcessor
from vllm.model_executor.layers.vocab_parallel_embedding import VocabParallelEmbedding

from trainer_core.update.formats.changes import apply, touched
from worker.engine.loader import head_name
from worker.engine.types import EngineError


class Float32Head:
    """Replaces a model's projection to logits. Holds its own copy of the weights, shape [V, H]; with several devices,
    the rows of this one, shape [V', H]."""

    def __init__(self, model: torch.nn.Module, weight: torch.Tensor, device: torch.device) -> None:
        processors = [module for module in model.modules() if isinstance(module, LogitsProcessor)]
        if len(processors) != 1:
            raise EngineError(
                f"lm_head_dtype float32 needs a model with one output head, found {len(processors)}: "
                "set rollout.engine.lm_head_dtype to model"
            )
        self._first, self._last = 0, len(weight)
        rows = len(weight)
        if get_tensor_model_parallel_world_size() > 1:
            shard, rows = _shard(model)
            self._first, self._last = shard.org_vocab_start_index, shard.org_vocab_end_index
        # Rows past the end of the vocabulary are zeros, so that all devices have the same number.
        self._weight = torch.zeros(rows, weight.shape[1], device=device)
        self._name = ""
        self._copy(weight)
        processors[0]._apply_head = self._project

    def load(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Copy the head, or the embedding it is tied to, from an update."""
        self._name = head_name(tensors)
        self._copy(tensors[self._name])

    def change(self, changes: Mapping[str, torch.Tensor]) -> None:
        """Apply the parts of ``changes`` that concern the head. Requires an earlier full update."""
        if self._name in touched(changes):
            apply(self._weight, self._name, changes)

    def _copy(self, weight: torch.Tensor) -> None:
        self._weight[: self._last - self._first] = weight[self._first : self._last]

    def _project(
        self, lm_head: torch.nn.Module, hidden_states: torch.Tensor, embedding_bias: torch.Tensor | None
    ) -> torch.Tensor:
        bias = None if embedding_bias is None else embedding_bias.float()
        return functional.linear(hidden_states.float(), self._weight, bias)


def _shard(model: torch.nn.Module) -> tuple[Any, int]:
    """The vocabulary's row bounds on this device, as vLLM reports them, and the number of rows with padding."""
    head = getattr(model, "lm_head", None)
    if not isinstance(head, VocabParallelEmbedding):
        raise EngineError(
            f"the output layer of {type(model).__name__} cannot be split in float32: set rollout.engine.lm_head_dtype"
            " to model, or tensor_parallel_size to 1"
        )
    return head.shard_indices, head.num_embeddings_per_partition
