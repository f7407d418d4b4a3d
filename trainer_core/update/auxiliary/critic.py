"""The critic: a value head on the policy, or a separate model with its own optimizer."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from trainer_core.spec import RunSpec
from trainer_core.update.model.naming import VALUE_HEAD
from trainer_core.update.model.policy import load_policy
from trainer_core.update.model.shards import whole_shape
from trainer_core.update.model.storage import DTYPES, HostMemory, stored
from trainer_core.update.optimization.engine import UpdateEngine
from trainer_core.update.packed.packing import TokenBatch


def _new_head(model: PreTrainedModel) -> nn.Linear:
    """A linear head that predicts 0 everywhere, so that the first advantages are the returns."""
    width = model.get_input_embeddings().embedding_dim
    output = model.get_output_embeddings()
    head = nn.Linear(width if output is None else whole_shape(output.weight)[1], 1)
    nn.init.zeros_(head.weight)
    nn.init.zeros_(head.bias)
    return head.to(model.device)


def _wide(values: Tensor) -> Tensor:
    return values.to(torch.promote_types(values.dtype, torch.float32))


class ValueHead:
    """A value head inside the policy's module. Every forward pass of the policy leaves its values here."""

    def __init__(self, model: PreTrainedModel) -> None:
        """Attach a head to the input of the policy's output layer."""
        self.detached = False
        """Whether the value's gradient stops at the head and does not reach the policy's layers."""
        self._values: Tensor | None = None
        head = _new_head(model)
        model.add_module(VALUE_HEAD, head)

        def read(module: nn.Module, inputs: tuple[Any, ...], output: Tensor) -> None:
            states = inputs[0].detach() if self.detached else inputs[0]
            self._values = head(states.to(head.weight.dtype))[0].squeeze(-1)

        model.get_output_embeddings().register_forward_hook(read)

    def take(self, batch: TokenBatch) -> Tensor:
        """Values of the states before the predicted tokens of ``batch``, float32 [M].

        The last forward pass must have been on ``batch``.
        """
        values, self._values = self._values, None
        if values is None:
            raise RuntimeError("the policy's output layer has not run")
        return batch.whole(_wide(values))


class _ValueModel(nn.Module):
    """Layers of a causal language model under a value head."""

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        # Not named like a head on the policy: this one has the same step size as its layers.
        self.value = _new_head(model)
        self.layers = getattr(model, model.base_model_prefix)

    def forward(self, batch: TokenBatch) -> Tensor:
        states = self.layers(**batch.inputs(), use_cache=False).last_hidden_state[0]
        read = states.index_select(0, batch.own_rows).to(self.value.weight.dtype)
        return batch.whole(_wide(self.value(read).squeeze(-1)))


class SeparateValue:
    """A critic with its own layers and optimizer. Methods of ``engine`` are collective."""

    def __init__(self, folder: Path, spec: RunSpec, world_size: int, device: torch.device) -> None:
        """Start from a policy's layers."""
        model = load_policy(folder, device=device, gradient_checkpointing=spec.policy.gradient_checkpointing)
        stored(model, DTYPES[spec.policy.dtype])
        values = _ValueModel(model).train()
        if spec.policy.activation_offload:
            HostMemory(values, pinned=True)
        self.engine = UpdateEngine(values, spec, world_size=world_size)

    def values(self, batch: TokenBatch) -> Tensor:
        """Values of the states before the predicted tokens, float32 [M], with gradient."""
        values: Tensor = self.engine.forward(batch)
        return values

    def drop(self, probe: TokenBatch) -> None:
        """Discard the accumulated gradients, by adding a non-finite one that is refused and clears them."""
        self.engine.backward(self.values(probe).sum() * math.nan)
        self.engine.step(0.0, 1.0)

    def tensors(self) -> dict[str, Tensor]:
        """Full weights and moments. Collective."""
        return {**self.engine.weights(), **self.engine.moments()}

    def load(self, tensors: Mapping[str, Tensor], optimizer_steps: int) -> None:
        """Resume from a checkpoint. Collective."""
        self.engine.load(tensors, tensors, optimizer_steps, 0)
