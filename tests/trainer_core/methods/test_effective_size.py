"""The effective sample size of raw weights, and the step size after it."""

import math

import numpy as np
import pytest
import torch

from trainer_core.methods.effective_size import effective_share, rate_factor


def test_the_share_is_the_papers_quotient() -> None:
    weights = np.array([0.1, 2.0, 0.7, 5.0])
    expected = weights.sum() ** 2 / (weights**2).sum() / 4
    assert effective_share(torch.tensor(np.log(weights))) == pytest.approx(expected, rel=1e-12)
    assert effective_share(torch.tensor([3.0] * 7)) == pytest.approx(1.0)
    # Weights whose squares no float64 could hold.
    assert effective_share(torch.tensor([800.0, 0.0])) == pytest.approx(0.5)
    assert effective_share(torch.tensor([])) == 1.0


def test_the_step_size_never_grows() -> None:
    assert rate_factor("none", 0.1, 1.0) == 1.0
    assert rate_factor("sqrt", 0.25, 1.0) == 0.5
    assert rate_factor("linear", 0.25, 1.0) == 0.25
    assert rate_factor("sqrt", 0.25, 0.5) == pytest.approx(math.sqrt(0.5))
    assert rate_factor("linear", 0.9, 0.5) == 1.0
