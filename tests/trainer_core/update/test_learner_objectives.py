"""Every loss, correction and aggregation through the learner itself: two updates, so that the ratio leaves 1."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.metrics import find
from trainer_core.update.learner import Learner

WEIGHTED = [{"type": "truncated_is", "level": "sequence"}]
OBJECTIVES: list[dict[str, Any]] = [
    {"loss": {"type": "cispo"}, "corrections": [{"type": "icepop"}, {"type": "opsm"}]},
    {"loss": {"type": "gspo"}, "corrections": WEIGHTED, "aggregation": {"type": "sequence_mean"}},
    {"loss": {"type": "gspo", "level": "token"}, "corrections": [{"type": "masked_is"}]},
    {"loss": {"type": "sapo"}, "aggregation": {"type": "prompt_mean"}},
    {"loss": {"type": "dppo", "divergence": "kl"}, "corrections": []},
    {"loss": {"type": "decoupled_ppo"}, "corrections": [], "aggregation": {"type": "constant"}},
    {"loss": {"type": "minpro"}, "corrections": [{"type": "opsm"}]},
    {"loss": {"type": "vespo"}, "corrections": []},
    {"loss": {"type": "sequence_mask", "divergence_max": 5.0}, "corrections": []},
    {"loss": {"type": "kl_penalised"}, "aggregation": {"type": "sample_and_token"}},
    {"loss": {"type": "reinforce"}, "kl": {"coefficient": 0.1, "estimator": "absolute"}},
]


@pytest.mark.parametrize("parts", OBJECTIVES, ids=lambda parts: parts["loss"]["type"])
def test_the_learner_learns_under_it(policy_dir: Path, parts: dict[str, Any]) -> None:
    spec = make_spec(schedule={"steps": 10, "prompts_per_step": 4, "updates_per_step": 2}, **parts)
    learner = Learner(policy_dir, spec)
    before = learner.weights()
    metrics = learner.update(make_groups(1), spec, 1)
    assert all(find(name) is not None and math.isfinite(value) for name, value in metrics.items()), metrics
    assert metrics["actor/grad_norm"] > 0.0 and metrics["actor/ppo_kl"] != 0.0
    assert max(float(np.abs(before[name] - after).max()) for name, after in learner.weights().items()) > 0.0
