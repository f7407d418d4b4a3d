"""Router-shift weighting: the weight in float64 by hand, and what it does to values and gradients of the losses."""

import math

import pytest
import torch
from pydantic import TypeAdapter, ValidationError
from torch import Tensor

from tests.trainer_core.specs import spec as make_spec
from trainer_core.methods import corrections, losses
from trainer_core.methods.corrections.router_shift import router_log_shift
from trainer_core.methods.view import TokenView
from trainer_core.spec.methods.corrections import RouterShiftWeighting
from trainer_core.spec.methods.loss import Loss

SPEC = RouterShiftWeighting()


def log(values: list[list[list[float]]]) -> Tensor:
    return torch.tensor(values, dtype=torch.float64).log()


def test_the_weight_is_the_geometric_mean_of_how_far_the_chosen_experts_have_moved() -> None:
    # Two layers with two chosen experts each; a move up counts as one down.
    old = log([[[0.5, 0.25], [0.4, 0.2]], [[0.5, 0.25], [0.4, 0.2]], [[0.5, 0.5], [0.5, 0.5]]])
    new = log([[[0.5, 0.25], [0.4, 0.2]], [[0.55, 0.25], [0.4, 0.18]], [[0.1, 0.9], [0.1, 0.9]]])
    moved = (math.log(1.1) + math.log(1 / 0.9)) / 4
    far = (math.log(5) + math.log(1.8)) / 2
    found = router_log_shift(SPEC, old, new)
    assert found.tolist() == pytest.approx([0.0, -moved, math.log(0.8)], rel=1e-12)
    assert router_log_shift(RouterShiftWeighting(floor=0.0), old, new)[2].item() == pytest.approx(-far)


def tokens(shift: Tensor | None) -> tuple[Tensor, TokenView]:
    generator = torch.Generator().manual_seed(3)
    old, step, advantages = (torch.randn(9, generator=generator, dtype=torch.float64) for _ in range(3))
    now = (old - 3 + 0.3 * step).requires_grad_()
    mask = torch.tensor([True] * 8 + [False])
    sequence = torch.tensor([0, 0, 0, 1, 1, 1, 1, 2, 2])
    return now, TokenView(now, old - 3, old - 3, advantages, mask, sequence, log_shift=shift)


@pytest.mark.parametrize("kind", ["ppo_clip", "cispo", "gspo", "sapo", "decoupled_ppo", "kl_penalised"])
def test_the_ratio_is_rescaled_before_it_is_clipped_or_averaged(kind: str) -> None:
    """A shift of log γ is a proximal policy of log π_old − log γ, in value and gradient, but for what is no ratio."""
    loss = TypeAdapter(Loss).validate_python({"type": kind})
    shift = -torch.linspace(0.0, 0.2, 9, dtype=torch.float64)
    now, view = tokens(shift)
    values, _ = losses.token_loss(loss, view)
    (gradient,) = torch.autograd.grad(values.sum(), now)
    other, plain = tokens(None)
    moved = TokenView(
        plain.logprobs, plain.old_logprobs - shift, plain.behaviour_logprobs - shift, plain.advantages,
        plain.mask, plain.sequence,
    )  # fmt: skip
    expected, _ = losses.token_loss(loss, moved)
    (slopes,) = torch.autograd.grad(expected.sum(), other)
    if kind == "kl_penalised":  # its penalty is on the policy, not on the ratio
        ratio = (now.detach() - view.old_logprobs + shift).exp()
        beta, rest = loss.coefficient, view.mask[:-1]
        divergence = (now.detach() - view.old_logprobs).exp() - 1 - (now.detach() - view.old_logprobs)
        torch.testing.assert_close(values.detach()[:-1], (beta * divergence - ratio * view.advantages)[:-1][rest])
        return
    torch.testing.assert_close(values.detach(), expected.detach())
    torch.testing.assert_close(gradient, slopes)


def test_it_weighs_nothing_else_and_tells_its_mean() -> None:
    _, view = tokens(torch.full((9,), math.log(0.9), dtype=torch.float64))
    weights, metrics = corrections.token_weights(SPEC, view)
    assert weights.tolist() == [1.0] * 9
    assert metrics["actor/router_shift"].item() == pytest.approx(0.9)
    with pytest.raises(ValueError, match="needs the routing"):
        corrections.token_weights(SPEC, tokens(None)[1])


SEVERAL = {"schedule": {"updates_per_step": 2}, "corrections": [{"type": "router_shift"}]}


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"schedule": {"updates_per_step": 1}}, "the routing has not changed"),
        ({"loss": {"type": "reinforce"}}, "reinforce uses no ratio"),
        ({"loss": {"type": "dppo"}}, "dppo uses no ratio"),
        ({"proximal": {"type": "snapshot"}}, "that of the proximal policy snapshot is not"),
    ],
)
def test_where_it_rescales_nothing_it_is_refused(parts: dict, message: str) -> None:
    assert make_spec(**SEVERAL)
    assert make_spec(**{**SEVERAL, "corrections": [{"type": "truncated_is"}, {"type": "router_shift"}]})
    with pytest.raises(ValidationError, match=message):
        make_spec(**{**SEVERAL, **parts})
