"""The learner's update: independent of how it is cut, exact after a resume, whole or not at all."""

import copy
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch.distributed as dist
from transformers import AutoModelForCausalLM

from tests.support.about import LEARNING
from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.episodes import Group
from trainer_core.spec import RunSpec
from trainer_core.update.learner import Learner, NonFiniteUpdate, TornLearner

Start = Callable[..., Learner]


@pytest.fixture
def start(policy_dir: Path) -> Start:
    return lambda spec=None, **options: Learner(policy_dir, spec or make_spec(), **options)


def run(learner: Learner, spec: RunSpec, steps: range) -> list[dict[str, float]]:
    return [learner.update(make_groups(step), spec, step) for step in steps]


def largest_change(before: dict[str, np.ndarray], after: dict[str, np.ndarray]) -> float:
    return max(float(np.abs(before[name] - after[name]).max()) for name in before)


# With Adam's usual epsilon the first updates are signs of gradients, and rounding decides the sign of those near zero.
SMOOTH = {"learning_rate": 1e-3, "epsilon": 1e-3}


@pytest.mark.parametrize(
    "cut", [{"max_tokens_per_microbatch": 128}, {"share_prompts": False}, {"batch_invariant": True}]
)
@pytest.mark.parametrize("aggregation", ["token_mean", "sequence_mean"])
def test_the_cut_into_micro_batches_does_not_matter(start: Start, aggregation: str, cut: dict[str, int]) -> None:
    results = []
    for parallelism in (cut, {"max_tokens_per_microbatch": 16_384}):
        spec = make_spec(aggregation={"type": aggregation}, parallelism=parallelism, optimizer=SMOOTH)
        learner = start(spec)
        metrics = run(learner, spec, range(1, 3))
        results.append((learner.weights(), metrics))
    (small, small_metrics), (large, large_metrics) = results
    assert largest_change(small, large) < 1e-6
    for one, other in zip(small_metrics, large_metrics, strict=True):
        assert one == pytest.approx(other, rel=1e-4, abs=1e-6)


def test_batch_invariant_logprobs_are_the_same_bits_in_any_company(start: Start) -> None:
    spec = make_spec(parallelism={"batch_invariant": True})
    groups = make_groups(1)
    start(spec).update(groups, spec, 1)
    own = {t.trajectory_id: t.learner_logprobs for group in groups for t in group.trajectories}
    other = make_groups(1)[::-1]
    other[0].trajectories = other[0].trajectories[2:0:-1]
    others = make_groups(2, longest=90)
    start(spec).update([others[0], *other[:2], others[1]], spec, 1)
    for trajectory in (t for group in other[:2] for t in group.trajectories):
        assert trajectory.learner_logprobs is not None
        assert trajectory.learner_logprobs.tobytes() == own[trajectory.trajectory_id].tobytes()


@pytest.mark.expensive(3, "builds a learner and steps it", about=LEARNING)
@pytest.mark.parametrize("stage", [1, 2, 3])
def test_zero_stages_make_the_same_update(start: Start, stage: int) -> None:
    plain = start(make_spec(optimizer=SMOOTH))
    run(plain, make_spec(optimizer=SMOOTH), range(1, 3))
    spec = make_spec(parallelism={"zero_stage": stage}, optimizer=SMOOTH)
    learner = start(spec)
    run(learner, spec, range(1, 3))
    assert largest_change(plain.weights(), learner.weights()) < 1e-6


def test_metrics_and_what_is_written_into_the_trajectories(start: Start) -> None:
    learner, groups = start(), make_groups(1)
    groups[0].trajectories[0].excluded = "zero_advantage"
    fresh = learner.score([[1, 2, 3]])
    metrics = learner.update(groups, make_spec(), 1)
    assert {"actor/loss", "actor/pg_loss", "actor/entropy", "actor/grad_norm", "actor/lr"} <= metrics.keys()
    assert all(math.isfinite(value) for value in metrics.values())
    assert metrics["actor/lr"] == 1e-3
    assert learner.version == 1
    left_out, trained = groups[0].trajectories[:2]
    assert left_out.learner_logprobs is None and left_out.entropy is None
    assert trained.learner_logprobs is not None and trained.entropy is not None
    assert trained.learner_logprobs.shape == trained.entropy.shape == (trained.length,)
    assert (trained.learner_logprobs[~trained.sampled] == 0).all()
    assert (trained.learner_logprobs[trained.sampled] < 0).all()
    assert (trained.entropy[trained.sampled] > 0).all()
    assert learner.score([[1, 2, 3]]) != fresh


def test_entropy_is_the_mean_over_trained_tokens(start: Start) -> None:
    groups = make_groups(2)
    metrics = start().update(groups, make_spec(), 1)
    every = [t.entropy[t.sampled] for group in groups for t in group.trajectories]
    assert metrics["actor/entropy"] == pytest.approx(float(np.concatenate(every).mean()), rel=1e-6)


def test_nothing_to_learn_from_is_no_step(start: Start) -> None:
    learner, groups = start(), make_groups(1)
    for group in groups:
        for trajectory in group.trajectories:
            trajectory.excluded = "zero_advantage"
    before = learner.weights()
    assert learner.update(groups, make_spec(), 1) == {"actor/lr": 1e-3}
    assert largest_change(before, learner.weights()) == 0.0
    assert learner.version == 0, "versions count updates"


def test_controls_hold_from_the_next_step(start: Start) -> None:
    learner, before = start(), start().weights()
    frozen = make_spec(optimizer={"learning_rate": 1e-12})
    metrics = learner.update(make_groups(1), frozen, 1)
    assert metrics["actor/lr"] == 1e-12
    assert largest_change(before, learner.weights()) < 1e-9
    metrics = learner.update(make_groups(1), make_spec(optimizer={"learning_rate": 1e-2}), 2)
    assert metrics["actor/lr"] == 1e-2
    assert largest_change(before, learner.weights()) > 1e-3


def test_clipping_follows_the_spec(start: Start) -> None:
    # Plain gradient size shows through Adam's second step: equal directions, so compare the reported norms only.
    one, other = start(), start()
    loose = one.update(make_groups(1), make_spec(optimizer={"learning_rate": 1e-3, "max_grad_norm": 1e6}), 1)
    tight = other.update(make_groups(1), make_spec(optimizer={"learning_rate": 1e-3, "max_grad_norm": 1e-8}), 1)
    assert loose["actor/grad_norm"] == pytest.approx(tight["actor/grad_norm"], rel=1e-6)
    # A gradient clipped to the size of Adam's epsilon moves the weights much less.
    assert largest_change(start().weights(), other.weights()) < 0.6 * largest_change(start().weights(), one.weights())


def test_several_updates_per_step_use_the_log_probabilities_from_before(start: Start) -> None:
    spec = make_spec(schedule={"steps": 10, "prompts_per_step": 4, "updates_per_step": 2})
    groups, single = make_groups(3), make_groups(3)
    learner = start(spec)
    metrics = learner.update(groups, spec, 1)
    start().update(single, make_spec(optimizer={"learning_rate": 1e-12}), 1)
    for group, other in zip(groups, single, strict=True):
        for mine, theirs in zip(group.trajectories, other.trajectories, strict=True):
            np.testing.assert_allclose(mine.learner_logprobs, theirs.learner_logprobs, atol=1e-5)
    assert metrics["actor/ppo_kl"] != 0.0
    assert learner.version == 1


@pytest.mark.parametrize("estimator", ["k1", "k2", "k3"])
@pytest.mark.parametrize("placement", ["loss", "reward"])
def test_kl_penalty_starts_at_zero_and_then_holds_the_policy_back(start: Start, estimator: str, placement: str) -> None:
    spec = make_spec(kl={"coefficient": 5.0, "placement": placement, "estimator": estimator})
    learner, free = start(spec), start()
    first, second = run(learner, spec, range(1, 3))
    run(free, make_spec(), range(1, 3))
    assert first["actor/kl_loss"] == pytest.approx(0.0, abs=1e-6)
    assert second["actor/kl_loss"] != 0.0
    assert largest_change(free.weights(), learner.weights()) > 1e-5


def test_the_reference_may_be_another_folder(policy_dir: Path, tmp_path: Path) -> None:
    """A fork starts from trained weights, and measures from the base policy also after a resume."""
    spec = make_spec(kl={"coefficient": 0.5}, optimizer={"learning_rate": 1e-3})
    trained = Learner(policy_dir, spec)
    run(trained, spec, range(1, 3))
    trained.save(tmp_path / "trained")
    start, base = (Learner(tmp_path / "trained", spec, reference=folder) for folder in (None, policy_dir))
    groups = make_groups(3)
    from_start, from_base = (one.update(copy.deepcopy(groups), spec, 1)["actor/kl_loss"] for one in (start, base))
    assert from_start == pytest.approx(0.0, abs=1e-6)
    assert from_base > 1e-5
    base.save(tmp_path / "again")
    resumed = Learner(tmp_path / "trained", spec, reference=policy_dir)
    resumed.load(tmp_path / "again")
    later = make_groups(4)
    expected = base.update(copy.deepcopy(later), spec, 2)["actor/kl_loss"]
    assert resumed.update(later, spec, 2)["actor/kl_loss"] == expected


def test_a_reference_of_another_vocabulary_is_refused(policy_dir: Path, tmp_path: Path) -> None:
    other = AutoModelForCausalLM.from_pretrained(policy_dir)
    other.resize_token_embeddings(other.config.vocab_size + 8)
    other.save_pretrained(tmp_path / "other")
    spec = make_spec(kl={"coefficient": 0.1, "reference": "other"})
    with pytest.raises(ValueError, match="the reference policy 'other' has"):
        Learner(policy_dir, spec, reference=tmp_path / "other")


def test_kl_cannot_be_raised_without_a_reference(start: Start) -> None:
    with pytest.raises(ValueError, match="without a reference policy"):
        start().update(make_groups(1), make_spec(kl={"coefficient": 0.1}), 1)


@pytest.mark.parametrize("stage", [0, 2])
def test_a_loss_that_is_not_finite_changes_nothing(start: Start, stage: int) -> None:
    spec = make_spec(parallelism={"zero_stage": stage})
    learner, counterpart = start(spec), start(spec)
    run(learner, spec, range(1, 2))
    run(counterpart, spec, range(1, 2))
    before = learner.weights()
    poisoned = make_groups(2)
    poisoned[1].trajectories[0].earn(math.nan)
    with pytest.raises(NonFiniteUpdate, match="step 2, update 1 of 1"):
        learner.update(poisoned, spec, 2)
    assert largest_change(before, learner.weights()) == 0.0
    assert learner.version == 1
    # Neither gradients nor moments were touched: the next step is the one a healthy learner takes.
    run(learner, spec, range(2, 3))
    run(counterpart, spec, range(2, 3))
    assert largest_change(counterpart.weights(), learner.weights()) == 0.0


def test_a_step_that_fails_half_way_tears_the_learner(start: Start, tmp_path: Path) -> None:
    spec = make_spec(schedule={"steps": 10, "prompts_per_step": 4, "updates_per_step": 2})
    learner = start(spec)
    learner.save(tmp_path / "whole")
    whole, poisoned = learner.weights(), make_groups(1)
    poisoned[3].trajectories[0].earn(math.inf)
    with pytest.raises(NonFiniteUpdate, match="update 2 of 2"):
        learner.update(poisoned, spec, 1)
    for use in (learner.weights, lambda: learner.save(tmp_path / "torn"), lambda: learner.update([], spec, 1)):
        with pytest.raises(TornLearner, match="step 1 failed half-way"):
            use()
    assert not (tmp_path / "torn").exists()
    learner.load(tmp_path / "whole")
    assert largest_change(whole, learner.weights()) == 0.0


def test_updates_are_bitwise_repeatable(start: Start) -> None:
    one, other = start(), start()
    groups: list[list[Group]] = [make_groups(step) for step in (1, 2)]
    again = copy.deepcopy(groups)
    assert [one.update(g, make_spec(), i + 1) for i, g in enumerate(groups)] == [
        other.update(g, make_spec(), i + 1) for i, g in enumerate(again)
    ]
    assert largest_change(one.weights(), other.weights()) == 0.0


@pytest.mark.parametrize("made_anew", [False, True])
def test_a_learner_starts_where_a_process_group_has_ended(start: Start, made_anew: bool) -> None:
    """As where an engine in the same process has closed, and perhaps another has started."""
    expected = start().update(make_groups(1), make_spec(), 1)
    dist.destroy_process_group()
    if made_anew:
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    assert start().update(make_groups(1), make_spec(), 1)["actor/loss"] == expected["actor/loss"]
