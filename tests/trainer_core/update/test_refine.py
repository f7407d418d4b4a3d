"""Advantages that need the learner's view: what they change in an update, whatever the cut."""

import copy
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.episodes import Group, Verdict
from trainer_core.methods.advantages.assign import assign
from trainer_core.spec import RunSpec
from trainer_core.update.learner import Learner
from trainer_core.update.objective import refine
from trainer_core.update.objective.policy_objective import denominators
from trainer_core.update.packed.packing import pack
from trainer_core.update.streaming import refusal

Start = Callable[..., Learner]
SMOOTH = {"learning_rate": 1e-3, "epsilon": 1e-3}


@pytest.fixture
def start(policy_dir: Path) -> Start:
    return lambda spec, **options: Learner(policy_dir, spec, **options)


def scored(seed: int) -> list[Group]:
    """Groups as they are after the first scoring."""
    groups, rng = make_groups(seed), np.random.default_rng(seed)
    for trajectory in (t for group in groups for t in group.trajectories):
        trajectory.verdict = Verdict(float(rng.integers(0, 2)))
        trajectory.learner_logprobs = (trajectory.behaviour_logprobs + rng.normal(0, 0.1, trajectory.length)).astype(
            "f4"
        )
        trajectory.entropy = rng.random(trajectory.length).astype("f4")
    return groups


def refined(spec: RunSpec, groups: list[Group], budget: int = 16_384) -> dict[tuple[int, int], float]:
    """Advantage of each sampled token: (trajectory, offset) → value."""
    mine = [t for group in groups for t in group.trajectories]
    plan = [(mine, pack(mine, budget), denominators(mine))]
    [(_, batches, _)] = refine.refine(plan, groups, spec)
    return {
        (s, o): a
        for batch in batches
        for s, o, a in zip(batch.sequence.tolist(), batch.offset.tolist(), batch.advantages.tolist(), strict=True)
    }


def test_high_entropy_tokens_keep_their_advantage_and_the_others_have_none() -> None:
    groups = scored(1)
    mine = [t for group in groups for t in group.trajectories]
    every = np.concatenate([t.entropy[t.sampled] for t in mine])
    threshold = np.sort(every)[::-1][round(0.2 * len(every)) - 1]
    spec = make_spec(filters=[{"type": "high_entropy", "share": 0.2}])
    for (index, offset), value in refined(spec, groups, 128).items():
        chosen = mine[index].entropy[offset] >= threshold
        assert value == pytest.approx(mine[index].advantage if chosen else 0.0)


def test_mastered_tokens_of_right_answers_rest() -> None:
    groups = scored(2)
    mine = [t for group in groups for t in group.trajectories]
    spec = make_spec(filters=[{"type": "mastered_tokens", "probability": 0.015, "target_entropy": 0.9}])
    found = refined(spec, groups)
    rests = {k for k, value in found.items() if value == 0.0}
    assert 0 < len(rests) < len(found)
    for index, offset in found:
        mastered = mine[index].reward == 1.0 and math.exp(mine[index].learner_logprobs[offset]) >= 0.015
        assert ((index, offset) in rests) == mastered


def test_the_off_policy_baseline_weighs_by_the_learners_ratio() -> None:
    groups = scored(3)
    spec = make_spec(advantage={"type": "vcpo", "ratio_max": 5.0})
    mine = [t for group in groups for t in group.trajectories]
    found = refined(spec, groups)
    for g, group in enumerate(groups):
        ratios = [
            math.exp(float((t.learner_logprobs - t.behaviour_logprobs)[t.sampled].sum())) for t in group.trajectories
        ]
        weights = np.array(
            [min(w, 5.0) ** 2 * t.sampled.sum() for w, t in zip(ratios, group.trajectories, strict=True)]
        )
        rewards = np.array([t.reward for t in group.trajectories])
        silent = rewards.max() == rewards.min()
        for s, t in enumerate(group.trajectories):
            expected = 0.0 if silent else rewards[s] - (weights * rewards).sum() / weights.sum()
            assert t.advantage == pytest.approx(expected, abs=1e-6)
            assert found[(4 * g + s, int(np.flatnonzero(t.sampled)[0]))] == pytest.approx(expected, abs=1e-6)
    assert mine[0].excluded is None


def test_on_policy_nothing_changes(start: Start) -> None:
    """Every token kept, and samples of the learner itself: the update is the plain one."""
    plain = make_spec(optimizer=SMOOTH)
    kept = make_spec(optimizer=SMOOTH, filters=[{"type": "high_entropy", "share": 1.0}])
    results = []
    for spec in (plain, kept):
        learner = start(spec)
        metrics = learner.update(make_groups(1), spec, 1)
        results.append((learner.weights(), metrics))
    (one, first), (other, second) = results
    assert max(float(np.abs(one[name] - other[name]).max()) for name in one) < 1e-6
    assert first["actor/entropy"] == pytest.approx(second["actor/entropy"], rel=1e-5)


@pytest.mark.parametrize("part", [{"filters": [{"type": "high_entropy"}]}, {"advantage": {"type": "vcpo"}}])
def test_the_cut_into_micro_batches_does_not_matter(start: Start, part: dict) -> None:
    results = []
    for budget in (128, 16_384):
        spec = make_spec(**part, parallelism={"max_tokens_per_microbatch": budget}, optimizer=SMOOTH)
        learner, groups = start(spec), scored(4)
        assign(spec.advantage, groups)
        learner.update(copy.deepcopy(groups), spec, 1)
        results.append(learner.weights())
    small, large = results
    assert max(float(np.abs(small[name] - large[name]).max()) for name in small) < 1e-6


def test_a_batch_that_only_keeps_ranks_in_step_is_left_alone() -> None:
    groups = scored(5)
    mine = [t for group in groups for t in group.trajectories]
    idle = pack(mine[:1], 16_384)[0].without_loss()
    spec = make_spec(filters=[{"type": "high_entropy"}], advantage={"type": "vcpo"})
    [(_, batches, _)] = refine.refine([(mine, [*pack(mine, 16_384), idle], denominators(mine))], groups, spec)
    assert torch.equal(batches[-1].advantages, idle.advantages)


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        ({"advantage": {"type": "grpo", "whiten": "batch"}}, "whole batch"),
        ({"advantage": {"type": "gdpo"}}, "whole batch"),
        ({"advantage": {"type": "vcpo"}}, "scores"),
        ({"filters": [{"type": "mastered_tokens"}]}, "scores"),
        ({"filters": [{"type": "recomposition"}]}, "compares across the whole step"),
        ({"advantage": {"type": "rloo"}}, None),
    ],
)
def test_what_needs_the_whole_step_is_not_streamed(part: dict, reason: str | None) -> None:
    found = refusal(make_spec(**part))
    assert found is None if reason is None else found is not None and reason in found
