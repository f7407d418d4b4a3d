"""For every advantage and every loss there is: how a step is cut and ordered changes nothing but rounding.

The members come from the unions of the spec, so that a new method is covered as soon as it can be chosen.
"""

import copy
from typing import Any, get_args

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.episodes import Group, Trajectory, Verdict
from trainer_core.methods.advantages.assign import assign
from trainer_core.spec import RunSpec
from trainer_core.spec.methods.advantage import Advantage
from trainer_core.spec.methods.aggregation import Aggregation
from trainer_core.spec.methods.corrections import Correction
from trainer_core.spec.methods.loss import Loss
from trainer_core.update.objective.policy_objective import denominators, loss_share
from trainer_core.update.objective.returns import KnownTokens, estimate
from trainer_core.update.packed.packing import Packing, TokenBatch, pack
from trainer_core.update.packed.sharding import shards
from trainer_core.update.totals import Totals


def members(union: Any) -> list[Any]:
    """The models of a discriminated union."""
    first = get_args(union)[0]
    return list(get_args(first)) or [first]


LOSSES, ADVANTAGES, AGGREGATIONS, CORRECTIONS = (members(u) for u in (Loss, Advantage, Aggregation, Correction))


def of_type(model: Any) -> str:
    return str(model.model_fields["type"].default)


def batch_of(seed: int) -> list[Group]:
    """Groups of an odd size, with forced tokens, a truncated sample and rewards in parts."""
    rng = np.random.default_rng(seed)
    groups = make_groups(seed, groups=3, samples=5, longest=14)
    for group in groups:
        for trajectory in group.trajectories:
            parts = {"right": float(rng.integers(2)), "short": float(rng.normal())}
            trajectory.verdict = Verdict(sum(parts.values()), parts)
            trajectory.versions[:] = rng.integers(0, 3)
            cuts = rng.choice(np.arange(1, trajectory.length), min(2, trajectory.length - 1), replace=False)
            trajectory.step_starts = np.array([0, *sorted(cuts)], np.int32)
            trajectory.state_values = rng.normal(size=len(trajectory.step_starts))
    groups[1].trajectories[2].excluded = "truncated"
    return groups


def noise(mine: list[Trajectory], batch: TokenBatch, which: int, scale: float) -> torch.Tensor:
    """A number for each token that depends on trajectory and place alone."""
    numbers = [
        np.random.default_rng((which, int(mine[s].trajectory_id[1:]), o)).normal() * scale
        for s, o in zip(batch.sequence.tolist(), batch.offset.tolist(), strict=True)
    ]
    return torch.tensor(numbers, dtype=torch.float64)


def objective(
    spec: RunSpec, trajectories: list[Trajectory], ranks: int, packing: Packing
) -> tuple[float, dict[tuple[str, int], float], dict[str, float]]:
    """Loss, gradient by token and metrics of a minibatch that is cut over ranks and micro-batches."""
    whole, totals, total = denominators(trajectories), Totals(), 0.0
    gradient: dict[tuple[str, int], float] = {}
    for mine in shards(trajectories, ranks):
        for batch in pack(mine, packing):
            old = batch.behaviour_logprobs.double() + noise(mine, batch, 1, 0.3)
            logprobs = (old + noise(mine, batch, 2, 0.3)).requires_grad_()
            share = loss_share(
                spec,
                batch,
                logprobs,
                old,
                old + noise(mine, batch, 3, 0.1),
                whole,
                totals,
                divergence=noise(mine, batch, 5, 0.3).abs(),
                log_shift=-noise(mine, batch, 6, 0.1).abs() if shifts(spec) else None,
            )
            (slopes,) = torch.autograd.grad(share, logprobs, allow_unused=True)
            total += share.item()
            for s, o, slope in zip(batch.sequence.tolist(), batch.offset.tolist(), slopes.tolist(), strict=True):
                gradient[mine[s].trajectory_id, o] = slope
    return total, gradient, totals.values()


def shifts(spec: RunSpec) -> bool:
    return any(correction.type == "router_shift" for correction in spec.corrections)


def same(spec: RunSpec, seed: int, order: int, ranks: int, packing: Packing) -> None:
    """The cut over ``ranks`` and by ``packing``, in another order, against one batch in the given order."""
    groups = batch_of(seed)
    assign(spec.advantage, groups)
    plain = [t for group in groups for t in group.trajectories]
    shuffled = [plain[i] for i in np.random.default_rng(order).permutation(len(plain))]
    loss, gradient, metrics = objective(spec, plain, 1, Packing(100_000))
    other_loss, other_gradient, other_metrics = objective(spec, shuffled, ranks, packing)
    assert other_loss == pytest.approx(loss, rel=1e-5, abs=1e-7)
    assert other_gradient == pytest.approx(gradient, rel=1e-5, abs=1e-8)
    assert other_metrics == pytest.approx(metrics, rel=1e-5, abs=1e-6)


PACKINGS = st.builds(Packing, st.integers(24, 90), st.booleans(), st.booleans())
CUTS = given(seed=st.integers(0, 50), order=st.integers(0, 9), ranks=st.integers(1, 4), packing=PACKINGS)


@pytest.mark.parametrize("aggregation", AGGREGATIONS, ids=of_type)
@pytest.mark.parametrize("loss", LOSSES, ids=of_type)
@settings(max_examples=4, deadline=None)
@CUTS
def test_every_loss_is_the_same_however_it_is_cut(
    loss: Any, aggregation: Any, seed: int, order: int, ranks: int, packing: Packing
) -> None:
    parts: dict[str, Any] = {"loss": {"type": of_type(loss)}, "aggregation": {"type": of_type(aggregation)}}
    parts["kl"] = {"coefficient": 0.1}
    try:
        spec = make_spec(**parts, corrections=[{"type": "truncated_is", "level": "sequence"}])
    except ValidationError:  # the loss weighs by the behaviour policy itself
        spec = make_spec(**parts, corrections=[])
    same(spec, seed, order, ranks, packing)


@pytest.mark.parametrize("correction", CORRECTIONS, ids=of_type)
@settings(max_examples=6, deadline=None)
@CUTS
def test_every_correction_is_the_same_however_it_is_cut(
    correction: Any, seed: int, order: int, ranks: int, packing: Packing
) -> None:
    schedule = {"steps": 10, "prompts_per_step": 4, "updates_per_step": 2}
    same(make_spec(corrections=[{"type": of_type(correction)}], schedule=schedule), seed, order, ranks, packing)


@pytest.mark.parametrize("divergence", ["tv", "kl"])
@settings(max_examples=4, deadline=None)
@CUTS
def test_dppo_over_the_likeliest_tokens_is_the_same_however_it_is_cut(
    divergence: str, seed: int, order: int, ranks: int, packing: Packing
) -> None:
    loss = {"type": "dppo", "approximation": "top_k", "divergence": divergence}
    same(make_spec(loss=loss, corrections=[]), seed, order, ranks, packing)


def advantage_spec(model: Any) -> RunSpec:
    parts: dict[str, Any] = {"advantage": {"type": of_type(model)}, "filters": []}
    if model.compares == "value":
        parts["critic"] = {"type": "head"}
    return make_spec(rollout={"group_size": 5, "max_tokens": 60, "engine": {"max_model_len": 128}}, **parts)


@pytest.mark.parametrize("model", [m for m in ADVANTAGES if m.compares != "value"], ids=of_type)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 50), order=st.integers(0, 9))
def test_every_advantage_is_the_same_in_any_order(model: Any, seed: int, order: int) -> None:
    spec, rng = advantage_spec(model), np.random.default_rng(order)
    groups = batch_of(seed)
    mixed = copy.deepcopy(groups)
    for group in mixed:
        group.trajectories = [group.trajectories[i] for i in rng.permutation(len(group.trajectories))]
    mixed = [mixed[i] for i in rng.permutation(len(mixed))]
    found = []
    for given_groups in (groups, mixed):
        assign(spec.advantage, given_groups)
        everybody = [t for group in given_groups for t in group.trajectories]
        found.append({t.trajectory_id: t.advantage for t in everybody})
        for t in everybody if model.compares == "branches" else ():
            assert t.token_advantages is not None
            found[-1] |= {(t.trajectory_id, place): float(a) for place, a in enumerate(t.token_advantages)}
    # Advantages of tokens are kept in float32.
    close = 1e-6 if model.compares == "branches" else 1e-9
    assert found[1] == pytest.approx(found[0], rel=close, abs=close)


@pytest.mark.parametrize("model", [m for m in ADVANTAGES if m.compares == "value"], ids=of_type)
@settings(max_examples=10, deadline=None)
@CUTS
def test_every_advantage_of_a_critic_is_the_same_however_it_is_cut(
    model: Any, seed: int, order: int, ranks: int, packing: Packing
) -> None:
    spec = advantage_spec(model)
    plain = [t for group in batch_of(seed) for t in group.trajectories]
    shuffled = [copy.deepcopy(plain[i]) for i in np.random.default_rng(order).permutation(len(plain))]
    found = []
    for trajectories, cut, how in ((plain, 1, Packing(100_000)), (shuffled, ranks, packing)):
        # One process stands for all ranks: whitening is over all their tokens, as the collective makes it.
        scored = []
        for mine in shards(trajectories, cut):
            batches = pack(mine, how)
            scored.append((mine, batches, [KnownTokens(values=noise(mine, batch, 4, 1.0)) for batch in batches]))
        estimate(spec.advantage, spec, scored)
        found.append({t.trajectory_id: t.token_advantages for t in trajectories if t.token_advantages is not None})
    assert found[0].keys() == found[1].keys()
    for name, values in found[0].items():
        np.testing.assert_allclose(found[1][name], values, rtol=1e-5, atol=1e-6)
