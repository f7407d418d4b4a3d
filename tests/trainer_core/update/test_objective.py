"""The loss of a minibatch against its formula, written out token by token in float64, however it is cut."""

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.trainer_core.methods.correction_formulas import written_out as correction_weights
from tests.trainer_core.methods.loss_formulas import written_out as token_losses
from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.episodes import Trajectory
from trainer_core.methods.view import TokenView
from trainer_core.spec import RunSpec
from trainer_core.update.objective.policy_objective import Denominators, denominators, loss_share
from trainer_core.update.packed.packing import TokenBatch, pack
from trainer_core.update.packed.sharding import shards
from trainer_core.update.totals import Totals

LOSSES: list[dict[str, Any]] = [
    {"type": "reinforce"},
    {"type": "ppo_clip", "ratio_min": 0.8, "ratio_max": 1.28},
    {"type": "ppo_clip", "ratio_min": 0.9, "ratio_max": 1.1, "ratio_dual": 1.3},
    {"type": "cispo", "ratio_max": 1.2},
    {"type": "gspo", "ratio_min": 0.97, "ratio_max": 1.03},
    {"type": "gspo", "ratio_min": 0.97, "ratio_max": 1.03, "level": "token"},
    {"type": "sapo"},
    {"type": "dppo", "divergence_max": 0.003},
    {"type": "decoupled_ppo", "weight_max": 1.3},
    {"type": "minpro", "ratio_max": 1.1},
    {"type": "vespo"},
    {"type": "sequence_mask", "ratio_min": 0.5, "ratio_max": 1.7},
    {"type": "kl_penalised"},
]
OPSM = {"type": "opsm", "divergence_max": 0.03}
SEQUENCE_LEVEL = [[{"type": "truncated_is", "level": "sequence"}], [{"type": "masked_is", "ratio_max": 1.4}, OPSM]]
CORRECTIONS: list[list[dict[str, Any]]] = [
    *SEQUENCE_LEVEL,
    [{"type": "truncated_is", "ratio_max": 1.2}],
    [OPSM, {"type": "icepop", "ratio_min": 0.8, "ratio_max": 1.3}],
    [{"type": "masked_is", "ratio_max": 1.3, "level": "token"}],
    [{"type": "geometric_mask", "ratio_min": 0.95, "ratio_max": 1.05}, {"type": "truncated_is"}],
]
PENALTIES: list[dict[str, Any]] = [
    {"coefficient": 0.0},
    {"coefficient": 0.3, "estimator": "k1"},
    {"coefficient": 0.3, "estimator": "k2"},
    {"coefficient": 0.3, "estimator": "k3"},
    {"coefficient": 0.3, "estimator": "absolute"},
    {"coefficient": 0.3, "estimator": "k3", "placement": "reward"},
    {"coefficient": 0.3, "estimator": "absolute", "placement": "reward"},
]
AGGREGATIONS: list[dict[str, Any]] = [
    {"type": "token_mean"},
    {"type": "sequence_mean"},
    {"type": "prompt_mean"},
    {"type": "constant", "divisor": 30},
    {"type": "sample_and_token", "token_share": 0.4},
]
CUTS = [(1, 1000, 0), (1, 40, 0), (1, 70, 1), (2, 45, 2), (3, 1000, 3)]
"""Ranks, tokens of a micro-batch, and the order in which the trajectories come (0: as they are)."""


def specs() -> list[RunSpec]:
    """Every loss with every aggregation, the corrections that suit it and the penalties in turn."""
    result = []
    for i, loss in enumerate(LOSSES):
        anchored = make_spec(loss=loss, corrections=[]).loss
        fitting = CORRECTIONS if not anchored.weighs_behaviour else [[OPSM]]
        fitting = [[], *(SEQUENCE_LEVEL if loss["type"] == "gspo" else fitting)]
        for j, aggregation in enumerate(AGGREGATIONS):
            chosen, penalty = fitting[(i + j) % len(fitting)], PENALTIES[(i * len(AGGREGATIONS) + j) % len(PENALTIES)]
            result.append(make_spec(loss=loss, corrections=chosen, kl=penalty, aggregation=aggregation))
    for corrections in CORRECTIONS:
        result += [make_spec(loss=LOSSES[1], corrections=corrections, kl=penalty) for penalty in PENALTIES]
    return result


SPECS = specs()


def trajectories() -> list[Trajectory]:
    """Three samples of each of three prompts, with forced tokens; one sample is left out."""
    made = [t for group in make_groups(5, groups=3, samples=3, longest=20) for t in group.trajectories]
    for index, trajectory in enumerate(made):
        trajectory.trajectory_id = str(index)
    made[4].excluded = "truncated"
    return made


def cut(ranks: int, budget: int, order: int) -> list[TokenBatch]:
    """The micro-batches of all ranks, in float64; ``sequence`` is the trajectory's number whatever the cut."""
    given = trajectories()
    if order:
        np.random.default_rng(order).shuffle(given)  # type: ignore[arg-type]
    result = []
    for mine in shards(given, ranks):
        numbers = torch.tensor([int(t.trajectory_id) for t in mine])
        for batch in pack(mine, budget):
            doubles = {name: getattr(batch, name).double() for name in ("behaviour_logprobs", "advantages")}
            result.append(replace(batch, **doubles, sequence=numbers[batch.sequence]))
    return result


def whole_batch() -> tuple[TokenBatch, Denominators]:
    (batch,) = cut(1, 1000, 0)
    return batch, denominators(trajectories())


@cache
def draw(which: int, sequence: int, offset: int) -> float:
    """A number that depends on the token alone."""
    return float(np.random.default_rng((which, sequence, offset)).normal())


def noise(batch: TokenBatch, which: int, scale: float) -> Tensor:
    """Such a number for each token, the same however the batch is cut."""
    keys = zip(batch.sequence.tolist(), batch.offset.tolist(), strict=True)
    return torch.tensor([scale * draw(which, *key) for key in keys], dtype=torch.float64)


def policies(batch: TokenBatch) -> tuple[Tensor, Tensor, Tensor]:
    """Log-probabilities of the current policy, the learner before the step, and the reference."""
    old = batch.behaviour_logprobs + noise(batch, 1, 0.2)
    return old + noise(batch, 2, 0.2), old, old + noise(batch, 3, 0.3)


def written_out(spec: RunSpec, batch: TokenBatch, current: Tensor, old: Tensor, reference: Tensor) -> Tensor:
    """The formula of the papers, token by token, over a whole minibatch: Σ w·L + β·K, averaged.

    In the reward the penalty is GRPO's here, for which nothing is published: that of each token off its advantage. What
    REINFORCE++, RLOO and GAE publish stands in ``test_penalised.py`` and ``test_learner_critic.py``.
    """
    kl, advantages, penalties = spec.kl, batch.advantages.clone(), []
    for t in range(len(current)):
        d = reference[t] - (current[t] if kl.placement == "loss" else old[t])
        penalty = {"k1": -d, "k2": d * d / 2, "k3": torch.exp(d) - 1 - d, "absolute": d.abs()}[kl.estimator]
        penalties.append(kl.coefficient * penalty if kl.placement == "loss" else torch.zeros(()))
        advantages[t] -= kl.coefficient * penalty.detach() if kl.placement == "reward" else 0.0
    tokens = (old, batch.behaviour_logprobs, advantages, batch.mask, batch.sequence)
    weights = [correction_weights(c, TokenView(current.detach(), *tokens)) for c in spec.corrections]
    rows: dict[int, list[int]] = {}
    prompts: dict[int, list[int]] = {}
    for t, (sequence, prompt) in enumerate(zip(batch.sequence.tolist(), batch.prompt.tolist(), strict=True)):
        rows.setdefault(sequence, []).append(t)
        prompts.setdefault(prompt, []).append(t)
    total = torch.zeros((), dtype=torch.float64)
    for t, loss in token_losses(spec.loss, current, *tokens):
        value = loss * math.prod(w[t] for w in weights) + penalties[t]
        length, prompt = len(rows[int(batch.sequence[t])]), len(prompts[int(batch.prompt[t])])
        total = (
            total
            + value
            * {
                "token_mean": 1 / len(current),
                "sequence_mean": 1 / (len(rows) * length),
                "prompt_mean": 1 / (len(prompts) * prompt),
                "constant": 1 / (len(rows) * 30),
                "sample_and_token": 0.4 / len(current) + 0.6 / (len(rows) * length),
            }[spec.aggregation.type]
        )
    return total


def by_token(batch: TokenBatch, values: Tensor) -> dict[tuple[int, int], float]:
    keys = zip(batch.sequence.tolist(), batch.offset.tolist(), strict=True)
    return dict(zip(keys, values.tolist(), strict=True))


@pytest.fixture(scope="module")
def expected() -> list[tuple[float, dict[tuple[int, int], float]]]:
    """Value and gradient of every spec by its formula."""
    batch, _ = whole_batch()
    result = []
    for spec in SPECS:
        current, old, reference = policies(batch)
        value = written_out(spec, batch, current.requires_grad_(), old, reference)
        (slopes,) = torch.autograd.grad(value, current)
        result.append((value.item(), by_token(batch, slopes)))
    return result


def learned(spec: RunSpec, batches: list[TokenBatch], whole: Denominators) -> tuple[float, dict[Any, float], Any]:
    """Value, gradient by token, and metrics of the code under test, summed over micro-batches."""
    value, gradient, totals = 0.0, {}, Totals()
    for batch in batches:
        current, old, reference = policies(batch)
        current.requires_grad_()
        known = reference if spec.kl.coefficient else None
        share = loss_share(spec, batch, current, old, known, whole, totals, before=old)
        share.backward()
        value += share.item()
        gradient |= by_token(batch, current.grad)
    return value, gradient, totals.values()


@pytest.mark.parametrize(("ranks", "budget", "order"), CUTS)
def test_value_and_gradient_are_the_formulas_however_the_batch_is_cut(
    ranks: int, budget: int, order: int, expected: list[tuple[float, dict[tuple[int, int], float]]]
) -> None:
    batches, (at_once, whole) = cut(ranks, budget, order), whole_batch()
    assert (len(batches) > ranks) == (budget < 1000)
    for spec, (value, slopes) in zip(SPECS, expected, strict=True):
        found, gradient, metrics = learned(spec, batches, whole)
        assert found == pytest.approx(value, rel=1e-10, abs=1e-12), spec
        assert gradient == pytest.approx(slopes, rel=1e-9, abs=1e-13), spec
        assert metrics["actor/loss"] == pytest.approx(found)
        assert metrics == pytest.approx(learned(spec, [at_once], whole)[2], rel=1e-9, abs=1e-12), spec


@pytest.mark.parametrize("passed", [False, True], ids=["the first pass", "a later pass"])
@pytest.mark.parametrize("proximal", ["recompute", "snapshot", "ewma", "interpolated", "sampler"])
def test_a_reward_pays_for_the_distance_of_the_policy_before_the_step(proximal: str, passed: bool) -> None:
    """Not for that of another proximal policy, nor again in each pass over the batch for that of the current one."""
    batch, whole = whole_batch()
    parts = {"loss": {"type": "kl_penalised"}, "corrections": [], "kl": {"coefficient": 0.3, "placement": "reward"}}
    current, old, reference = policies(batch)
    current.requires_grad_()
    asked = current.detach() + 0.1 * torch.sin(torch.arange(len(current))) if passed else current.detach()
    d = reference - asked
    paid = replace(batch, advantages=batch.advantages - 0.3 * (d.exp() - 1 - d))
    spec = make_spec(**parts, proximal={"type": proximal})
    before = asked if passed else None
    found = loss_share(spec, batch, current, old, reference, whole, Totals(), before=before)
    expected = loss_share(make_spec(loss=parts["loss"], corrections=[]), paid, current, old, None, whole, Totals())
    assert found.item() == pytest.approx(expected.item(), rel=1e-12)
    (one,), (other,) = (torch.autograd.grad(share, current) for share in (found, expected))
    torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-15)


def test_broken_values_outside_the_mask_do_no_harm() -> None:
    batch, counts = whole_batch()
    outside = batch.offset % 3 == 1
    nan = float("nan")
    clean = replace(batch, mask=~outside)
    broken = replace(
        clean,
        behaviour_logprobs=batch.behaviour_logprobs.masked_fill(outside, -float("inf")),
        advantages=batch.advantages.masked_fill(outside, nan),
    )
    for spec in SPECS:
        found = []
        for tokens, value in ((clean, None), (broken, nan), (broken, -float("inf"))):
            current, old, reference = (p if value is None else p.masked_fill(outside, value) for p in policies(clean))
            current.requires_grad_()
            known = reference if spec.kl.coefficient else None
            totals = Totals()
            share = loss_share(spec, tokens, current, old, known, counts, totals, before=old)
            share.backward()
            assert current.grad is not None and (current.grad[outside] == 0.0).all(), spec
            found.append((share.item(), current.grad.tolist(), totals.values()))
        assert found[0] == found[1] == found[2], spec
        assert math.isfinite(found[0][0])


def test_a_batch_that_only_keeps_ranks_in_step_adds_nothing() -> None:
    batch, counts = whole_batch()
    for spec in SPECS:
        current, old, reference = policies(batch)
        current.requires_grad_()
        totals = Totals()
        known = reference if spec.kl.coefficient else None
        share = loss_share(spec, batch.without_loss(), current, old, known, counts, totals)
        share.backward()
        assert share.item() == 0.0
        assert current.grad is not None and (current.grad == 0.0).all()
        assert set(totals.values()) == {"actor/pg_loss", "actor/loss"}
