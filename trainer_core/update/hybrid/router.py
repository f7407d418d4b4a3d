"""Top-k routers that can be observed, biased and made to replay given routes.

A router in transformers scores E experts per token, keeps the K best, possibly only from the best groups of experts,
and mixes their outputs by their scores. It is replaced by the same function with two more inputs:

    choice = top-K(score + bias)          auxiliary-loss-free balancing (DeepSeek-V3, arXiv 2408.15664)
    choice = what the engine chose        router replay (R3, arXiv 2510.11370)

The mixing weights always come from the router's own scores of the chosen experts, with their gradient.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from types import MethodType
from typing import Any

import torch
from torch import Tensor, nn

BIAS = "e_score_correction_bias"
"""The name that DeepSeek-V3's and MiniMax-M2's files give it."""
PROBES = 256
"""Random tokens on which a replaced router must match the original: rules differ on few of them."""


@dataclass(frozen=True, slots=True)
class ChoiceRule:
    """Rule that turns a router's logits into a choice of experts and their mixing weights."""

    sigmoid: bool
    """Scores are independent sigmoids of the logits instead of their softmax."""
    renormalises: bool
    """Mixing weights add up to ``factor``."""
    groups: int = 1
    """Number of groups of experts."""
    kept: int = 1
    """Number of groups whose experts may be chosen."""
    best: int = 1
    """Number of top experts whose scores are summed to rank a group."""
    factor: float = 1.0
    """Factor of the mixing weights."""

    def scores(self, logits: Tensor) -> Tensor:
        """Scores float32 [N, E] of logits [N, E]."""
        return torch.sigmoid(logits.float()) if self.sigmoid else torch.softmax(logits.float(), dim=-1)

    def shares(self, logits: Tensor) -> Tensor:
        """Logits [N, E] whose softmax is each expert's share of its token's scores."""
        return nn.functional.logsigmoid(logits.float()) if self.sigmoid else logits


def routers(model: nn.Module) -> list[Any]:
    """The policy's adapted routers, from the first layer to the last."""
    return [module for module in model.modules() if hasattr(module, "replayed")]


def router_weights(model: nn.Module) -> list[nn.Parameter]:
    """Matrices that ``adapt_routers`` looks at."""
    return [router.weight for router in _top_k_routers(model)]


def _top_k_routers(model: nn.Module) -> Iterator[Any]:
    for module in model.modules():
        if type(module).__name__.lower().endswith("topkrouter") and hasattr(module, "top_k"):
            yield module


@torch.no_grad()
def adapt_routers(model: nn.Module) -> int:
    """Replace the forward pass of every top-k router that computes exactly what ours does; returns how many."""
    adapted = 0
    for router in _top_k_routers(model):
        generator = torch.Generator().manual_seed(0)
        probe = torch.randn(PROBES, router.weight.shape[1], generator=generator).to(router.weight)
        expected = router(probe)
        router.replayed, router.chosen, router.preferred, router.logits = None, None, None, None
        router.replays, router.watched = False, False
        if not hasattr(router, BIAS):
            router.register_buffer(BIAS, None)
        for rule in _rules(router):
            router.rule = rule
            if _same(_route(router, probe), expected):
                router.forward = MethodType(_route, router)
                adapted += 1
                break
        else:
            del router.replayed
    return adapted


def _rules(router: Any) -> Iterator[ChoiceRule]:
    """Rules that ``router`` may follow, simplest first."""
    factor = float(getattr(router, "routed_scaling_factor", None) or 1.0)
    groups, kept = getattr(router, "num_group", None) or 1, getattr(router, "topk_group", None) or 1
    divisions = [(1, 1, 1)] if groups == 1 else [(1, 1, 1), (groups, kept, 1), (groups, kept, 2)]
    for division in divisions:
        for sigmoid in (False, True):
            for renormalises in (True, False):
                yield ChoiceRule(sigmoid, renormalises, *division, factor)


def add_biases(model: nn.Module) -> None:
    """Give every adapted router without a bias a bias of zeros."""
    for router in routers(model):
        if getattr(router, BIAS) is None:
            weight = router.weight
            experts = getattr(weight, "ds_shape", weight.shape)[0]
            setattr(router, BIAS, torch.zeros(experts, dtype=torch.float32, device=weight.device))


def allow_router_replay(model: nn.Module) -> None:
    """Allow the adapted routers to replay routes. The routers of a copy, such as the reference, do not."""
    for router in routers(model):
        router.replays = True


def replay_routes(model: nn.Module, routes: Tensor | None) -> None:
    """Route the tokens of the next forward passes to ``routes``, int64 [N, L, K]; None lets the routers choose.

    Routers for which replay is not allowed ignore this. It holds until changed, because a backward pass that recomputes
    activations must route as the forward pass did.

    Raises:
        ValueError: the routes have a different number of layers or experts.
    """
    found = [router for router in routers(model) if router.replays]
    if routes is not None and found and (routes.shape[1:] != (len(found), found[0].top_k)):
        shape = f"{routes.shape[1]} layers with {routes.shape[2]} experts each"
        raise ValueError(f"routes of {shape} do not fit a policy of {len(found)} routed layers")
    for number, router in enumerate(found):
        router.replayed = None if routes is None else routes[:, number]


def watch_routers(model: nn.Module, watched: bool) -> None:
    """Make the adapted routers record what they compute in the next forward passes, or stop and discard it."""
    for router in routers(model):
        router.watched = watched
        if not watched:
            router.logits = None


def _route(self: Any, hidden_states: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Router logits [N, E], mixing weights [N, K] and chosen experts [N, K].

    Logits are always float32, as in DeepSeek, because choices depend on small differences.
    """
    states = hidden_states.reshape(-1, hidden_states.shape[-1])
    bias = getattr(self, "bias", None)
    held = getattr(self, "held", None)
    weight = self.weight if held is None else held(self.weight)
    logits = nn.functional.linear(_wide(states), _wide(weight), None if bias is None else _wide(bias))
    scores = self.rule.scores(logits)
    experts = self.replayed
    if experts is None or self.watched:
        preferred = _prefer(self, scores.detach())
        experts = preferred if experts is None else experts
        self.preferred = preferred
    weights = scores.gather(1, experts)
    if self.rule.renormalises:
        weights = weights / (weights.sum(dim=-1, keepdim=True) + 1e-20)
    self.chosen = experts
    if self.watched:
        self.logits = logits
    return logits, weights * self.rule.factor, experts


def _wide(tensor: Tensor) -> Tensor:
    return tensor if tensor.dtype == torch.float64 else tensor.float()


def _prefer(self: Any, scores: Tensor) -> Tensor:
    """The experts [N, K] that the router itself chooses by scores [N, E]."""
    rule, bias = self.rule, getattr(self, BIAS)
    if bias is not None:
        scores = scores + bias
    if rule.groups > 1:
        grouped = scores.view(len(scores), rule.groups, -1)
        kept = grouped.topk(rule.best, dim=-1).values.sum(dim=-1).topk(rule.kept, dim=-1).indices
        shut = torch.ones_like(grouped[..., 0], dtype=torch.bool).scatter_(1, kept, False)
        scores = grouped.masked_fill(shut.unsqueeze(-1), -torch.inf).flatten(1)
    return scores.topk(self.top_k, dim=-1).indices


def _same(found: tuple[Tensor, ...], expected: Any) -> bool:
    """Whether both route identically; the order of a token's experts does not matter."""
    if not isinstance(expected, tuple) or len(expected) != 3:
        return False
    dense = [
        torch.zeros_like(logits, dtype=torch.float32).scatter(1, experts.long(), weights.float())
        for logits, weights, experts in (found, expected)
    ]
    return torch.allclose(found[0], expected[0], atol=1e-6) and torch.allclose(dense[0], dense[1], atol=1e-6)
