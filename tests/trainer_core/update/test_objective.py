"""The loss of a minibatch against its formula, written out token by token in float64."""

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.spec import RunSpec
from trainer_core.update.objective import Denominators, denominators, loss_share
from trainer_core.update.packing import TokenBatch, pack
from trainer_core.update.totals import Totals

LOSSES = [
    {"type": "reinforce"},
    {"type": "ppo_clip", "ratio_min": 0.8, "ratio_max": 1.28},
    {"type": "ppo_clip", "ratio_min": 0.9, "ratio_max": 1.1, "ratio_dual": 1.3},
]
CORRECTIONS = [[], [{"type": "truncated_is", "ratio_max": 1.2}], [{"type": "truncated_is", "level": "sequence"}]]
PENALTIES = [
    {"coefficient": 0.0},
    {"coefficient": 0.3, "estimator": "k1"},
    {"coefficient": 0.3, "estimator": "k2"},
    {"coefficient": 0.3, "estimator": "k3"},
    {"coefficient": 0.3, "estimator": "k3", "placement": "reward"},
]
COMBINATIONS = list(itertools.product(LOSSES, CORRECTIONS, PENALTIES, ["token_mean", "sequence_mean"]))


def scenario(budget: int) -> tuple[list[TokenBatch], Denominators]:
    """Micro-batches of at most ``budget`` tokens in float64, and the counts of the whole."""
    trajectories = [t for group in make_groups(5, groups=3, samples=3, longest=20) for t in group.trajectories]
    trajectories[4].excluded = "truncated"
    batches = [
        replace(b, behaviour_logprobs=b.behaviour_logprobs.double(), advantages=b.advantages.double())
        for b in pack(trajectories, budget)
    ]
    return batches, denominators(trajectories)


def noise(batch: TokenBatch, which: int, scale: float) -> Tensor:
    """A number for each token that depends on the token alone, however the batch is cut."""
    keys = zip(batch.sequence.tolist(), batch.offset.tolist(), strict=True)
    return torch.tensor([scale * np.random.default_rng((which, *key)).normal() for key in keys], dtype=torch.float64)


def policies(batch: TokenBatch) -> tuple[Tensor, Tensor, Tensor]:
    """Log-probabilities of the current policy, the learner before the step, and the reference."""
    old = batch.behaviour_logprobs + noise(batch, 1, 0.2)
    return old + noise(batch, 2, 0.2), old, old + noise(batch, 3, 0.3)


def written_out(spec: RunSpec, batch: TokenBatch, current: Tensor, old: Tensor, reference: Tensor) -> Tensor:
    """The formula of the papers, token by token, over a whole minibatch: Σ w·L + β·K, averaged."""
    kl, loss, total = spec.kl, spec.loss, torch.zeros((), dtype=torch.float64)
    rows = [torch.nonzero(batch.sequence == index)[:, 0].tolist() for index in batch.sequence.unique()]
    for row in rows:
        per_sequence = torch.zeros((), dtype=torch.float64)
        for t in row:
            frozen = current[t] if kl.placement == "loss" else old[t]
            d = reference[t] - frozen
            penalty = {"k1": -d, "k2": d * d / 2, "k3": torch.exp(d) - 1 - d}[kl.estimator] * kl.coefficient
            advantage = float(batch.advantages[t]) - (float(penalty) if kl.placement == "reward" else 0.0)
            if loss.type == "reinforce":
                value = -advantage * current[t]
            else:
                ratio = torch.exp(current[t] - old[t])
                inside = min(max(ratio.item(), loss.ratio_min), loss.ratio_max)
                value = -ratio * advantage
                if -inside * advantage > value.item():
                    value = torch.tensor(-inside * advantage, dtype=torch.float64)
                if loss.ratio_dual is not None and advantage < 0 and value.item() > -loss.ratio_dual * advantage:
                    value = torch.tensor(-loss.ratio_dual * advantage, dtype=torch.float64)
            for correction in spec.corrections:
                group = [t] if correction.level == "token" else row
                value = value * min(
                    math.exp(sum(float(old[s] - batch.behaviour_logprobs[s]) for s in group)), correction.ratio_max
                )
            per_sequence = per_sequence + value + (penalty if kl.placement == "loss" else 0.0)
        divisor = len(rows) * len(row) if spec.aggregation.type == "sequence_mean" else len(batch.sequence)
        total = total + per_sequence / divisor
    return total


def by_token(batch: TokenBatch, values: Tensor) -> dict[tuple[int, int], float]:
    keys = zip(batch.sequence.tolist(), batch.offset.tolist(), strict=True)
    return dict(zip(keys, values.tolist(), strict=True))


def spec_of(combination: tuple[Any, ...]) -> RunSpec:
    loss, corrections, kl, aggregation = combination
    return make_spec(loss=loss, corrections=corrections, kl=kl, aggregation={"type": aggregation})


@pytest.mark.parametrize("budget", [1000, 40])
def test_every_combination_agrees_with_its_formula_in_value_and_gradient(budget: int) -> None:
    (whole,), _ = scenario(1000)
    batches, counts = scenario(budget)
    assert (len(batches) > 2) == (budget == 40)
    for combination in COMBINATIONS:
        spec = spec_of(combination)
        current, old, reference = policies(whole)
        current.requires_grad_()
        expected = written_out(spec, whole, current, old, reference)
        (slopes,) = torch.autograd.grad(expected, current)
        value, gradient, totals = 0.0, {}, Totals()
        for batch in batches:
            mine, old, reference = policies(batch)
            mine.requires_grad_()
            known = reference if spec.kl.coefficient else None
            share = loss_share(spec, batch, mine, old, known, counts, totals)
            share.backward()
            value += share.item()
            gradient |= by_token(batch, mine.grad)
        assert value == pytest.approx(expected.item(), rel=1e-10, abs=1e-12), combination
        assert totals.values()["actor/loss"] == pytest.approx(value)
        assert gradient == pytest.approx(by_token(whole, slopes), rel=1e-10, abs=1e-14), combination


def test_broken_values_outside_the_mask_do_no_harm() -> None:
    (batch,), counts = scenario(1000)
    outside = batch.offset % 3 == 1
    nan = float("nan")
    clean = replace(batch, mask=~outside)
    broken = replace(
        clean,
        behaviour_logprobs=batch.behaviour_logprobs.masked_fill(outside, -float("inf")),
        advantages=batch.advantages.masked_fill(outside, nan),
    )
    for combination in COMBINATIONS:
        spec, found = spec_of(combination), []
        for tokens, value in ((clean, None), (broken, nan), (broken, -float("inf"))):
            current, old, reference = (p if value is None else p.masked_fill(outside, value) for p in policies(clean))
            current.requires_grad_()
            known = reference if spec.kl.coefficient else None
            totals = Totals()
            share = loss_share(spec, tokens, current, old, known, counts, totals)
            share.backward()
            assert current.grad is not None and (current.grad[outside] == 0.0).all(), combination
            found.append((share.item(), current.grad.tolist(), totals.values()))
        assert found[0] == found[1] == found[2], combination
        assert math.isfinite(found[0][0])


def test_a_batch_that_only_keeps_ranks_in_step_adds_nothing() -> None:
    (batch,), counts = scenario(1000)
    for combination in COMBINATIONS:
        spec = spec_of(combination)
        current, old, reference = policies(batch)
        current.requires_grad_()
        totals = Totals()
        known = reference if spec.kl.coefficient else None
        share = loss_share(spec, batch.without_loss(), current, old, known, counts, totals)
        share.backward()
        assert share.item() == 0.0
        assert current.grad is not None and (current.grad == 0.0).all()
        assert set(totals.values()) == {"actor/pg_loss", "actor/loss"}
