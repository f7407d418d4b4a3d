"""Proximal policies, the renewed reference, and the step size after the effective sample size."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.support.about import LEARNING
from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.episodes import Group
from trainer_core.spec import RunSpec
from trainer_core.spec.methods.proximal import EWMAProximal
from trainer_core.update.auxiliary.proximal import ProximalPolicy
from trainer_core.update.learner import Learner
from trainer_core.update.packed.packing import pack

SMOOTH = {"learning_rate": 1e-3, "epsilon": 1e-3}


def drift(groups: list[Group], learner: Learner, old: Learner) -> float:
    """−mean(log π_θ − log π_old) over the tokens that train, with π_θ and π_old two learners' policies."""
    trajectories = [t for group in groups for t in group.trajectories]
    sequences = [[*t.prompt_ids.tolist(), *t.token_ids.tolist()] for t in trajectories]
    total, count = 0.0, 0
    for t, new, before in zip(trajectories, learner.score(sequences), old.score(sequences), strict=True):
        difference = np.asarray(new)[-t.length :] - np.asarray(before)[-t.length :]
        total -= float(difference[t.sampled].sum())
        count += int(t.sampled.sum())
    return total / count


def spec_of(proximal: dict[str, Any], **parts: Any) -> RunSpec:
    return make_spec(proximal=proximal, optimizer=SMOOTH, **parts)


def test_a_snapshot_spans_the_steps_of_its_life(policy_dir: Path) -> None:
    spec = spec_of({"type": "snapshot", "every_steps": 2})
    learner, at_step_1 = Learner(policy_dir, spec), Learner(policy_dir, make_spec())
    assert learner.update(make_groups(1), spec, 1)["actor/ppo_kl"] == pytest.approx(0.0, abs=1e-6)
    expected = drift(make_groups(2), learner, at_step_1)
    assert learner.update(make_groups(2), spec, 2)["actor/ppo_kl"] == pytest.approx(expected, rel=1e-3)
    assert abs(expected) > 1e-4
    assert learner.update(make_groups(3), spec, 3)["actor/ppo_kl"] == pytest.approx(0.0, abs=1e-6)


def test_ewma_is_the_bias_corrected_average_of_all_weights(policy_dir: Path) -> None:
    decay, rng = 0.7, np.random.default_rng(0)
    policy = ProximalPolicy(EWMAProximal(decay=decay), policy_dir, torch.device("cpu"))
    history = [policy.tensors()]
    for _ in range(4):
        new = {name: torch.tensor(rng.normal(size=w.shape), dtype=torch.float32) for name, w in history[0].items()}
        history.append(new)
        policy.after_update(lambda new=new: new)
    powers = [decay**k for k in range(len(history))]
    for name, found in policy.tensors().items():
        expected = sum(p * w[name].double() for p, w in zip(powers, history[::-1], strict=True)) / sum(powers)
        torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-6)
    assert policy.normaliser == pytest.approx(sum(powers))


def test_interpolation_lies_between_behaviour_and_current_by_age(policy_dir: Path) -> None:
    from trainer_core.spec.methods.proximal import InterpolatedProximal

    policy = ProximalPolicy(InterpolatedProximal(), policy_dir, torch.device("cpu"))
    groups = make_groups(1, groups=1)
    for age, trajectory in enumerate(groups[0].trajectories):
        trajectory.versions[:] = 5 - age
    (batch,) = pack(groups[0].trajectories, 1000)
    current = batch.behaviour_logprobs + 0.3
    found = policy.logprobs(batch, current.requires_grad_(), None, 5)
    assert not found.requires_grad
    share = torch.tensor([0.0, 1.0, 0.5, 1 / 3])[batch.sequence]
    torch.testing.assert_close(found, current.detach() - 0.3 * share, rtol=1e-5, atol=1e-6)


@pytest.mark.expensive(2, "builds a learner and steps it", about=LEARNING)
@pytest.mark.parametrize(
    "proximal",
    [{"type": "snapshot", "every_steps": 3}, {"type": "ewma", "decay": 0.8}, {"type": "interpolated"}],
)
@pytest.mark.parametrize("stage", [0, 2])
def test_a_resumed_proximal_policy_goes_on_bitwise(
    policy_dir: Path, tmp_path: Path, proximal: dict[str, Any], stage: int
) -> None:
    schedule = {"steps": 10, "prompts_per_step": 4, "updates_per_step": 2}
    spec = spec_of(proximal, parallelism={"zero_stage": stage}, schedule=schedule)
    straight, resumed = Learner(policy_dir, spec), Learner(policy_dir, spec)
    for step in (1, 2):
        straight.update(make_groups(step), spec, step)
    straight.save(tmp_path / "c")
    resumed.load(tmp_path / "c")
    for step in (3, 4):
        assert resumed.update(make_groups(step), spec, step) == straight.update(make_groups(step), spec, step)


@pytest.mark.expensive(2, "builds a learner and steps it", about=LEARNING)
def test_a_streamed_step_has_the_same_proximal_policy(policy_dir: Path) -> None:
    spec = spec_of({"type": "ewma", "decay": 0.8})
    one, other = Learner(policy_dir, spec), Learner(policy_dir, spec)
    for step in (1, 2, 3):
        metrics = one.update(make_groups(step), spec, step)
        other.begin(spec, step)
        for group in make_groups(step):
            other.accumulate([group])
        assert other.finish() == pytest.approx(metrics, rel=1e-4, abs=1e-6)


@pytest.mark.expensive(2, "builds a learner and steps it", about=LEARNING)
def test_the_reference_and_adam_start_anew_on_schedule(policy_dir: Path, tmp_path: Path) -> None:
    spec = make_spec(kl={"coefficient": 0.5, "reset_steps": 2}, optimizer=SMOOTH)
    learner = Learner(policy_dir, spec)
    found = [learner.update(make_groups(step), spec, step)["actor/kl_loss"] for step in (1, 2)]
    assert found[0] == pytest.approx(0.0, abs=1e-7)
    assert found[1] > 1e-6
    learner.save(tmp_path / "c")
    # The third step is the first step of a run that starts from the policy of the second.
    fresh = Learner(tmp_path / "c", spec)
    assert learner.update(make_groups(3), spec, 3) == fresh.update(make_groups(3), spec, 1)
    for name, weight in learner.weights().items():
        assert np.array_equal(fresh.weights()[name], weight)
    learner.save(tmp_path / "d")
    resumed = Learner(policy_dir, spec)
    resumed.load(tmp_path / "d")
    assert resumed.update(make_groups(4), spec, 4) == learner.update(make_groups(4), spec, 4)


@pytest.mark.parametrize("rule", ["sqrt", "linear"])
def test_the_step_size_follows_the_effective_sample_size(policy_dir: Path, rule: str) -> None:
    spec = make_spec(optimizer={**SMOOTH, "ess_scaling": rule})
    groups = make_groups(1)
    metrics = Learner(policy_dir, spec).update(groups, spec, 1)
    logs = np.array(
        [
            float((t.learner_logprobs[t.sampled].astype(np.float64) - t.behaviour_logprobs[t.sampled]).sum())
            for group in groups
            for t in group.trajectories
        ]
    )
    weights = np.exp(logs - logs.max())
    share = weights.sum() ** 2 / (weights**2).sum() / len(weights)
    assert metrics["actor/ess_share"] == pytest.approx(share, rel=1e-4)
    expected = 1e-3 * (math.sqrt(share) if rule == "sqrt" else share)
    assert metrics["actor/lr"] == pytest.approx(expected, rel=1e-4)
    streamed = Learner(policy_dir, spec)
    streamed.begin(spec, 1)
    for group in make_groups(1):
        streamed.accumulate([group])
    assert streamed.finish()["actor/lr"] == pytest.approx(expected, rel=1e-4)
