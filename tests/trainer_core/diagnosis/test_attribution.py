"""Causes told apart: sums by hand, and each cause alone is found alone."""

import math

import numpy as np
import pytest
import torch

from tests.trainer_core.batches import trajectory
from trainer_core.diagnosis import RescoredTokens, attribute
from trainer_core.diagnosis.truncation import log_kept_mass

CAUSES = ("numerics", "staleness", "truncation", "template", "unexplained")


def rescored(length: int, **parts: list[float]) -> RescoredTokens:
    columns = {
        name: np.array(parts.get(name, [0.0] * length)) for name in ("engine", "learner", "log_kept", "template")
    }
    return RescoredTokens(**columns)


def test_causes_by_hand() -> None:
    # Token 0 is fresh: 0.5 = 0.1 (numerics) + 0.3 (truncation) + 0.1 (nobody knows).
    # Token 1 is old: −1.0 = 0.2 (numerics) + 0.0 − 0.4 (template) − 0.8 (staleness).
    one = trajectory(
        length=3,
        trajectory_id="a",
        behaviour_logprobs=np.array([-1.0, -2.0, 0.0]),
        learner_logprobs=np.array([-1.5, -1.0, 99.0]),
        versions=np.array([4, 2, 4]),
        sampled=np.array([True, True, False]),
    )
    side = rescored(
        3, engine=[-1.3, -0.9, 0.0], learner=[-1.4, -1.1, 0.0], log_kept=[-0.3, 0.0, 0.0], template=[0.0, -0.4, 0.0]
    )
    found = attribute([one, trajectory(trajectory_id="never rescored")], {"a": side}, 4)
    assert found is not None
    assert (found.tokens, found.fresh_tokens) == (2, 1)
    assert found.total_mean == pytest.approx((0.5 - 1.0) / 2)
    assert found.numerics.mean == pytest.approx((0.1 + 0.2) / 2)
    assert found.truncation.mean == pytest.approx(0.3 / 2)
    assert found.template.mean == pytest.approx(-0.4 / 2)
    assert found.staleness.mean == pytest.approx(-0.8 / 2)
    assert found.unexplained.mean == pytest.approx(0.1 / 2)
    assert found.numerics.mean_abs == pytest.approx(0.15)
    assert found.staleness.share == pytest.approx(0.8 / (0.3 + 0.3 + 0.4 + 0.8 + 0.1))
    assert sum(getattr(found, name).mean for name in CAUSES) == pytest.approx(found.total_mean)
    assert sum(getattr(found, name).share for name in CAUSES) == pytest.approx(1.0)


def test_equal_sides_have_no_cause() -> None:
    one = trajectory(length=2, learner_logprobs=np.full(2, -1.0, np.float32))
    found = attribute([one], {"t": rescored(2)}, 0)
    assert found is not None
    assert all(getattr(found, name).mean_abs == getattr(found, name).share == 0.0 for name in CAUSES)
    assert attribute([one], {}, 0) is None
    assert attribute([trajectory()], {"t": rescored(4)}, 0) is None


def test_kept_mass_by_hand() -> None:
    logits = torch.log(torch.tensor([[0.5, 0.3, 0.15, 0.05]], dtype=torch.float64))
    for options, mass in (
        ({}, 1.0),
        ({"top_k": 2}, 0.8),
        ({"top_p": 0.5}, 0.5),  # reached by the first token alone
        ({"top_p": 0.6}, 0.8),
        ({"top_p": 1e-9}, 0.5),
        ({"top_k": 3, "top_p": 0.9}, 0.95),  # 0.8 / 0.95 < 0.9: all three stay
        ({"top_k": 2, "top_p": 0.6}, 0.5),  # 0.5 / 0.8 ≥ 0.6: only the first
        ({"top_k": 99}, 1.0),
    ):
        kept = log_kept_mass(logits, temperature=1.0, **options)  # type: ignore[arg-type]
        assert kept.dtype == torch.float64
        assert kept.item() == pytest.approx(math.log(mass), abs=1e-12), options


def test_the_temperature_comes_before_the_truncation() -> None:
    logits = torch.tensor([[2.0, 0.0]])
    assert log_kept_mass(logits, temperature=2.0, top_k=1).exp().item() == pytest.approx(math.e / (math.e + 1))
