"""A callback between the layers of a policy, forward and backward, because a step of a large policy is long."""

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.modeling_layers import GradientCheckpointingLayer


def call_between_layers(model: PreTrainedModel, call: Callable[[], None]) -> None:
    """Call before each layer and the output layer, and after each one's backward pass.

    ``call`` runs in the computing thread, which on a CPU is the same for both passes.
    """

    def before(_: nn.Module, given: tuple[Any, ...]) -> None:
        call()
        states = given[0] if given else None
        if isinstance(states, Tensor) and states.requires_grad:
            states.register_hook(after)

    def after(_: Tensor) -> None:
        call()

    layers = [module for module in model.modules() if isinstance(module, GradientCheckpointingLayer)]
    for layer in (*layers, model.get_output_embeddings()):
        layer.register_forward_pre_hook(before)
