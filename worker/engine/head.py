"""The last projection in float32 while the rest of the model keeps its own number type.

Logits of a bfloat16 head are rounded to 8 significant bits: near 32 that is a step of 0.25 nats, and the learner, which
computes them in float32, disagrees with every sampled log-probability. Here hidden states are widened and multiplied
with the head's weights as the learner sent them, never rounded.
Source: MiniMax-M1 (arXiv 2506.13585), precision mismatch between generation and training.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch.nn import functional
from vllm.model_executor.layers.logits_processor import LogitsProcessor

from trainer_core.update.formats.changes import apply, touched
from worker.engine.loader import head_name
from worker.engine.types import EngineError


class Float32Head:
    """Takes the place of a model's projection to logits. Holds its own copy of the weights, shape [V, H]."""

    def __init__(self, model: torch.nn.Module, weight: torch.Tensor, device: torch.device) -> None:
        processors = [module for module in model.modules() if isinstance(module, LogitsProcessor)]
        if len(processors) != 1:
            raise EngineError(
                f"lm_head_dtype float32 needs a model with one output head, found {len(processors)}: "
                "set rollout.engine.lm_head_dtype to model"
            )
        self._weight = weight.to(device=device, dtype=torch.float32, copy=True)
        self._name = ""
        processors[0]._apply_head = self._project

    def load(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Take the head, or the embedding it is tied to, from an update."""
        self._name = head_name(tensors)
        self._weight.copy_(tensors[self._name])

    def change(self, changes: Mapping[str, torch.Tensor]) -> None:
        """Change what ``changes`` name of it. There must have been an update as a whole before."""
        if self._name in touched(changes):
            apply(self._weight, self._name, changes)

    def _project(
        self, lm_head: torch.nn.Module, hidden_states: torch.Tensor, embedding_bias: torch.Tensor | None
    ) -> torch.Tensor:
        bias = None if embedding_bias is None else embedding_bias.float()
        return functional.linear(hidden_states.float(), self._weight, bias)
