"""The entropy bonus: its gradient, its share of the loss however it is cut, and its weight under adaptive control."""

import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import TypeAdapter, ValidationError
from torch import Tensor

from tests.trainer_core.update.making import VOCABULARY, make_groups, make_spec
from trainer_core.episodes import Group
from trainer_core.methods.entropy_weight import entropy_weight
from trainer_core.metrics import find
from trainer_core.spec import RunSpec
from trainer_core.spec.methods.entropy import AdaptiveEntropyBonus, EntropyBonus
from trainer_core.update.learner import Learner, NonFiniteUpdate
from trainer_core.update.model.entropies import token_entropies
from trainer_core.update.objective.entropy_bonus import entropy_bonus
from trainer_core.update.objective.policy_objective import denominators
from trainer_core.update.packed.packing import TokenBatch, pack
from trainer_core.update.streaming import CannotStream
from trainer_core.update.totals import Totals

SMOOTH = {"learning_rate": 1e-3, "epsilon": 1e-3}
CUTS = [{"aggregation": {"type": "token_mean"}}, {"aggregation": {"type": "sequence_mean"}}]


def bonus_spec(entropy: dict[str, Any], **parts: Any) -> RunSpec:
    return make_spec(entropy=entropy, optimizer=SMOOTH, **parts)


def silent(seed: int) -> list[Group]:
    """Groups whose samples teach nothing by themselves."""
    groups = make_groups(seed)
    for trajectory in (t for group in groups for t in group.trajectories):
        trajectory.earn(0.0)
    return groups


def by_hand(logits: Tensor, temperature: Tensor) -> Tensor:
    """−Σ p log p, token by token."""
    rows = []
    for row, heat in zip(logits, temperature, strict=True):
        probs = torch.exp(row / heat) / torch.exp(row / heat).sum()
        rows.append(-sum(p * torch.log(p) for p in probs))
    return torch.stack(rows)


def test_value_and_gradient_are_the_definitions(monkeypatch: pytest.MonkeyPatch) -> None:
    logits = torch.randn(7, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64).requires_grad_()
    temperature = torch.tensor([1.0, 0.5, 2.0, 1.0, 0.7, 1.3, 1.0], dtype=torch.float64)
    slopes = torch.linspace(-1, 2, 7, dtype=torch.float64)
    expected = by_hand(logits, temperature)
    (wanted,) = torch.autograd.grad((expected * slopes).sum(), logits)
    for size in (1 << 24, 10):
        monkeypatch.setattr("trainer_core.update.model.logprobs.CHUNK_ELEMENTS", size)
        found = token_entropies(logits, temperature)
        (gradient,) = torch.autograd.grad((found * slopes).sum(), logits)
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-14)
        torch.testing.assert_close(gradient, wanted, rtol=1e-10, atol=1e-14)
    ruled_out = torch.tensor([[0.0, 0.0, -math.inf]], dtype=torch.float64, requires_grad=True)
    token_entropies(ruled_out, torch.ones(1, dtype=torch.float64)).sum().backward()
    assert ruled_out.grad is not None and ruled_out.grad.isfinite().all()


@pytest.mark.parametrize("parts", CUTS)
@pytest.mark.parametrize("budget", [1000, 60])
def test_the_shares_make_the_mean_entropy_times_the_weight(parts: dict[str, Any], budget: int) -> None:
    spec, groups = bonus_spec({"type": "fixed", "coefficient": 0.3}, **parts), make_groups(3, groups=2)
    mine = [t for group in groups for t in group.trajectories]

    def logits(batch: TokenBatch) -> Tensor:
        keys = zip(batch.sequence.tolist(), batch.offset.tolist(), strict=True)
        rows = [np.random.default_rng(key).normal(size=VOCABULARY) for key in keys]
        return torch.tensor(np.array(rows))

    value, gradient, totals = 0.0, {}, Totals()
    for batch in pack(mine, budget):
        own = logits(batch).requires_grad_()
        entropies = token_entropies(own, batch.temperature)
        share = entropy_bonus(spec, 0.3, batch, entropies, denominators(mine), totals)
        share.backward()
        value += share.item()
        keys = zip(batch.sequence.tolist(), batch.offset.tolist(), strict=True)
        gradient |= dict(zip(keys, own.grad, strict=True))  # type: ignore[arg-type]
    [batch] = pack(mine, 1000)
    own = logits(batch).requires_grad_()
    counts = batch.sequence.bincount()
    weight = 1 / len(batch.mask) if not parts or parts["aggregation"]["type"] == "token_mean" else None
    weights = torch.tensor([weight or 1 / (len(counts) * int(counts[s])) for s in batch.sequence]).double()
    expected = 0.3 * (by_hand(own, batch.temperature.double()) * weights).sum()
    (wanted,) = torch.autograd.grad(expected, own)
    assert value == pytest.approx(expected.item(), rel=1e-6)
    keys = zip(batch.sequence.tolist(), batch.offset.tolist(), strict=True)
    for key, row in zip(keys, wanted, strict=True):
        torch.testing.assert_close(gradient[key], row, rtol=1e-6, atol=1e-12)
    assert totals.values()["actor/loss"] == pytest.approx(-value)
    assert totals.values()["actor/entropy_weight"] == pytest.approx(0.3)


def test_the_weight_follows_the_published_rule() -> None:
    spec = AdaptiveEntropyBonus(target=0.5, change=0.25, weight_max=0.6)
    held, told = 0.0, []
    for entropy in (0.4, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.4):
        acting, held = entropy_weight(spec, held, entropy)
        told += [acting, held]
    assert told == pytest.approx(
        [0.0, 0.25, 0.25, 0.5, 0.5, 0.6, 0.6, 0.6, 0.0, 0.35, 0.0, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.25]
    )
    # A bound that is lowered in mid-run holds at once.
    assert entropy_weight(AdaptiveEntropyBonus(weight_max=0.1), 0.6, 0.1) == (0.1, 0.1)


def test_a_bonus_raises_the_entropy_and_nothing_else_moves_the_policy(policy_dir: Path) -> None:
    parts = {"corrections": [], "filters": []}
    spec, plain = bonus_spec({"type": "fixed", "coefficient": 1.0}, **parts), make_spec(optimizer=SMOOTH, **parts)
    learner, other = Learner(policy_dir, spec), Learner(policy_dir, plain)
    found = [learner.update(silent(1), spec, step) for step in range(1, 6)]
    assert all(later["actor/entropy"] > earlier["actor/entropy"] for earlier, later in pairwise(found))
    assert found[0]["actor/loss"] == pytest.approx(-found[0]["actor/entropy"], rel=1e-4)
    assert found[0]["actor/entropy_weight"] == 1.0 and find("actor/entropy_weight")
    before = other.weights()
    other.update(silent(1), plain, 1)
    assert all((before[name] == values).all() for name, values in other.weights().items())


def test_the_weight_adapts_and_a_resumed_run_goes_on_with_it(policy_dir: Path, tmp_path: Path) -> None:
    spec = bonus_spec({"type": "adaptive", "target": 20.0, "start": 0.1, "change": 0.05})
    straight, resumed = Learner(policy_dir, spec), Learner(policy_dir, spec)
    told = [straight.update(make_groups(step), spec, step)["actor/entropy_weight"] for step in (1, 2)]
    assert told == pytest.approx([0.1, 0.15])
    straight.save(tmp_path / "c")
    state = json.loads((tmp_path / "c" / "training" / "state.json").read_text())
    assert state["counters"]["entropy_weight"] == pytest.approx(0.2)
    resumed.load(tmp_path / "c")
    for step in (3, 4):
        assert resumed.update(make_groups(step), spec, step) == straight.update(make_groups(step), spec, step)
    below = bonus_spec({"type": "adaptive", "target": 0.01, "start": 0.1, "change": 0.05})
    assert straight.update(make_groups(5), below, 5)["actor/entropy_weight"] == 0.0
    assert straight._parts.entropy.held == pytest.approx(0.25)


def test_a_step_that_was_not_taken_leaves_the_weight(policy_dir: Path) -> None:
    spec = bonus_spec({"type": "adaptive", "target": 20.0, "start": 0.1})
    learner, broken = Learner(policy_dir, spec), make_groups(1)
    broken[0].trajectories[0].earn(math.nan)
    with pytest.raises(NonFiniteUpdate):
        learner.update(broken, spec, 1)
    assert learner._parts.entropy.held == 0.1


def test_a_checkpoint_from_before_begins_where_the_spec_says(policy_dir: Path, tmp_path: Path) -> None:
    Learner(policy_dir, make_spec()).save(tmp_path / "c")
    spec = bonus_spec({"type": "adaptive", "start": 0.3})
    learner = Learner(policy_dir, spec)
    learner.load(tmp_path / "c")
    assert learner._parts.entropy.held == 0.3


def test_what_cannot_be_is_refused(policy_dir: Path) -> None:
    with pytest.raises(ValidationError, match="must not be above weight_max"):
        TypeAdapter(EntropyBonus).validate_python({"type": "adaptive", "start": 2.0, "weight_max": 1.0})
    adaptive = bonus_spec({"type": "adaptive"})
    with pytest.raises(CannotStream, match="the entropy bonus adaptive cannot be streamed"):
        Learner(policy_dir, make_spec()).begin(adaptive, 1)
    rollout = {"group_size": 4, "max_tokens": 60, "engine": {"max_model_len": 128}, "mode": {"type": "streamed"}}
    with pytest.raises(ValidationError, match="before the step's entropy is known"):
        make_spec(entropy={"type": "adaptive"}, rollout=rollout)
