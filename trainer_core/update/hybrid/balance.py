"""The use of experts over an update: counted, balanced by a loss, or balanced by biases."""

from typing import Any

import torch
from torch import Tensor, nn

from trainer_core.spec.learner.routing import AuxiliaryLoss, LossFreeBalancing, Routing
from trainer_core.update.collectives import add_up_groups
from trainer_core.update.hybrid.router import BIAS, add_biases, routers
from trainer_core.update.hybrid.routing import RouteWatch
from trainer_core.update.packed.packing import TokenBatch
from trainer_core.update.totals import Totals


class Balancer:
    """Balancer of the experts of one policy with adapted routers. The biases are the same on every rank."""

    def __init__(self, spec: Routing, model: nn.Module) -> None:
        """Count the loads of ``model``'s experts; give its routers biases if ``spec`` moves them."""
        self._balance = spec.balance
        if isinstance(spec.balance, LossFreeBalancing):
            add_biases(model)
        self._routers = routers(model)
        self._loads: Tensor | None = None

    def observe(self, watch: RouteWatch, batch: TokenBatch, tokens: int, totals: Totals) -> Tensor | float:
        """Count a micro-batch; returns its share of the balancing loss, with gradient, or 0.

        Args:
            watch: the route watch of the forward pass.
            batch: the micro-batch.
            tokens: predicted tokens of the whole minibatch.
            totals: metrics are added here.
        """
        mask = batch.mask
        count = int(mask.sum())
        if count == 0:
            return 0.0
        scores = [torch.softmax(logits[mask].float(), dim=-1) for logits in watch.logits]
        chosen = [experts[mask] for experts in watch.experts]
        loads = torch.stack(
            [torch.bincount(e.flatten(), minlength=s.shape[1]) for e, s in zip(chosen, scores, strict=True)]
        )
        self._loads = loads if self._loads is None else self._loads + loads
        with torch.no_grad():
            entropy = sum(-torch.xlogy(s, s).sum(-1).mean() for s in scores) / len(scores)
            totals.add_metrics({"moe/router_entropy": float(entropy)}, count)
            if batch.routes is not None:
                totals.add_metrics({"moe/replay_agreement": _agreement(watch, mask)}, count)
        if not isinstance(self._balance, AuxiliaryLoss):
            return 0.0
        share = self._balance.coefficient * balancing_loss(scores, chosen, batch.sequence[mask]) * (count / tokens)
        totals.add_share("moe/aux_loss", share.detach())
        return share

    @torch.no_grad()
    def after_update(self, applied: bool) -> dict[str, float]:
        """Move the biases by the loads of the update if it was ``applied``; returns its metrics. Collective.

        Empty if nothing was counted on any rank.
        """
        loads, self._loads = self._loads, None
        if not applied:
            return {}
        if loads is None:
            loads = torch.zeros(len(self._routers), self._experts, dtype=torch.int64, device=self._device)
        add_up_groups(loads)
        if not bool(loads.any()):
            return {}
        mean = loads.double().mean(dim=1, keepdim=True)
        metrics = {
            "moe/max_violation": float((loads.amax(dim=1, keepdim=True) / mean - 1).mean()),
            "moe/idle_experts": float((loads == 0).double().mean()),
        }
        if isinstance(self._balance, LossFreeBalancing):
            steps = self._balance.update_rate * torch.sign(mean - loads)
            for router, step in zip(self._routers, steps, strict=True):
                getattr(router, BIAS).add_(step.to(torch.float32))
            spread = [float(getattr(r, BIAS).max() - getattr(r, BIAS).min()) for r in self._routers]
            metrics["moe/bias_spread"] = sum(spread) / len(spread)
        return metrics

    @property
    def _experts(self) -> int:
        weight: Any = self._routers[0].weight
        return int(getattr(weight, "ds_shape", weight.shape)[0])

    @property
    def _device(self) -> torch.device:
        device: torch.device = self._routers[0].weight.device
        return device


def _agreement(watch: RouteWatch, mask: Tensor) -> float:
    """Share of the tokens' experts that the routers themselves would have chosen."""
    same = [
        (own[mask].unsqueeze(2) == chosen[mask].unsqueeze(1)).any(dim=2).double().mean()
        for own, chosen in zip(watch.preferred, watch.experts, strict=True)
    ]
    return float(sum(same) / len(same))


def balancing_loss(scores: list[Tensor], chosen: list[Tensor], sequence: Tensor) -> Tensor:
    """Mean over layers and tokens of their completion's E · Σ_e f_e · P_e: 1 if it uses all experts equally.

    Shares are taken within each completion, so the split into micro-batches does not change the loss.

    Args:
        scores: routing probabilities, [M, E] of each of L layers, with gradient.
        chosen: experts that the tokens were sent to, [M, K] of each layer.
        sequence: completion of each token, [M].
    """
    completions, place = sequence.unique(return_inverse=True)
    layers = []
    for probabilities, experts in zip(scores, chosen, strict=True):
        size = len(completions), probabilities.shape[1]
        loads = torch.zeros(size, dtype=probabilities.dtype, device=probabilities.device)
        loads.index_put_((place.unsqueeze(1), experts), torch.ones_like(loads[0, 0]), accumulate=True)
        shares = loads / loads.sum(dim=1, keepdim=True)
        layers.append(size[1] * (shares[place] * probabilities).sum(dim=1).mean())
    return torch.stack(layers).mean()
