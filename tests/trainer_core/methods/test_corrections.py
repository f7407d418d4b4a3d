"""Truncated importance sampling against numpy, and by hand."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from trainer_core.methods import corrections
from trainer_core.methods.view import TokenView
from trainer_core.spec.corrections import TruncatedImportanceSampling

SEQUENCE = torch.tensor([0, 0, 0, 1, 1, 2])
EVERY = torch.ones(6, dtype=torch.bool)


def view(old: Tensor, behaviour: Tensor, mask: Tensor, sequence: Tensor) -> TokenView:
    """Tokens before the step's first update."""
    return TokenView(old, old, behaviour, torch.ones_like(old), mask, sequence)


def weights(level: str, ratios: list[float], mask: Tensor = EVERY, ratio_max: float = 2.0) -> tuple[Tensor, dict]:
    behaviour = torch.full((6,), -1.0, dtype=torch.float64)
    old = behaviour + torch.tensor(ratios, dtype=torch.float64).log()
    spec = TruncatedImportanceSampling(level=level, ratio_max=ratio_max)
    return corrections.token_weights(spec, view(old, behaviour, mask, SEQUENCE))


def test_token_level_truncates_above_and_only_above() -> None:
    found, metrics = weights("token", [0.1, 1.0, 1.9, 2.0, 2.1, 50.0])
    np.testing.assert_allclose(found, [0.1, 1.0, 1.9, 2.0, 2.0, 2.0])
    assert metrics["rollout_corr/rollout_is_truncated_share"] == pytest.approx(2 / 6)


def test_sequence_level_truncates_the_product_once() -> None:
    # 4 · 0.25 · 1.5 = 1.5 stays although one factor is above the bound; 3 · 3 = 9 is cut.
    found, metrics = weights("sequence", [4.0, 0.25, 1.5, 3.0, 3.0, 0.5])
    np.testing.assert_allclose(found, [1.5, 1.5, 1.5, 2.0, 2.0, 0.5])
    assert metrics["rollout_corr/rollout_is_truncated_share"] == pytest.approx(2 / 6)


@pytest.mark.parametrize("level", ["token", "sequence"])
def test_tokens_outside_the_mask_weigh_one_and_take_no_part(level: str) -> None:
    mask = torch.tensor([True, False, True, True, True, False])
    found, _ = weights(level, [1.2, float("nan"), 0.5, 1.1, 1.0, 9.0], mask)
    expected = [1.2, 1.0, 0.5, 1.1, 1.0, 1.0] if level == "token" else [0.6, 1.0, 0.6, 1.1, 1.1, 1.0]
    np.testing.assert_allclose(found, expected)


def test_agrees_with_numpy() -> None:
    generator = np.random.default_rng(1)
    old, behaviour = generator.normal(-1, 0.5, 50), generator.normal(-1, 0.5, 50)
    sequence, mask = np.sort(generator.integers(0, 8, 50)), generator.random(50) < 0.8
    tensors = [torch.from_numpy(value) for value in (old, behaviour, mask, sequence)]
    token, _ = corrections.token_weights(TruncatedImportanceSampling(ratio_max=1.5), view(*tensors))
    np.testing.assert_allclose(token[mask], np.minimum(np.exp(old - behaviour), 1.5)[mask], rtol=1e-12)
    product, _ = corrections.token_weights(TruncatedImportanceSampling(level="sequence", ratio_max=1.5), view(*tensors))
    for index in np.unique(sequence):
        here = (sequence == index) & mask
        expected = min(math.exp((old - behaviour)[here].sum()), 1.5)
        np.testing.assert_allclose(product[here], expected, rtol=1e-12)


def test_weights_carry_no_gradient() -> None:
    old = torch.zeros(2, requires_grad=True)
    found, _ = corrections.token_weights(
        TruncatedImportanceSampling(),
        view(old, torch.zeros(2), torch.ones(2, dtype=torch.bool), torch.tensor([0, 0])),
    )
    assert not found.requires_grad


def test_same_policy_weighs_exactly_one() -> None:
    assert weights("token", [1.0] * 6)[0].tolist() == [1.0] * 6
    assert weights("sequence", [1.0] * 6)[0].tolist() == [1.0] * 6


def test_a_long_sequence_neither_overflows_nor_fails() -> None:
    for sign, expected in ((1.0, 2.0), (-1.0, 0.0)):
        old = torch.full((4000,), sign, dtype=torch.float32)
        found, _ = corrections.token_weights(
            TruncatedImportanceSampling(level="sequence"),
            view(
                old,
                torch.zeros(4000),
                torch.ones(4000, dtype=torch.bool),
                torch.zeros(4000, dtype=torch.int64),
            ),
        )
        assert found[0].item() == expected


def test_an_empty_microbatch_is_accepted() -> None:
    empty = torch.zeros(0)
    for level in ("token", "sequence"):
        spec = TruncatedImportanceSampling(level=level)
        found, metrics = corrections.token_weights(spec, view(empty, empty, empty.bool(), empty.long()))
        assert len(found) == 0 and metrics["rollout_corr/rollout_is_truncated_share"] == 0.0
