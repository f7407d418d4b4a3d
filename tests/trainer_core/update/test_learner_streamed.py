"""A streamed step is the whole step: the same weights and metrics, in any number of pieces and any order."""

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.about import LEARNING
from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.episodes import Group
from trainer_core.update.learner import Learner, NonFiniteUpdate
from trainer_core.update.streaming import CannotStream, refusal

SMOOTH = {"learning_rate": 1e-3, "epsilon": 1e-3}


def largest_change(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> float:
    return max(float(np.abs(one[name] - other[name]).max()) for name in one)


def stream(learner: Learner, groups: list[Group], pieces: int, spec: Any, step: int) -> dict[str, float]:
    learner.begin(spec, step)
    edges = [round(index * len(groups) / pieces) for index in range(pieces + 1)]
    for start, stop in pairwise(edges):
        learner.accumulate(groups[start:stop])
    return learner.finish()


@pytest.mark.expensive(6, "builds a learner and steps it", about=LEARNING)
@pytest.mark.parametrize(
    ("aggregation", "stage"),
    [({"type": "token_mean"}, 0), ({"type": "sequence_mean"}, 0), ({"type": "constant", "divisor": 40}, 2)],
)
def test_pieces_in_any_order_make_the_update_of_the_whole(policy_dir: Path, aggregation: Any, stage: int) -> None:
    spec = make_spec(
        aggregation=aggregation,
        optimizer=SMOOTH,
        kl={"coefficient": 0.1},
        parallelism={"zero_stage": stage, "max_tokens_per_microbatch": 256},
    )
    whole = Learner(policy_dir, spec)
    expected = [whole.update(make_groups(step, groups=8), spec, step) for step in (1, 2)]
    for pieces, backwards in ((1, False), (3, True), (8, False), (8, True)):
        learner = Learner(policy_dir, spec)
        for step in (1, 2):
            groups = make_groups(step, groups=8)
            metrics = stream(learner, groups[::-1] if backwards else groups, pieces, spec, step)
            assert metrics == pytest.approx(expected[step - 1], rel=1e-4, abs=1e-6)
            assert metrics.keys() == expected[step - 1].keys()
        assert learner.version == 2
        assert largest_change(whole.weights(), learner.weights()) < 1e-6


def test_excluded_pieces_and_an_empty_step(policy_dir: Path) -> None:
    spec = make_spec(optimizer=SMOOTH)
    one, other = Learner(policy_dir, spec), Learner(policy_dir, spec)
    groups = make_groups(1)
    for trajectory in groups[1].trajectories:
        trajectory.excluded = "zero_advantage"
    assert one.update(groups, spec, 1) == pytest.approx(stream(other, groups, 4, spec, 1), rel=1e-4, abs=1e-6)
    assert largest_change(one.weights(), other.weights()) < 1e-6
    before = one.weights()
    one.begin(spec, 2)
    one.accumulate([groups[1]])
    assert one.finish() == {"actor/lr": 1e-3}
    assert one.version == 1
    assert largest_change(before, one.weights()) == 0.0


@pytest.mark.expensive(6, "builds a learner and steps it", about=LEARNING)
@pytest.mark.parametrize("stage", [0, 2, 3])
def test_an_unfinished_step_leaves_no_trace(policy_dir: Path, tmp_path: Path, stage: int) -> None:
    spec = make_spec(parallelism={"zero_stage": stage}, optimizer=SMOOTH)
    learner, counterpart = Learner(policy_dir, spec), Learner(policy_dir, spec)
    learner.update(make_groups(1), spec, 1)
    counterpart.update(make_groups(1), spec, 1)
    learner.begin(spec, 2)
    learner.accumulate(make_groups(7))
    learner.begin(spec, 2)
    learner.accumulate(make_groups(2))
    counterpart.begin(spec, 2)
    counterpart.accumulate(make_groups(2))
    assert learner.finish() == counterpart.finish()
    assert largest_change(learner.weights(), counterpart.weights()) == 0.0
    learner.save(tmp_path / "c")
    learner.begin(spec, 3)
    learner.accumulate(make_groups(3))
    learner.load(tmp_path / "c")
    assert learner.update(make_groups(4), spec, 3) == counterpart.update(make_groups(4), spec, 3)
    assert largest_change(learner.weights(), counterpart.weights()) == 0.0


@pytest.mark.parametrize("stage", [0, 2])
def test_a_broken_piece_refuses_the_step_and_changes_nothing(policy_dir: Path, stage: int) -> None:
    spec = make_spec(parallelism={"zero_stage": stage})
    learner = Learner(policy_dir, spec)
    before, broken = learner.weights(), make_groups(1)
    broken[0].trajectories[0].earn(math.nan)
    learner.begin(spec, 1)
    learner.accumulate(broken)
    learner.accumulate(make_groups(2))
    with pytest.raises(NonFiniteUpdate, match="step 1: the loss or its gradient is not finite"):
        learner.finish()
    assert largest_change(before, learner.weights()) == 0.0
    assert learner.version == 0
    with pytest.raises(RuntimeError, match="no step is open"):
        learner.finish()


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"schedule": {"steps": 10, "prompts_per_step": 4, "updates_per_step": 2}}, "2 updates per step cannot"),
        ({"aggregation": {"type": "prompt_mean"}}, "the aggregation prompt_mean cannot be streamed"),
        ({"aggregation": {"type": "sample_and_token"}}, "the aggregation sample_and_token cannot be streamed"),
    ],
)
def test_what_cannot_be_streamed_is_refused(policy_dir: Path, parts: dict[str, Any], reason: str) -> None:
    with pytest.raises(CannotStream, match=reason):
        Learner(policy_dir, make_spec()).begin(make_spec(**parts), 1)
    assert refusal(make_spec()) is None
