"""Routes through the mixtures of experts that vLLM itself runs, as reported by their routers."""

from __future__ import annotations

from typing import Any

import torch
from vllm.forward_context import get_forward_context
from vllm.model_executor.layers.fused_moe.runner.moe_runner import MoERunner

Told = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


class VllmRoutes:
    """Records what the routers of one model choose in each step. The model must not be compiled."""

    def __init__(self, layers: list[MoERunner], runner: Any) -> None:
        """Watch these layers, in order, of the model that vLLM's ``runner`` runs."""
        self._runner = runner
        self.experts: int = layers[0].router.global_num_experts
        self._chosen: list[torch.Tensor | None] = [None] * len(layers)
        self._edges: tuple[torch.Tensor, torch.Tensor] | None = None
        for number, layer in enumerate(layers):
            layer.router.set_capture_fn(lambda experts, number=number: self._keep(number, experts))

    def routes(self) -> Told | None:
        """Routes of the last step's tokens, returned once: experts [N, L, K], first token of each request [B + 1], and
        that token's position in its request [B]. None if there was no step since."""
        edges, self._edges = self._edges, None
        if edges is None:
            return None
        layers = [chosen for chosen in self._chosen if chosen is not None]
        return torch.stack(layers, dim=1), *edges

    def _keep(self, number: int, experts: torch.Tensor) -> None:
        if not isinstance(get_forward_context().attn_metadata, dict):
            return  # a dry run: it belongs to no request
        self._chosen[number] = experts.clone()
        if number == 0:
            # Read the runner's batch, from which it computes positions itself. The metadata that attention gets depends
            # on its backend; on GPUs neither latent attention nor FlashInfer gets sequence lengths.
            batch, starts = self._runner.input_batch, self._runner.query_start_loc.cpu
            positions = batch.num_computed_tokens_cpu_tensor[: batch.num_reqs]
            self._edges = starts[: batch.num_reqs + 1].clone(), positions.clone()


def routed_layers(model: torch.nn.Module) -> list[MoERunner]:
    """The layers of ``model`` that route tokens to experts, in order."""
    return [module for module in model.modules() if isinstance(module, MoERunner)]
