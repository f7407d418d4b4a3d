"""GAE and the value loss against direct transcriptions in float64."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from trainer_core.methods.gae import gae, length_adaptive_lambda
from trainer_core.methods.value_loss import value_loss


def written_out(rewards: list[float], values: list[float], gamma: float, lam: float) -> list[float]:
    """Eq. 16 as the double sum it is: O(T²)."""
    length = len(rewards)
    after = [*values[1:], 0.0]
    delta = [rewards[t] + gamma * after[t] - values[t] for t in range(length)]
    return [sum((gamma * lam) ** (k - t) * delta[k] for k in range(t, length)) for t in range(length)]


@settings(max_examples=60, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 9), min_size=0, max_size=5),
    gamma=st.floats(0.1, 1.0),
    lam=st.floats(0.0, 1.0),
    seed=st.integers(0, 2**16),
)
def test_every_sequence_has_the_double_sum(lengths: list[int], gamma: float, lam: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rewards, values = rng.normal(size=(2, sum(lengths)))
    # Numbers of sequences need be neither dense nor sorted.
    sequence = np.repeat([7 - index for index in range(len(lengths))], lengths).astype(np.int64)
    found = gae(torch.tensor(rewards), torch.tensor(values), torch.tensor(sequence), gamma, lam)
    expected, start = [], 0
    for length in lengths:
        part = slice(start, start + length)
        expected += written_out(rewards[part].tolist(), values[part].tolist(), gamma, lam)
        start += length
    assert found.dtype == torch.float64
    assert found.tolist() == pytest.approx(expected, rel=1e-12, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=5),
    gamma=st.floats(0.1, 1.0),
    lam=st.floats(0.0, 1.0),
    seed=st.integers(0, 2**16),
)
def test_a_cut_sequence_goes_on_with_its_bootstrap(lengths: list[int], gamma: float, lam: float, seed: int) -> None:
    """The same as one more step, whose value is the bootstrap and behind which nothing comes."""
    rng = np.random.default_rng(seed)
    rewards, values = rng.normal(size=(2, sum(lengths)))
    after = rng.normal(size=len(lengths))
    sequence = np.repeat(np.arange(len(lengths)), lengths)
    given_to = [torch.tensor(one) for one in (rewards, values, sequence)]
    found = gae(*given_to, gamma, lam, torch.tensor(after))
    expected, start = [], 0
    for index, length in enumerate(lengths):
        part = slice(start, start + length)
        following = [*values[part][1:], after[index]]
        delta = [r + gamma * n - v for r, n, v in zip(rewards[part], following, values[part], strict=True)]
        expected += [sum((gamma * lam) ** (k - t) * delta[k] for k in range(t, length)) for t in range(length)]
        start += length
    assert found.tolist() == pytest.approx(expected, rel=1e-11, abs=1e-11)
    assert gae(*given_to, gamma, lam).tolist() == gae(*given_to, gamma, lam, torch.zeros(len(lengths))).tolist()


def test_at_lambda_one_advantage_and_value_make_the_return() -> None:
    rewards = torch.tensor([0.0, 0.0, 2.0, 1.0])
    values = torch.tensor([0.3, -0.2, 0.9, 5.0])
    sequence = torch.tensor([0, 0, 0, 1])
    returns = gae(rewards, values, sequence, 0.5, 1.0) + values.double()
    assert returns.tolist() == pytest.approx([0.5, 1.0, 2.0, 1.0])


def test_the_length_adaptive_lambda_is_vapos() -> None:
    sequence = torch.tensor([4] * 40 + [1] * 100 + [9] * 10)
    lam = length_adaptive_lambda(0.05, sequence)
    assert lam[:40].tolist() == pytest.approx([0.5] * 40)
    assert lam[40:140].tolist() == pytest.approx([0.8] * 100)
    # α·l = ½ would make λ negative.
    assert lam[140:].tolist() == [0.0] * 10
    values = torch.linspace(-1, 1, 150)
    rewards = torch.linspace(0, 1, 150)
    found = gae(rewards, values, sequence, 0.99, lam)
    expected = written_out(rewards[40:140].tolist(), values[40:140].tolist(), 0.99, 0.8)
    assert found[40:140].tolist() == pytest.approx(expected, rel=1e-6)


def test_advantages_carry_no_gradient() -> None:
    values = torch.ones(3, requires_grad=True)
    assert not gae(torch.ones(3), values, torch.zeros(3, dtype=torch.long), 1.0, 0.9).requires_grad


@pytest.mark.parametrize(
    ("value", "old", "target", "loss", "slope", "clipped"),
    [
        (1.1, 1.0, 2.0, 0.405, -0.9, False),
        # Beyond the band and towards the target: the clipped error is larger and constant.
        (1.5, 1.0, 2.0, 0.32, 0.0, True),
        # Beyond the band and away from it: the free error is larger.
        (0.5, 1.0, 2.0, 1.125, -1.5, False),
        (3.0, 1.0, 2.0, 0.5, 1.0, False),
    ],
)
def test_value_loss_by_hand(value: float, old: float, target: float, loss: float, slope: float, clipped: bool) -> None:
    values = torch.tensor([value], dtype=torch.float64, requires_grad=True)
    found, cut = value_loss(values, torch.tensor([old]).double(), torch.tensor([target]).double(), 0.2)
    found.sum().backward()
    assert found.item() == pytest.approx(loss)
    assert values.grad is not None and values.grad.item() == pytest.approx(slope)
    assert cut.item() is clipped
    free, cut = value_loss(values, torch.tensor([old]).double(), torch.tensor([target]).double(), None)
    assert free.item() == pytest.approx((value - target) ** 2 / 2)
    assert not cut.item() and not math.isnan(free.item())
