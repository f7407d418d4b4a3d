"""A-3PO's interpolated proximal policy."""

import torch

from trainer_core.methods.corrections.proximal import interpolated_proximal


def test_by_hand() -> None:
    now = torch.tensor([-1.0, -1.0, -1.0, -1.0, -1.0], dtype=torch.float64, requires_grad=True)
    behaviour = torch.tensor([-3.0, -3.0, -3.0, -3.0, -3.0], dtype=torch.float64)
    found = interpolated_proximal(now, behaviour, torch.tensor([-1, 0, 1, 2, 4]))
    # Fresh: the current policy. One version old: the behaviour policy. Older: nearer to the current one again.
    assert found.tolist() == [-1.0, -1.0, -3.0, -2.0, -1.5]
    assert not found.requires_grad


def test_it_is_the_interpolation_over_versions() -> None:
    """AReaL's form: the policy one version before the current one lies (d − 1) / d of the way from the sampler's."""
    generator = torch.Generator().manual_seed(0)
    now, behaviour = (torch.randn(50, generator=generator, dtype=torch.float64) for _ in range(2))
    staleness = torch.randint(1, 9, (50,), generator=generator)
    expected = [
        b + (n - b) * ((5 - 1) - (5 - d)) / (5 - (5 - d))
        for n, b, d in zip(now.tolist(), behaviour.tolist(), staleness.tolist(), strict=True)
    ]
    torch.testing.assert_close(
        interpolated_proximal(now, behaviour, staleness), torch.tensor(expected, dtype=torch.float64)
    )


def test_fresh_tokens_keep_their_last_digit() -> None:
    now = torch.randn(100, generator=torch.Generator().manual_seed(1))
    found = interpolated_proximal(now, torch.full((100,), -float("inf")), torch.zeros(100, dtype=torch.int64))
    assert found.tolist() == now.tolist()
