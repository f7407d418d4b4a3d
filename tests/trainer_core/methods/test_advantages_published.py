"""Every advantage against a transcription of its paper's formula in numpy, and against numbers made by hand."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
import torch
from torch import Tensor

from trainer_core.methods import advantages
from trainer_core.methods.advantages.inputs import Inputs
from trainer_core.methods.advantages.mc_grpo import pivots
from trainer_core.spec.methods.advantage import (
    Advantage,
    DrGRPOAdvantage,
    GRPOAdvantage,
    MagistralAdvantage,
    MaxRLAdvantage,
    MCGRPOAdvantage,
    OPOAdvantage,
    PassKAdvantage,
    ReinforceAdvantage,
    ReinforcePlusPlusAdvantage,
    ReinforcePlusPlusBaselineAdvantage,
    RLOOAdvantage,
    VCPOAdvantage,
)

GROUPS, SAMPLES = 12, 7
Row = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def tensor(*rows: list[float]) -> Tensor:
    return torch.tensor(rows, dtype=torch.float64)


def everybody(rewards: Tensor) -> Tensor:
    return torch.ones_like(rewards, dtype=torch.bool)


def by_hand(spec: Advantage, *rows: list[float], **inputs: Tensor) -> list[list[float]]:
    rewards = tensor(*rows)
    return advantages.compute(spec, rewards, everybody(rewards), Inputs(**inputs)).tolist()


def rloo(r: np.ndarray, lengths: np.ndarray, w: np.ndarray) -> np.ndarray:
    return np.array([r[i] - np.delete(r, i).mean() for i in range(len(r))])


def mc_grpo(scale: str) -> Row:
    def row(r: np.ndarray, lengths: np.ndarray, w: np.ndarray) -> np.ndarray:
        middle = np.sort(r)[(len(r) - 1) // 2]
        off = np.sort(np.abs(r - middle))[(len(r) - 1) // 2]
        return (r - middle) / ({"mad": off, "std": r.std(ddof=1)}[scale] + 0.01) if scale != "none" else r - middle

    return row


def pass_2(r: np.ndarray, lengths: np.ndarray, w: np.ndarray) -> np.ndarray:
    """By enumeration: every pair is a group of its own whose reward is the best of the two."""
    pairs = list(combinations(range(len(r)), 2))
    worth = np.array([float(max(r[list(pair)]) >= 1) for pair in pairs])
    if worth.std() == 0:
        return np.zeros(len(r))
    scaled = (worth - worth.mean()) / worth.std()
    return np.array([scaled[[i in pair for pair in pairs]].mean() for i in range(len(r))])


ROWS: list[tuple[Advantage, Row]] = [
    (RLOOAdvantage(), rloo),
    (MCGRPOAdvantage(scale="mad", epsilon=0.01), mc_grpo("mad")),
    (MCGRPOAdvantage(scale="std", epsilon=0.01), mc_grpo("std")),
    (MCGRPOAdvantage(scale="none"), mc_grpo("none")),
    (MaxRLAdvantage(), lambda r, lengths, w: (r - r.mean()) / r.mean() if r.mean() > 0 else 0 * r),
    (OPOAdvantage(), lambda r, lengths, w: r - (lengths * r).sum() / lengths.sum()),
    (PassKAdvantage(k=2, success=1.0, epsilon=0.0), pass_2),
    (
        VCPOAdvantage(ratio_max=3.0),
        lambda r, lengths, w: r - np.average(r, weights=np.minimum(w, 3.0) ** 2 * lengths),
    ),
]


@pytest.mark.parametrize(("spec", "row"), ROWS, ids=lambda value: getattr(value, "type", ""))
def test_within_ragged_groups(spec: Advantage, row: Row) -> None:
    generator = np.random.default_rng(0)
    rewards = generator.normal(size=(GROUPS, SAMPLES))
    if isinstance(spec, PassKAdvantage):
        rewards = generator.integers(0, 2, (GROUPS, SAMPLES)).astype(float)
    mask = generator.random((GROUPS, SAMPLES)) < 0.7
    mask[:, :2] = True
    lengths = generator.integers(1, 50, (GROUPS, SAMPLES)).astype(float)
    w = np.exp(generator.normal(size=(GROUPS, SAMPLES)))
    inputs = Inputs(lengths=torch.from_numpy(lengths), importance=torch.from_numpy(w))
    broken = np.where(mask, rewards, np.nan)
    found = advantages.compute(spec, torch.from_numpy(broken), torch.from_numpy(mask), inputs).numpy()
    for g in range(GROUPS):
        counted = mask[g]
        expected = row(rewards[g][counted], lengths[g][counted], w[g][counted])
        np.testing.assert_allclose(found[g][counted], expected, rtol=1e-10, atol=1e-12)
        assert (found[g][~counted] == 0).all()


BATCH: list[Advantage] = [
    ReinforceAdvantage(),
    ReinforcePlusPlusAdvantage(weighting="samples", std="sample"),
    ReinforcePlusPlusAdvantage(weighting="tokens"),
    ReinforcePlusPlusBaselineAdvantage(weighting="samples"),
    ReinforcePlusPlusBaselineAdvantage(weighting="tokens", std="sample"),
    MagistralAdvantage(),
    GRPOAdvantage(whiten="batch"),
]


@pytest.mark.parametrize("spec", BATCH, ids=lambda spec: spec.type)
def test_over_the_batch(spec: Advantage) -> None:
    generator = np.random.default_rng(1)
    rewards = generator.normal(2.0, 1.0, size=(GROUPS, SAMPLES))
    mask = generator.random((GROUPS, SAMPLES)) < 0.7
    mask[:, :2] = True
    lengths = generator.integers(1, 50, (GROUPS, SAMPLES))
    inputs = Inputs(lengths=torch.from_numpy(lengths).double())
    found = advantages.compute(spec, torch.from_numpy(rewards), torch.from_numpy(mask), inputs).numpy()
    centred, scaled = rewards.copy(), rewards.copy()
    for g in range(GROUPS):
        centred[g] -= rewards[g][mask[g]].mean()
        scaled[g] = centred[g] / (rewards[g][mask[g]].std(ddof=1) + 1e-6)
    match spec:
        case ReinforceAdvantage():
            expected = rewards - rewards[mask].mean()
        case ReinforcePlusPlusAdvantage() | ReinforcePlusPlusBaselineAdvantage():
            values = rewards if isinstance(spec, ReinforcePlusPlusAdvantage) else centred
            # One entry per token is the paper's whitening, written out.
            all_of_them = np.repeat(values[mask], lengths[mask]) if spec.weighting == "tokens" else values[mask]
            deviation = all_of_them.std(ddof=1 if spec.std == "sample" else 0)
            expected = (values - all_of_them.mean()) / (deviation + spec.epsilon)
        case MagistralAdvantage():
            expected = (centred - centred[mask].mean()) / (centred[mask].std() + spec.epsilon)
        case _:
            expected = (scaled - scaled[mask].mean()) / (scaled[mask].std() + 1e-8)
    np.testing.assert_allclose(found[mask], expected[mask], rtol=1e-9, atol=1e-12)
    assert (found[~mask] == 0).all()


def test_magistral_standardises_every_minibatch_alone() -> None:
    rewards = tensor([1, 0], [0, 1], [8, 0], [0, 8])
    found = by_hand(MagistralAdvantage(epsilon=0.0), *rewards.tolist(), minibatch=torch.tensor([0, 0, 1, 1]))
    assert found == [[1, -1], [-1, 1], [1, -1], [-1, 1]]
    together = by_hand(MagistralAdvantage(epsilon=0.0), *rewards.tolist())
    assert abs(together[0][0]) < 0.2


def test_numbers_by_hand() -> None:
    # Others' means: 1/3 for each right one, 2/3 for each wrong one.
    assert by_hand(RLOOAdvantage(), [1, 1, 0, 0])[0] == pytest.approx([2 / 3, 2 / 3, -2 / 3, -2 / 3])
    # One right of four: log-likelihood weighs it by 1/p = 4.
    assert by_hand(MaxRLAdvantage(), [1, 0, 0, 0]) == [[3, -1, -1, -1]]
    assert by_hand(MaxRLAdvantage(), [-1, 0, 0, 1]) == [[0, 0, 0, 0]]
    # The long wrong answer has three quarters of the tokens: baseline 0.25.
    assert by_hand(OPOAdvantage(), [1, 0], lengths=tensor([10, 30])) == [[0.75, -0.25]]
    # Weights 1² · 10 and 2² · 10 for rewards 1 and 0: baseline 0.2.
    stale = {"lengths": tensor([10, 10]), "importance": tensor([1, 2])}
    assert by_hand(VCPOAdvantage(), [1, 0], **stale)[0] == pytest.approx([0.8, -0.2])
    # Pass@2 of 4 with 1 right: half of the pairs are right, so ρ = σ = 0.5; a wrong one is in 3 pairs, 2 of them wrong.
    assert by_hand(PassKAdvantage(k=2, epsilon=0.0), [1, 0, 0, 0])[0] == pytest.approx([1, -1 / 3, -1 / 3, -1 / 3])
    # Median 0.2; the outlier does not turn the sign of 0.3 as it would with the mean 1.06.
    found = by_hand(MCGRPOAdvantage(scale="none"), [0.1, 0.2, 0.3, 0.2, 4.5])[0]
    assert found == pytest.approx([-0.1, 0.0, 0.1, 0.0, 4.3])


def test_whitened_by_tokens_a_long_sample_counts_as_often_as_it_has_tokens() -> None:
    # 3 tokens of reward 1, 1 token of reward 0: mean 0.75, deviation √(3/16).
    spec = ReinforcePlusPlusAdvantage(epsilon=0.0)
    found = by_hand(spec, [1], [0], lengths=tensor([3], [1]))
    assert [row[0] for row in found] == pytest.approx([0.25 / (3 / 16) ** 0.5, -0.75 / (3 / 16) ** 0.5])


def test_vcpo_on_policy_is_opo() -> None:
    rewards, lengths = tensor([3, 1, 4], [1, 5, 9]), tensor([2, 6, 5], [3, 5, 8])
    inputs = Inputs(lengths=lengths, importance=torch.ones_like(rewards))
    found = advantages.compute(VCPOAdvantage(), rewards, everybody(rewards), inputs)
    torch.testing.assert_close(found, advantages.compute(OPOAdvantage(), rewards, everybody(rewards), inputs))


def test_vcpo_with_no_weight_known_does_not_leak_raw_rewards() -> None:
    zeros = tensor([0, 0])
    assert by_hand(VCPOAdvantage(), [1, 0], lengths=tensor([3, 3]), importance=zeros) == [[0, 0]]


def test_the_pivot_is_one_sample_with_the_median() -> None:
    rewards = tensor([0, 0, 0, 1, 1], [5, 1, 3, 2, 4], [2, 2, 2, 2, 2])
    mask = everybody(rewards)
    assert pivots(rewards, mask).tolist() == [
        [True, False, False, False, False],
        [False, False, True, False, False],
        [False] * 5,
    ]
    # Two failed rewards leave three; one more leaves two, of which the lower is the pivot.
    mask[1] = torch.tensor([True, True, False, True, False])
    assert pivots(rewards, mask)[1].tolist() == [False, False, False, True, False]
    mask[1, 3] = False
    assert pivots(rewards, mask)[1].tolist() == [False, True, False, False, False]


def test_the_median_absolute_deviation_of_zeros_and_ones_is_zero() -> None:
    # The published code divides by it all the same; the default scale does not.
    assert by_hand(MCGRPOAdvantage(scale="mad", epsilon=1e-3), [1, 0, 0])[0] == pytest.approx([1000, 0, 0])
    assert by_hand(MCGRPOAdvantage(), [1, 0, 0])[0][0] == pytest.approx(1 / (3**-0.5 + 1e-3))


GROUP_METHODS: list[Advantage] = [
    GRPOAdvantage(),
    GRPOAdvantage(whiten="batch"),
    DrGRPOAdvantage(whiten="batch"),
    RLOOAdvantage(),
    MCGRPOAdvantage(),
    MCGRPOAdvantage(scale="mad", whiten="batch"),
    MaxRLAdvantage(),
    OPOAdvantage(whiten="batch"),
    PassKAdvantage(k=1),
    PassKAdvantage(k=2, whiten="batch"),
    VCPOAdvantage(),
    VCPOAdvantage(whiten="batch"),
]


@pytest.mark.parametrize("spec", GROUP_METHODS, ids=lambda spec: spec.type)
def test_without_a_signal_the_advantage_is_exactly_zero(spec: Advantage) -> None:
    # Equal rewards whose mean is not one of them; a group of one; nobody; and one group that does carry a signal.
    rewards = tensor([0.1, 0.1, 0.1], [5, 7, 9], [1, 2, 3], [4, 0, 0])
    mask = everybody(rewards)
    mask[1] = torch.tensor([False, True, False])
    mask[2] = False
    found = advantages.compute(spec, rewards, mask)
    assert found[:3].abs().max() == 0.0
    assert found[3].abs().max() > 0.0


@pytest.mark.parametrize("spec", BATCH, ids=lambda spec: spec.type)
def test_an_even_batch_has_no_advantage(spec: Advantage) -> None:
    rewards = tensor([0.1, 0.1, 0.1], [0.1, 0.1, 0.1])
    assert advantages.compute(spec, rewards, everybody(rewards)).abs().max() == 0.0
    alone = torch.zeros_like(rewards, dtype=torch.bool)
    alone[0, 0] = True
    assert advantages.compute(spec, rewards, alone).abs().max() == 0.0
    assert advantages.compute(spec, rewards, torch.zeros_like(alone)).abs().max() == 0.0


@pytest.mark.parametrize("spec", [*GROUP_METHODS, *BATCH], ids=lambda spec: spec.type)
def test_the_order_of_samples_and_groups_does_not_matter(spec: Advantage) -> None:
    generator = torch.Generator().manual_seed(2)
    rewards = torch.randn(6, 5, generator=generator, dtype=torch.float64).round(decimals=1)
    mask = torch.rand(6, 5, generator=generator) < 0.8
    lengths = torch.randint(1, 9, (6, 5), generator=generator).double()
    groups, samples = torch.randperm(6, generator=generator), torch.randperm(5, generator=generator)

    def shuffled(values: Tensor) -> Tensor:
        return values[groups][:, samples]

    found = advantages.compute(spec, rewards, mask, Inputs(lengths=lengths, importance=lengths / 4))
    moved = Inputs(lengths=shuffled(lengths), importance=shuffled(lengths) / 4)
    again = advantages.compute(spec, shuffled(rewards), shuffled(mask), moved)
    torch.testing.assert_close(again, shuffled(found), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("spec", [*GROUP_METHODS, *BATCH], ids=lambda spec: spec.type)
def test_padding_changes_nothing(spec: Advantage) -> None:
    generator = torch.Generator().manual_seed(3)
    rewards = torch.randn(5, 4, generator=generator, dtype=torch.float64)
    lengths = torch.randint(1, 9, (5, 4), generator=generator).double()
    plain = advantages.compute(spec, rewards, everybody(rewards), Inputs(lengths=lengths, importance=lengths / 4))

    def padded(values: Tensor, filling: float) -> Tensor:
        wide = torch.full((7, 6), filling, dtype=torch.float64)
        wide[:5, :4] = values
        return wide

    mask = padded(torch.ones(5, 4), 0.0).bool()
    inputs = Inputs(lengths=padded(lengths, 99.0), importance=padded(lengths / 4, 99.0))
    wide = advantages.compute(spec, padded(rewards, float("nan")), mask, inputs)
    torch.testing.assert_close(wide[:5, :4], plain, rtol=1e-12, atol=1e-12)
    assert wide[5:].abs().max() == 0.0 and wide[:, 4:].abs().max() == 0.0
