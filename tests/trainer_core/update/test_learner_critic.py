"""PPO with a critic: advantages of a step, what is trained when, exact resume."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from safetensors.torch import load_file

from tests.support.about import LEARNING
from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.episodes import Group, Verdict
from trainer_core.spec import RunSpec
from trainer_core.update.learner import Learner, NonFiniteUpdate
from trainer_core.update.saving.integrity import CheckpointError

SMOOTH = {"learning_rate": 1e-3, "epsilon": 1e-3}
RATES = {"head": 1e-2, "separate": 1e-3}
SCHEDULE = {"steps": 10, "prompts_per_step": 4, "updates_per_step": 2}


def critic_spec(kind: str, gae: dict[str, Any] | None = None, critic: Any = None, **parts: Any) -> RunSpec:
    document = {
        "advantage": {"type": "gae", **(gae or {})},
        "critic": {"type": kind, "learning_rate": RATES[kind], **(critic or {})},
        "optimizer": SMOOTH,
        "filters": [],
        **parts,
    }
    return make_spec(**document)


def rewarded(seed: int, **shape: Any) -> list[Group]:
    """Groups whose reward depends on their first token, so that there is something to predict."""
    groups = make_groups(seed, **shape)
    for group in groups:
        for trajectory in group.trajectories:
            trajectory.verdict = Verdict(float(trajectory.token_ids[0] % 2))
    return groups


def largest_change(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> float:
    return max(float(np.abs(one[name] - other[name]).max()) for name in one)


def test_with_values_of_zero_the_advantage_is_the_discounted_reward(policy_dir: Path) -> None:
    spec = critic_spec("head", {"gamma": 0.9, "policy_lambda": 0.5, "whiten": "none"})
    groups = rewarded(1)
    metrics = Learner(policy_dir, spec).update(groups, spec, 1)
    for group in groups:
        for trajectory in group.trajectories:
            assert trajectory.token_advantages is not None and trajectory.reward is not None
            steps = np.arange(trajectory.sampled.sum())[::-1]
            # δ is the reward at the last sampled token and 0 before it: forced tokens are no steps.
            np.testing.assert_allclose(
                trajectory.token_advantages[trajectory.sampled], trajectory.reward * 0.45**steps, rtol=1e-6
            )
            assert (trajectory.token_advantages[~trajectory.sampled] == 0).all()
    assert metrics["critic/values/mean"] == 0.0
    assert metrics["critic/vf_explained_var"] == pytest.approx(0.0, abs=1e-5)
    assert metrics["critic/vf_loss"] > 0
    assert metrics["critic/lr"] == pytest.approx(1e-2)


def test_whitened_advantages_have_mean_zero_and_deviation_one(policy_dir: Path) -> None:
    spec = critic_spec("separate", {"whiten": "batch"}, schedule=SCHEDULE)
    groups = rewarded(2)
    Learner(policy_dir, spec).update(groups, spec, 1)
    every = np.concatenate([t.token_advantages[t.sampled] for group in groups for t in group.trajectories])
    assert every.mean() == pytest.approx(0.0, abs=1e-5)
    assert every.std() == pytest.approx(1.0, abs=1e-4)


def test_the_penalty_in_the_reward_is_paid_per_token_and_once(policy_dir: Path) -> None:
    parts = {"kl": {"coefficient": 0.5, "placement": "reward", "estimator": "k1"}}
    gae = {"policy_lambda": 1.0, "whiten": "none"}
    spec = critic_spec("separate", gae, {"learning_rate": 1e-12}, **parts)
    learner = Learner(policy_dir, spec)
    learner.update(rewarded(1), spec, 1)
    groups = rewarded(2)
    learner.update(groups, spec, 2)
    base = Learner(policy_dir, make_spec())
    first = groups[0].trajectories[0]
    reference = rewarded(2)[0].trajectories[0]
    base.update([Group("", "", "", "", {}, "", 0, trajectories=[reference])], make_spec(), 1)
    distance = (first.learner_logprobs - reference.learner_logprobs)[first.sampled]
    assert np.abs(distance).max() > 1e-4
    to_go = -0.5 * distance[::-1].cumsum()[::-1] + first.reward
    np.testing.assert_allclose(first.token_advantages[first.sampled], to_go, atol=1e-4)


def test_a_cut_completion_is_worth_its_last_state_behind_its_end(policy_dir: Path) -> None:
    """Two learners of the same values: bootstrapped is the reward at the last but one token, and V(s_T) behind it."""
    gae = {"gamma": 0.9, "policy_lambda": 0.5, "whiten": "none"}
    found = []
    for end in ("zero", "bootstrap"):
        spec = critic_spec("separate", {**gae, "truncated_end": end}, {"warmup_steps": 2})
        learner, groups = Learner(policy_dir, spec), rewarded(1)
        learner.update(rewarded(3), spec, 1)
        for trajectory in (groups[0].trajectories[0], groups[1].trajectories[1]):
            trajectory.finish_reason = "length"
        metrics = learner.update(groups, spec, 2)
        assert math.isfinite(metrics["critic/vf_loss"])
        found.append([[t.token_advantages[t.sampled] for t in group.trajectories] for group in groups])
    zero, bootstrapped = found
    for g, group in enumerate(groups):
        for s, trajectory in enumerate(group.trajectories):
            if trajectory.finish_reason == "stop":
                np.testing.assert_array_equal(zero[g][s], bootstrapped[g][s])
                continue
            # δ_T = r − V_T of the first gives V_T; earlier tokens differ by what stands behind the last.
            reward, delta = trajectory.reward, zero[g][s].astype("f8")
            delta[:-1] -= 0.45 * delta[1:]
            last_value = reward - delta[-1]
            expected = delta.copy()
            # δ of the last but one had γ·V_T in it already; the reward joins it, and nothing comes behind.
            expected[-2] += reward
            expected[-1] = 0.0
            for t in range(len(expected) - 2, -1, -1):
                expected[t] += 0.45 * expected[t + 1]
            assert abs(last_value) > 1e-6
            np.testing.assert_allclose(bootstrapped[g][s], expected, atol=1e-5)


@pytest.mark.expensive(3, "builds a learner and steps it", about=LEARNING)
@pytest.mark.parametrize("kind", ["head", "separate"])
def test_warming_up_trains_the_value_alone(policy_dir: Path, kind: str) -> None:
    optimizer = {**SMOOTH, "weight_decay": 0.1}
    spec = critic_spec(kind, {"whiten": "none"}, {"warmup_steps": 6, "clip_range": None}, optimizer=optimizer)
    learner = Learner(policy_dir, spec)
    before = learner.weights()
    found = [learner.update(rewarded(1, groups=8), spec, step) for step in range(1, 7)]
    assert largest_change(before, learner.weights()) == 0.0
    assert {metrics["actor/lr"] for metrics in found} == {0.0}
    losses = [metrics["critic/vf_loss"] for metrics in found]
    assert losses[-1] < 0.8 * losses[0]
    assert found[-1]["critic/vf_explained_var"] > found[0]["critic/vf_explained_var"]
    after = learner.update(rewarded(1, groups=8), spec, 7)
    assert after["actor/lr"] == 1e-3
    assert largest_change(before, learner.weights()) > 1e-5
    assert not any("value" in name for name in learner.weights())


@pytest.mark.expensive(8, "builds a learner and steps it", about=LEARNING)
@pytest.mark.parametrize(("kind", "stage"), [("head", 0), ("head", 2), ("head", 3), ("separate", 0), ("separate", 2)])
def test_the_first_real_step_is_one_of_a_fresh_optimizer(
    policy_dir: Path, tmp_path: Path, kind: str, stage: int
) -> None:
    """AdamW's first step is lr · g / (|g| + ε), about lr; counted steps without gradient would make it 3.2 lr."""
    optimizer = {"learning_rate": 1e-3, "weight_decay": 0.0, "max_grad_norm": 1e6}
    spec = critic_spec(kind, None, {"warmup_steps": 4}, optimizer=optimizer, parallelism={"zero_stage": stage})
    learner, resumed = Learner(policy_dir, spec), Learner(policy_dir, spec)
    before = learner.weights()
    for step in range(1, 5):
        learner.update(rewarded(step), spec, step)
    learner.save(tmp_path / "c")
    state = json.loads((tmp_path / "c" / "training" / "state.json").read_text())
    assert (state["optimizer_steps"], state["value_steps"]) == (0, 4 if kind == "head" else 0)
    assert state["counters"].get("critic_steps", 4) == 4
    resumed.load(tmp_path / "c")
    for each in (learner, resumed):
        each.update(rewarded(5), spec, 5)
        assert largest_change(before, each.weights()) == pytest.approx(1e-3, rel=1e-2)
    assert largest_change(learner.weights(), resumed.weights()) == 0.0


@pytest.mark.expensive(9, "builds a learner and steps it", about=LEARNING)
@pytest.mark.parametrize(("kind", "stage"), [("head", 0), ("head", 2), ("head", 3), ("separate", 0), ("separate", 2)])
def test_a_resumed_critic_goes_on_bitwise(policy_dir: Path, tmp_path: Path, kind: str, stage: int) -> None:
    spec = critic_spec(kind, parallelism={"zero_stage": stage}, schedule=SCHEDULE)
    straight, resumed = Learner(policy_dir, spec), Learner(policy_dir, spec)
    for step in (1, 2):
        straight.update(rewarded(step), spec, step)
    straight.save(tmp_path / "c")
    resumed.load(tmp_path / "c")
    assert "value_head.weight" not in load_file(tmp_path / "c" / "model.safetensors")
    for step in (3, 4):
        assert resumed.update(rewarded(step), spec, step) == straight.update(rewarded(step), spec, step)
    assert largest_change(straight.weights(), resumed.weights()) == 0.0


@pytest.mark.parametrize("kind", ["head", "separate"])
def test_a_checkpoint_without_the_critic_is_refused(policy_dir: Path, tmp_path: Path, kind: str) -> None:
    Learner(policy_dir, make_spec()).save(tmp_path / "c")
    with pytest.raises(CheckpointError, match=r"(value_head|critic)\.safetensors: is missing"):
        Learner(policy_dir, critic_spec(kind)).load(tmp_path / "c")
    assert "counters" in json.loads((tmp_path / "c" / "training" / "state.json").read_text())


@pytest.mark.expensive(3, "builds a learner and steps it", about=LEARNING)
@pytest.mark.parametrize("kind", ["head", "separate"])
@pytest.mark.parametrize("budget", [128, 16_384])
def test_the_cut_does_not_matter(policy_dir: Path, kind: str, budget: int) -> None:
    results = []
    for spec in (critic_spec(kind), critic_spec(kind, parallelism={"max_tokens_per_microbatch": budget})):
        learner = Learner(policy_dir, spec)
        metrics = [learner.update(rewarded(step), spec, step) for step in (1, 2)]
        results.append((learner.weights(), metrics))
    (one, metrics), (other, others) = results
    assert largest_change(one, other) < 2e-6
    for mine, theirs in zip(metrics, others, strict=True):
        assert mine == pytest.approx(theirs, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("kind", ["head", "separate"])
def test_a_broken_reward_changes_neither_policy_nor_critic(policy_dir: Path, kind: str) -> None:
    spec = critic_spec(kind)
    learner, counterpart = Learner(policy_dir, spec), Learner(policy_dir, spec)
    broken = rewarded(1)
    broken[0].trajectories[0].verdict = Verdict(math.nan)
    with pytest.raises(NonFiniteUpdate, match="step 1, update 1 of 1"):
        learner.update(broken, spec, 1)
    assert learner.update(rewarded(1), spec, 1) == counterpart.update(rewarded(1), spec, 1)
    assert largest_change(learner.weights(), counterpart.weights()) == 0.0


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"advantage": {"type": "gae"}}, "gae takes its values from a critic"),
        ({"critic": {"type": "head"}}, "the advantage grpo uses no critic"),
        (
            {
                "advantage": {"type": "gae", "truncated_end": "bootstrap"},
                "critic": {"type": "head"},
                "filters": [{"type": "truncated"}],
            },
            "truncated excludes the completions whose end",
        ),
        (
            {"advantage": {"type": "gae"}, "critic": {"type": "head", "warmup_steps": 10}},
            "the policy would never be trained",
        ),
        ({"kl": {"reset_steps": 5}}, "there is no reference policy to reset"),
    ],
)
def test_contradictions_are_refused(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        make_spec(**parts)
