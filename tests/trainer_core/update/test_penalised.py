"""A KL penalty in the reward under REINFORCE++ and RLOO, against the papers' formulas written out in plain numbers."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.episodes import Group, Trajectory, Verdict
from trainer_core.spec import RunSpec
from trainer_core.update.learner import Learner
from trainer_core.update.objective.penalised import pays, penalise
from trainer_core.update.objective.policy_objective import denominators, loss_share
from trainer_core.update.objective.returns import KnownTokens
from trainer_core.update.packed.packing import TokenBatch, pack
from trainer_core.update.streaming import refusal
from trainer_core.update.totals import Totals
from worker.loop.advantages import assign_advantages

BETA = 0.7
SPECS: list[dict[str, Any]] = [
    {"type": "reinforce_pp"},
    {"type": "reinforce_pp", "std": "sample", "epsilon": 0.01},
    {"type": "reinforce_pp", "weighting": "samples"},
    {"type": "reinforce_pp_baseline"},
    {"type": "reinforce_pp_baseline", "weighting": "samples"},
    {"type": "rloo"},
    {"type": "rloo", "whiten": "batch"},
]


def spec_of(advantage: dict[str, Any], estimator: str = "k1", **parts: Any) -> RunSpec:
    penalty = {"estimator": estimator, "placement": "reward", "coefficient": BETA}
    return make_spec(advantage=advantage, kl=penalty, filters=[], corrections=[], loss={"type": "reinforce"}, **parts)


def rewarded(seed: int) -> list[Group]:
    """Groups with rewards, one of whose samples is cut short and left out of the loss."""
    groups, rng = make_groups(seed, groups=3, longest=12), np.random.default_rng(seed)
    for trajectory in (t for group in groups for t in group.trajectories):
        trajectory.verdict = Verdict(float(rng.integers(0, 3)) / 2)
    groups[1].trajectories[2].excluded = "truncated"
    return groups


def half_right() -> list[Group]:
    """The same groups, half of whose samples are right: they pay less than that makes out."""
    groups = rewarded(3)
    for trajectory in (t for group in groups for t in group.trajectories):
        trajectory.verdict = Verdict(0.0)
    for trajectory in (t for group in groups for t in group.trajectories[:2]):
        trajectory.verdict = Verdict(20.0)
    return groups


def number(which: int, trajectory: Trajectory, offset: int) -> float:
    """A number that depends on the token alone."""
    key = int(trajectory.trajectory_id[1:]), offset, which
    return float(np.random.default_rng(key).normal(0, 0.3))


def before(t: Trajectory, offset: int) -> float:
    return -4.0 + number(1, t, offset)


def reference(t: Trajectory, offset: int) -> float:
    return -4.0 + number(2, t, offset)


def estimate(estimator: str, d: float) -> float:
    return {"k1": -d, "k2": d * d / 2, "k3": math.exp(d) - 1 - d, "absolute": abs(d)}[estimator]


def learned(spec: RunSpec, groups: list[Group], budget: int) -> tuple[float, dict[tuple[str, int], float]]:
    """Value and gradient by token of the objective, made by the code under test."""
    mine = [t for group in groups for t in group.trajectories]
    batches = [replace(b, advantages=b.advantages.double()) for b in pack(mine, budget)]

    def told(batch: TokenBatch, of: Any) -> Tensor:
        keys = zip(batch.sequence.tolist(), batch.offset.tolist(), strict=True)
        return torch.tensor([of(mine[s], o) for s, o in keys], dtype=torch.float64)

    known = [KnownTokens(before=told(batch, before), reference=told(batch, reference)) for batch in batches]
    [renewed] = penalise(spec, groups, [(mine, batches, known)])
    value, gradient = 0.0, {}
    for batch, one in zip(renewed, known, strict=True):
        assert one.before is not None
        current = (one.before + told(batch, lambda t, o: number(3, t, o))).requires_grad_()
        share = loss_share(spec, batch, current, one.before, one.reference, denominators(mine), Totals())
        share.backward()
        value += share.item()
        assert current.grad is not None
        keys = zip(batch.sequence.tolist(), batch.offset.tolist(), strict=True)
        gradient |= {(mine[s].trajectory_id, o): g for (s, o), g in zip(keys, current.grad.tolist(), strict=True)}
    return value, gradient


def published(advantage: dict[str, Any], estimator: str, groups: list[Group]) -> dict[tuple[str, int], float]:
    """Advantage of each token in the loss, from the formulas of the papers."""
    rows: list[tuple[float, float, str, int]] = []  # advantage, weight, trajectory, token
    sample_weight: dict[str, float] = {}
    for group in groups:
        trained = [t for t in group.trajectories if t.excluded is None]
        mean = sum(t.reward or 0.0 for t in group.trajectories) / len(group.trajectories)
        paid = {
            t.trajectory_id: [BETA * estimate(estimator, reference(t, int(o)) - before(t, int(o))) for o in places]
            for t in trained
            if len(places := np.flatnonzero(t.sampled))
        }
        net = [(t.reward or 0.0) - sum(paid[t.trajectory_id]) for t in trained]
        for index, t in enumerate(trained):
            own = paid[t.trajectory_id]
            sample_weight[t.trajectory_id] = 1 / len(own)
            for place, offset in enumerate(np.flatnonzero(t.sampled)):
                if advantage["type"] == "rloo":
                    value = net[index] - (sum(net) - net[index]) / (len(net) - 1)
                else:
                    value = (t.reward or 0.0) - sum(own[place:])
                    value -= mean if advantage["type"] == "reinforce_pp_baseline" else 0.0
                weight = 1 / len(own) if advantage.get("weighting") == "samples" else 1.0
                rows.append((value, weight, t.trajectory_id, int(offset)))
    if advantage["type"] == "rloo" and "whiten" not in advantage:
        return {(t, o): value for value, _, t, o in rows}
    if advantage["type"] == "rloo":
        rows = [(value, sample_weight[t], t, o) for value, _, t, o in rows]
    total = math.fsum(weight for _, weight, _, _ in rows)
    mean = math.fsum(weight * value for value, weight, _, _ in rows) / total
    squares = math.fsum(weight * (value - mean) ** 2 for value, weight, _, _ in rows)
    std = math.sqrt(squares / (total - (1 if advantage.get("std") == "sample" else 0)))
    return {(t, o): (value - mean) / (std + advantage.get("epsilon", 1e-8)) for value, _, t, o in rows}


@pytest.mark.parametrize("advantage", SPECS, ids=str)
@pytest.mark.parametrize("estimator", ["k1", "k3"])
@pytest.mark.parametrize("budget", [1000, 30])
def test_the_objective_is_the_published_one(advantage: dict[str, Any], estimator: str, budget: int) -> None:
    groups = rewarded(3)
    expected = published(advantage, estimator, groups)
    value, gradient = learned(spec_of(advantage, estimator), groups, budget)
    taking_part = {t.trajectory_id: t for group in groups for t in group.trajectories if t.excluded is None}
    # Plain REINFORCE with a mean over tokens: the gradient of each token is −A / tokens.
    assert gradient == pytest.approx({key: -a / len(expected) for key, a in expected.items()}, rel=1e-9, abs=1e-12)
    now = {key: before(taking_part[key[0]], key[1]) + number(3, taking_part[key[0]], key[1]) for key in expected}
    by_hand = -math.fsum(expected[key] * now[key] for key in expected) / len(expected)
    assert value == pytest.approx(by_hand, rel=1e-9)


def test_two_tokens_by_hand() -> None:
    """r = 1 and 0; the first sample pays 0.1 and 0.3, the second 0.2: REINFORCE++ has 0.6, 0.7 and −0.2 to go."""
    groups = make_groups(1, groups=1, samples=2, longest=3)
    first, second = groups[0].trajectories
    for trajectory, length, reward in ((first, 2, 1.0), (second, 1, 0.0)):
        trajectory.cut(length)
        trajectory.sampled[:] = True
        trajectory.verdict = Verdict(reward)
    mine = [first, second]
    [batch] = pack(mine, 100)
    paid = torch.tensor([0.1, 0.3, 0.2] if batch.sequence[0] == 0 else [0.2, 0.1, 0.3]).double() / BETA
    known = KnownTokens(before=paid, reference=torch.zeros(3).double())
    spec = spec_of({"type": "reinforce_pp", "epsilon": 0.0})
    penalise(spec, groups, [(mine, [replace(batch, advantages=batch.advantages.double())], [known])])
    found = [*first.token_advantages, *second.token_advantages]  # type: ignore[misc]
    to_go = np.array([0.6, 0.7, -0.2])
    np.testing.assert_allclose(found, (to_go - to_go.mean()) / to_go.std(), rtol=1e-6)
    penalise(spec_of({"type": "rloo"}), groups, [(mine, [batch], [known])])
    assert [first.advantage, second.advantage] == pytest.approx([0.6 + 0.2, -0.2 - 0.6])


def test_length_weights_are_those_of_the_dispatch_though_the_run_was_steered() -> None:
    lengths = {"type": "decoupled", "temperature": 0.1}
    dispatched = spec_of({"type": "rloo"}, reward={"definition": "r@1", "length": lengths})
    steered = spec_of({"type": "rloo"}, reward={"definition": "r@1", "length": {**lengths, "temperature": 9.0}})
    found = []
    for spec in (dispatched, steered):
        groups = half_right()
        assign_advantages(groups, spec, [dispatched] * len(groups))
        learned(spec, groups, 1000)
        found.append([t.advantage for group in groups for t in group.trajectories])
    assert found[0] == found[1]
    plain = half_right()
    learned(spec_of({"type": "rloo"}), plain, 1000)
    assert found[0] != [t.advantage for group in plain for t in group.trajectories]


@pytest.mark.parametrize("advantage", SPECS, ids=str)
def test_groups_of_equal_rewards_stay_in_the_loss_and_pay_by_their_distances(advantage: dict[str, Any]) -> None:
    spec = RunSpec.model_validate({**spec_of(advantage).model_dump(), "filters": [{"type": "zero_advantage"}]})
    groups = rewarded(3)
    for trajectory in groups[0].trajectories:
        trajectory.verdict = Verdict(1.0)
    assign_advantages(groups, spec)
    assert [t.excluded for t in groups[0].trajectories] == [None] * 4
    expected = published(advantage, "k1", groups)
    _, gradient = learned(spec, groups, 1000)
    assert gradient == pytest.approx({key: -a / len(expected) for key, a in expected.items()}, rel=1e-9, abs=1e-12)
    equal = {t.trajectory_id for t in groups[0].trajectories}
    assert all(value != 0.0 for (name, _), value in gradient.items() if name in equal)


def test_only_these_make_their_advantages_of_penalised_rewards() -> None:
    assert pays(spec_of({"type": "rloo"})) and pays(spec_of({"type": "reinforce_pp"}))
    assert not pays(spec_of({"type": "grpo"})) and not pays(make_spec(advantage={"type": "rloo"}))
    assert not pays(make_spec(advantage={"type": "rloo"}, kl={"coefficient": 0.1}))


@pytest.mark.parametrize("advantage", [SPECS[0], SPECS[5]], ids=str)
def test_a_step_learns_from_what_rewards_pay(policy_dir: Path, advantage: dict[str, Any]) -> None:
    """On the learner: the second step, whose policy has moved, has the advantages of the formula."""
    spec = spec_of(advantage, rollout={"group_size": 4, "max_tokens": 60, "engine": {"max_model_len": 128}})
    learner = Learner(policy_dir, spec)
    learner.update(rewarded(1), spec, 1)
    groups, same = rewarded(2), rewarded(2)
    learner.update(groups, spec, 2)
    Learner(policy_dir, make_spec()).update(same, make_spec(), 1)
    now = {t.trajectory_id: t for group in groups for t in group.trajectories}
    base = {t.trajectory_id: t for group in same for t in group.trajectories}
    moved = max(
        float(np.abs(t.learner_logprobs - base[i].learner_logprobs).max())  # type: ignore[operator]
        for i, t in now.items()
        if t.excluded is None
    )
    assert moved > 1e-4
    rewards = {i: (t.reward or 0.0) for i, t in now.items()}
    paid = {
        i: BETA * (t.learner_logprobs - base[i].learner_logprobs)[t.sampled].astype("f8")  # type: ignore[operator]
        for i, t in now.items()
        if t.excluded is None
    }
    if advantage["type"] == "rloo":
        for group in groups:
            net = {
                t.trajectory_id: rewards[t.trajectory_id] - paid[t.trajectory_id].sum()
                for t in group.trajectories
                if t.excluded is None
            }
            for i, own in net.items():
                others = (sum(net.values()) - own) / (len(net) - 1)
                assert now[i].advantage == pytest.approx(own - others, abs=1e-4)
        return
    to_go = {i: rewards[i] - own[::-1].cumsum()[::-1] for i, own in paid.items()}
    every = np.concatenate(list(to_go.values()))
    for i, own in to_go.items():
        found = now[i].token_advantages
        assert found is not None and (found[~now[i].sampled] == 0).all()
        np.testing.assert_allclose(found[now[i].sampled], (own - every.mean()) / every.std(), atol=1e-3)


def test_a_streamed_step_of_rloo_pays_as_a_whole_one_does(policy_dir: Path) -> None:
    spec = spec_of({"type": "rloo"})
    assert refusal(spec) is None
    whole, streamed = Learner(policy_dir, spec), Learner(policy_dir, spec)
    found = []
    for step in (1, 2):
        groups, pieces = rewarded(step), rewarded(step)
        whole.update(groups, spec, step)
        streamed.begin(spec, step)
        streamed.accumulate(pieces[:1])
        streamed.accumulate(pieces[1:])
        streamed.finish()
        found = [
            (t.advantage, u.advantage)
            for g, h in zip(groups, pieces, strict=True)
            for t, u in zip(g.trajectories, h.trajectories, strict=True)
        ]
    assert [one for one, _ in found] == pytest.approx([other for _, other in found], abs=1e-4)
    assert any(abs(one) > 0.1 for one, _ in found)
