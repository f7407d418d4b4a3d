"""The routing of a mixture of experts, as reported by a forward pass."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from trainer_core.update.hybrid.router import routers


def experts_per_token(model: nn.Module) -> int | None:
    """Number of experts that each token is sent to; None for a dense policy, or if it does not report its routing."""
    adapted = routers(model)
    if adapted:
        return int(adapted[0].top_k)
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


Whole = Callable[[Tensor], Tensor]
"""Function from this rank's values to those of all predicted tokens: ``TokenBatch.whole``."""


def _as_they_are(values: Tensor) -> Tensor:
    return values


class RouteWatch:
    """Records the router logits of one forward pass."""

    def __init__(self) -> None:
        self._layers: list[Tensor] = []
        self.logits: list[Tensor] = []
        """Logits of each layer's routing probabilities at the predicted targets, [M, E], with gradient."""
        self.experts: list[Tensor] = []
        """Experts that these tokens went to, int64 [M, K] of each layer; empty for routers that are not adapted."""
        self.preferred: list[Tensor] = []
        """Experts that the routers themselves would have chosen, int64 [M, K] of each layer, or empty."""

    def take(self, router_logits: tuple[Tensor, ...] | None, rows: Tensor, whole: Whole = _as_they_are) -> None:
        """Store the logits that belong to the targets: ``rows`` [M] of each layer's logits [N, E].

        Args:
            router_logits: the router logits of each layer.
            rows: the rows to keep.
            whole: turns this rank's values into those of all ranks.
        """
        if not router_logits:
            raise ValueError("the policy does not return its routing")
        self.logits = [whole(logits.view(-1, logits.shape[-1]).index_select(0, rows)) for logits in router_logits]
        self._layers = [logits.detach() for logits in self.logits]

    def take_adapted(self, model: nn.Module, rows: Tensor, whole: Whole = _as_they_are) -> None:
        """Store what the adapted routers of ``model`` have just computed for ``rows`` [M]."""
        found = routers(model)
        self.take(tuple(router.rule.shares(router.logits) for router in found), rows, whole)
        self.experts = [whole(router.chosen.index_select(0, rows)) for router in found]
        # Without replay the two are the same, so only one of them is gathered and stored.
        replayed = any(router.replayed is not None for router in found)
        self.preferred = self.experts
        if replayed:
            self.preferred = [whole(router.preferred.index_select(0, rows)) for router in found]

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
