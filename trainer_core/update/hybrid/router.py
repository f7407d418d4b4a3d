"""Top-k routers that can be watched, biased and told where to send each token.

A router of transformers scores E experts per token, keeps the K best and mixes their outputs by renormalised scores.
In its place stands the same function with two more inputs:

    choice = top-K(score + bias)          auxiliary-loss-free balancing (DeepSeek-V3, arXiv 2408.15664)
    choice = what the engine chose        router replay (R3, arXiv 2510.11370)

The mixing weights always come from the router's own scores of the chosen experts, with their gradient.
"""

from types import MethodType
from typing import Any

import torch
from torch import Tensor, nn

BIAS = "e_score_correction_bias"
"""The name that DeepSeek-V3's and MiniMax-M2's files give it."""


def routers(model: nn.Module) -> list[Any]:
    """The policy's adapted routers, from the first layer to the last."""
    return [module for module in model.modules() if hasattr(module, "replayed")]


@torch.no_grad()
def adapt_routers(model: nn.Module) -> int:
    """Replace the forward pass of every top-k router that computes just what ours does; returns how many."""
    adapted = 0
    for module in model.modules():
        router: Any = module
        if not type(module).__name__.endswith("TopKRouter") or not hasattr(module, "top_k"):
            continue
        generator = torch.Generator().manual_seed(0)
        probe = torch.randn(8, router.weight.shape[1], generator=generator).to(router.weight)
        expected = router(probe)
        router.replayed, router.chosen, router.replays, router.renormalises = None, None, False, True
        router.register_buffer(BIAS, None)
        for renormalises in (True, False):
            router.renormalises = renormalises
            if _same(_route(router, probe), expected):
                router.forward, router.prefer = MethodType(_route, router), MethodType(_prefer, router)
                adapted += 1
                break
        else:
            del router.replayed
    return adapted


def add_biases(model: nn.Module) -> None:
    """Give every adapted router a bias of zeros, where it has none."""
    for router in routers(model):
        if getattr(router, BIAS) is None:
            weight = router.weight
            experts = getattr(weight, "ds_shape", weight.shape)[0]
            setattr(router, BIAS, torch.zeros(experts, dtype=torch.float32, device=weight.device))


def allow_router_replay(model: nn.Module) -> None:
    """Let the adapted routers be told where to send tokens; those of a copy, such as the reference, are not."""
    for router in routers(model):
        router.replays = True


def replay_routes(model: nn.Module, routes: Tensor | None) -> None:
    """Route the tokens of the next forward passes to ``routes``, int64 [N, L, K]; None: by the routers themselves.

    Routers for which it was not allowed take no notice. It holds until it is changed: a backward pass that computes
    activations again must route as the forward pass did.

    Raises:
        ValueError: the routes are of another number of layers or experts.
    """
    found = [router for router in routers(model) if router.replays]
    if routes is not None and found and (routes.shape[1:] != (len(found), found[0].top_k)):
        shape = f"{routes.shape[1]} layers with {routes.shape[2]} experts each"
        raise ValueError(f"routes of {shape} do not fit a policy of {len(found)} routed layers")
    for number, router in enumerate(found):
        router.replayed = None if routes is None else routes[:, number]


def _route(self: Any, hidden_states: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Router logits [N, E], mixing weights [N, K] and chosen experts [N, K]."""
    states = hidden_states.reshape(-1, hidden_states.shape[-1])
    logits = nn.functional.linear(states, self.weight)
    scores = torch.softmax(logits.float(), dim=-1)
    experts = self.replayed
    if experts is None:
        experts = _prefer(self, scores.detach())
    weights = scores.gather(1, experts)
    if self.renormalises:
        weights = weights / weights.sum(dim=-1, keepdim=True)
    self.chosen = experts
    return logits, weights, experts


def _prefer(self: Any, scores: Tensor) -> Tensor:
    """The experts [N, K] that the router itself chooses by scores [N, E]."""
    bias = getattr(self, BIAS)
    return (scores if bias is None else scores + bias).topk(self.top_k, dim=-1).indices


def _same(found: tuple[Tensor, ...], expected: Any) -> bool:
    """Whether both route alike; the order in which a token's experts are listed does not matter."""
    if not isinstance(expected, tuple) or len(expected) != 3:
        return False
    dense = [
        torch.zeros_like(logits, dtype=torch.float32).scatter(1, experts.long(), weights.float())
        for logits, weights, experts in (found, expected)
    ]
    return torch.allclose(found[0], expected[0], atol=1e-6) and torch.allclose(dense[0], dense[1], atol=1e-6)
