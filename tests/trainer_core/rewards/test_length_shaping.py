"""Length shaping, formula by formula: each against the paper's expression, written out anew, and by hand."""

import math
import statistics
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainer_core.rewards.length.decoupled import decoupled, length_logit
from trainer_core.rewards.length.difficulty_aware import difficulty_aware
from trainer_core.rewards.length.group import ScoredGroup
from trainer_core.rewards.length.grpo_lambda import grpo_lambda, switched_on
from trainer_core.rewards.length.kimi import kimi
from trainer_core.rewards.length.l1_exact import l1_exact
from trainer_core.rewards.length.l1_max import l1_max
from trainer_core.rewards.length.magistral import magistral
from trainer_core.spec.rewards.length_shaping import (
    DecoupledLength,
    DifficultyAwareLength,
    GRPOLambdaLength,
    KimiLength,
    L1ExactLength,
    L1MaxLength,
    MagistralLength,
)


def group(
    lengths: Sequence[int],
    right: Sequence[bool],
    rewards: Sequence[float] | None = None,
    target: int | None = None,
    max_tokens: int = 100,
) -> ScoredGroup:
    return ScoredGroup(
        rewards=[float(ok) for ok in right] if rewards is None else rewards,
        lengths=lengths,
        right=right,
        cut_off=[length >= max_tokens for length in lengths],
        max_tokens=max_tokens,
        target=target,
    )


samples = st.lists(st.tuples(st.integers(0, 100), st.booleans()), min_size=1, max_size=12)


def of(rows: list[tuple[int, bool]], target: int | None = None) -> ScoredGroup:
    return group([length for length, _ in rows], [ok for _, ok in rows], target=target)


def test_magistral_by_hand() -> None:
    found = magistral(MagistralLength(buffer=20), group([0, 80, 90, 100], [True, False, True, True]))
    assert found == pytest.approx([0.0, 0.0, -0.05, -0.1], abs=1e-15)


@settings(max_examples=60, deadline=None)
@given(samples, st.integers(1, 99))
def test_magistral_is_the_formula_of_the_paper(rows: list[tuple[int, bool]], cache: int) -> None:
    def penalty(length: int) -> float:
        if length <= 100 - cache:
            return 0.0
        return -0.1 * (length - 100 + cache) / cache if length <= 100 else -0.1

    expected = [penalty(length) for length, _ in rows]
    assert magistral(MagistralLength(buffer=cache), of(rows)) == pytest.approx(expected, abs=1e-14)


def test_l1_exact_by_hand() -> None:
    spec = L1ExactLength(alpha=0.01)
    found = l1_exact(spec, group([30, 50, 100], [True, False, True], target=50))
    assert found == pytest.approx([-0.2, 0.0, -0.5], abs=1e-15)
    assert math.copysign(1.0, found[1]) == 1.0, "nothing off the target costs 0, not -0"


def test_l1_max_by_hand() -> None:
    spec = L1MaxLength(alpha=0.01)
    # Factors: 0.5 + 0.3, 0.5, 0.5 − 0.5, and 1 at most; the wrong answer keeps its reward.
    found = l1_max(spec, group([20, 50, 100, 0, 20], [True] * 4 + [False], rewards=[1, 1, 2, 1, 0.3], target=50))
    assert found == pytest.approx([-0.2, -0.5, -2.0, 0.0, 0.0], abs=1e-15)


@settings(max_examples=60, deadline=None)
@given(samples, st.integers(0, 100), st.floats(1e-5, 0.5), st.floats(0.0, 1.0))
def test_l1_is_the_formula_of_the_paper(rows: list[tuple[int, bool]], target: int, alpha: float, delta: float) -> None:
    scored = of(rows, target)
    exact = l1_exact(L1ExactLength(alpha=alpha), scored)
    longest = l1_max(L1MaxLength(alpha=alpha, delta=delta), scored)
    for (length, ok), off, shaped in zip(rows, exact, longest, strict=True):
        assert int(ok) + off == pytest.approx(int(ok) - alpha * abs(target - length), abs=1e-12)
        paper = int(ok) * float(np.clip(alpha * (target - length) + delta, 0.0, 1.0))
        assert int(ok) + shaped == pytest.approx(paper, abs=1e-12)


@pytest.mark.parametrize("shape", [lambda g: l1_exact(L1ExactLength(), g), lambda g: l1_max(L1MaxLength(), g)])
def test_l1_needs_a_target(shape: object) -> None:
    with pytest.raises(ValueError, match="needs a target length"):
        shape(group([1], [True]))  # type: ignore[operator]


def test_grpo_lambda_by_hand() -> None:
    # Right answers of 10 and 30 tokens: mean 20, deviation 10, z = −1 and 1.
    found = grpo_lambda(GRPOLambdaLength(alpha=1.0), group([10, 30, 90], [True, True, False]))
    assert found == pytest.approx([-0.2689414213699951, -0.7310585786300049, 0.0], abs=1e-15)
    assert grpo_lambda(GRPOLambdaLength(alpha=1.0), group([7, 7], [True, True])) == [-0.5, -0.5]
    assert grpo_lambda(GRPOLambdaLength(), group([7, 9], [False, False])) == [0.0, 0.0]


@settings(max_examples=60, deadline=None)
@given(samples, st.floats(0.01, 2.0))
def test_grpo_lambda_is_the_formula_of_the_paper(rows: list[tuple[int, bool]], alpha: float) -> None:
    right = [length for length, ok in rows if ok]
    found = grpo_lambda(GRPOLambdaLength(alpha=alpha), of(rows))
    for (length, ok), part in zip(rows, found, strict=True):
        if not ok:
            assert part == 0.0
            continue
        std = statistics.pstdev(right)
        z = (length - statistics.fmean(right)) / std if std else 0.0
        assert 1.0 + part == pytest.approx(1.0 - alpha * 0.5 * (1.0 + math.tanh(z / 2.0)), abs=1e-9)


def test_grpo_lambda_switches_on_the_best_groups_of_the_batch() -> None:
    rates = [0.5, 1.0, 0.0, 1.0, 0.75]
    groups = [group([1] * 4, [index < 4 * rate for index in range(4)]) for rate in rates]
    # ⌈0.2 · 5⌉ = 1: of equal rates the first. ⌈0.5 · 5⌉ = 3.
    assert switched_on(GRPOLambdaLength(share=0.2), groups) == [False, True, False, False, False]
    assert switched_on(GRPOLambdaLength(share=0.5), groups) == [False, True, False, True, True]
    assert switched_on(GRPOLambdaLength(share=1.0, min_pass_rate=0.6), groups) == [False, True, False, True, True]
    assert switched_on(GRPOLambdaLength(share=0.2), []) == []


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=40), st.floats(0.01, 1.0))
def test_no_group_is_switched_on_before_a_better_one(counts: list[int], share: float) -> None:
    groups = [group([1] * 4, [index < count for index in range(4)]) for count in counts]
    flags = switched_on(GRPOLambdaLength(share=share), groups)
    assert sum(flags) == min(math.ceil(share * len(counts) - 1e-9), len(counts))
    on = [count for count, flag in zip(counts, flags, strict=True) if flag]
    off = [count for count, flag in zip(counts, flags, strict=True) if not flag]
    assert not off or min(on) >= max(off)


def test_kimi_by_hand() -> None:
    # Lengths from 20 to 100: λ is 1/2, 0, −1/4 and −1/2; a short wrong answer earns nothing, a long one pays.
    found = kimi(KimiLength(weight=2.0), group([20, 60, 80, 100, 20, 100], [True, True, True, True, False, False]))
    assert found == pytest.approx([1.0, 0.0, -0.5, -1.0, 0.0, -1.0], abs=1e-15)
    assert kimi(KimiLength(), group([30, 30], [True, False])) == [0.0, 0.0]
    assert kimi(KimiLength(weight=0.0), group([20, 60], [True, False])) == [0.0, 0.0]


@settings(max_examples=60, deadline=None)
@given(samples)
def test_kimi_is_the_formula_of_the_paper(rows: list[tuple[int, bool]]) -> None:
    lengths = np.array([length for length, _ in rows], dtype=np.float64)
    spread = lengths.max() - lengths.min()
    place = np.zeros(len(rows)) if spread == 0 else 0.5 - (lengths - lengths.min()) / spread
    expected = [value if ok else min(0.0, value) for value, (_, ok) in zip(place, rows, strict=True)]
    assert kimi(KimiLength(), of(rows)) == pytest.approx(expected, abs=1e-14)


def test_difficulty_aware_by_hand() -> None:
    # Pass rate 1/2, γ = 2: right answers pay a quarter, wrong ones 0.8 of it, cut off all of it.
    spec = DifficultyAwareLength(buffer=20, gamma=2.0, failure_scale=0.8)
    found = difficulty_aware(spec, group([90, 90, 100, 50], [True, False, True, False]))
    assert found == pytest.approx([-0.125, -0.4, -1.0, 0.0], abs=1e-15)


@settings(max_examples=60, deadline=None)
@given(samples, st.integers(1, 99), st.floats(0.0, 5.0), st.floats(0.0, 1.0))
def test_difficulty_aware_is_the_rule_of_the_authors(
    rows: list[tuple[int, bool]], buffer: int, gamma: float, failure_scale: float
) -> None:
    spec = DifficultyAwareLength(buffer=buffer, gamma=gamma, failure_scale=failure_scale)
    rate = sum(ok for _, ok in rows) / len(rows)
    for (length, ok), part in zip(rows, difficulty_aware(spec, of(rows)), strict=True):
        plain = ((100 - buffer) - length) / buffer if length > 100 - buffer else 0.0
        scale = 1.0 if length >= 100 else (rate**gamma if ok else failure_scale)
        assert part == pytest.approx(scale * plain, abs=1e-12)


def test_decoupled_by_hand() -> None:
    # l = 0.9 and 0.7: weights in the ratio e² at λ = 0.1.
    found = decoupled([length_logit(DecoupledLength(), length, 100) for length in (10, 30)])
    assert found == pytest.approx([2 / (1 + math.exp(-2)), 2 / (1 + math.exp(2))], rel=1e-12)
    assert decoupled([]) == []


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 100), min_size=1, max_size=16), st.floats(0.01, 10.0))
def test_decoupled_weights_are_the_papers_distribution(lengths: list[int], temperature: float) -> None:
    spec = DecoupledLength(temperature=temperature)
    found = decoupled([length_logit(spec, length, 100) for length in lengths])
    rewards = 1.0 - np.array(lengths, np.float64) / 100
    powers = np.exp((rewards - rewards.max()) / temperature)
    assert found == pytest.approx(list(len(lengths) * powers / powers.sum()), rel=1e-9)
    assert sum(found) == pytest.approx(len(lengths)), "what a group learns from its right answers stays the same"
    assert all(weight >= 0.0 for weight in found)
