"""The routing of a mixture of experts, as a forward pass tells it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel


def experts_per_token(model: PreTrainedModel) -> int | None:
    """Number of experts that each token is sent to; None for a dense policy, or one that does not tell its routing."""
    config: Any = model.config
    if not hasattr(config, "output_router_logits"):
        return None
    return getattr(config, "num_experts_per_tok", None)


@dataclass(frozen=True, slots=True)
class Routes:
    """The experts that a policy chose for M predicted tokens in L layers, K of each."""

    experts: Tensor
    """int64 [M, L, K]."""
    logprobs: Tensor
    """Log-probabilities of ``experts`` by the policy's routers, float32 [M, L, K]."""


class RouteWatch:
    """Takes the router logits of one forward pass."""

    def __init__(self) -> None:
        self._layers: list[Tensor] = []
        self.logits: list[Tensor] = []
        """Router logits of each layer where the targets are predicted, [M, E], with their gradient."""
        self.experts: list[Tensor] = []
        """Experts that these tokens went to, int64 [M, K] of each layer; empty for routers that are not adapted."""

    def take(self, router_logits: tuple[Tensor, ...] | None, rows: Tensor, experts: Sequence[Tensor] = ()) -> None:
        """Keep what predicts the targets: logits [N, E] of each layer, of which ``rows`` [M] count.

        Args:
            router_logits: the router logits of each layer.
            rows: which count.
            experts: where each token went, [N, K] of each layer, as adapted routers remember.
        """
        if not router_logits:
            raise ValueError("the policy tells nothing of its routing")
        self.logits = [logits.view(-1, logits.shape[-1]).index_select(0, rows) for logits in router_logits]
        self.experts = [chosen.index_select(0, rows) for chosen in experts]
        self._layers = [logits.detach() for logits in self.logits]

    def chosen(self, count: int) -> Routes:
        """The ``count`` likeliest experts of each layer."""
        found = [logits.float().log_softmax(dim=-1).topk(count, dim=-1) for logits in self._layers]
        experts, logprobs = (torch.stack([one[part] for one in found], dim=1) for part in (1, 0))
        return Routes(experts, logprobs)

    def of(self, experts: Tensor) -> Tensor:
        """Log-probabilities of given experts [M, L, K], float32 [M, L, K]."""
        layers = enumerate(self._layers)
        found = [logits.float().log_softmax(dim=-1).gather(1, experts[:, number]) for number, logits in layers]
        return torch.stack(found, dim=1)
