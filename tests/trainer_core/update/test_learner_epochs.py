"""Several passes over a step's batch: shuffled alike on every rank, with what was known before the first of them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.about import LEARNING
from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.spec import RunSpec
from trainer_core.update.learner import Learner
from trainer_core.update.objective.passes import StepTokens, cuts
from trainer_core.update.packed.packing import Packing, pack

SMOOTH = {"learning_rate": 1e-3, "epsilon": 1e-3}


def spec_of(epochs: int, updates: int = 2, **parts: Any) -> RunSpec:
    schedule = {"steps": 10, "prompts_per_step": 4, "updates_per_step": updates, "epochs": epochs, "seed": 5}
    return make_spec(optimizer=SMOOTH, schedule=schedule, **parts)


def ids(passes: list[list[list[Any]]]) -> list[list[list[str]]]:
    return [[[t.trajectory_id for t in part] for part in parts] for parts in passes]


def test_every_pass_holds_each_sample_once_and_only_the_first_keeps_the_order() -> None:
    groups, schedule = make_groups(1, groups=8), spec_of(3).schedule
    passes = ids(cuts(groups, schedule, 1))
    everybody = sorted(t.trajectory_id for group in groups for t in group.trajectories)
    assert [len(parts) for parts in passes] == [2, 2, 2]
    assert all(sorted(name for part in parts for name in part) == everybody for parts in passes)
    assert [name for part in passes[0] for name in part] == [t.trajectory_id for g in groups for t in g.trajectories]
    assert passes[1] != passes[0] != passes[2] != passes[1]
    assert ids(cuts(groups, schedule, 1)) == passes, "every rank, and a resumed run, cuts alike"
    assert ids(cuts(groups, schedule, 2))[1] != passes[1], "each step has an order of its own"
    assert ids(cuts(groups, schedule.model_copy(update={"seed": 6}), 1))[1] != passes[1]


@pytest.mark.parametrize("cut", [{}, {"max_tokens_per_microbatch": 128}, {"share_prompts": False}])
def test_passes_clip_against_the_policy_before_the_first_update(policy_dir: Path, cut: dict[str, Any]) -> None:
    """Two passes are the four updates they consist of, each against the log-probabilities of the step's beginning."""
    narrow = {"loss": {"type": "ppo_clip", "ratio_min": 0.99, "ratio_max": 1.01}, "corrections": []}
    spec = spec_of(2, parallelism=cut, **narrow)
    learner, groups = Learner(policy_dir, spec), make_groups(1)
    metrics = learner.update(groups, spec, 1)
    # What generated the tokens is, here, the policy before the step: the sampler is the proximal policy.
    sampler = spec_of(1, updates=1, proximal={"type": "sampler"}, **narrow)
    single, copies = Learner(policy_dir, sampler), make_groups(1)
    for group, known in zip(copies, groups, strict=True):
        for trajectory, scored in zip(group.trajectories, known.trajectories, strict=True):
            assert scored.learner_logprobs is not None
            trajectory.behaviour_logprobs = scored.learner_logprobs.copy()
    for step, part in enumerate((part for parts in cuts(copies, spec.schedule, 1) for part in parts), 1):
        chosen = {t.trajectory_id for t in part}
        for trajectory in (t for group in copies for t in group.trajectories):
            trajectory.excluded = None if trajectory.trajectory_id in chosen else "truncated"
        single.update(copies, sampler, step)
    for name, weight in learner.weights().items():
        np.testing.assert_allclose(weight, single.weights()[name], atol=2e-6)
    first, second = (metrics[f"actor/pg_clipfrac/epoch/{n}"] for n in (1, 2))
    assert 0.0 < first < second, "the first update of the first pass is on policy, the second pass is not"
    assert metrics["actor/pg_clipfrac"] == pytest.approx((first + second) / 2)
    drifts = [metrics[f"actor/ppo_kl/epoch/{n}"] for n in (1, 2)]
    assert metrics["actor/ppo_kl"] == pytest.approx(sum(drifts) / 2)


@pytest.mark.expensive(2, "builds a learner and steps it", about=LEARNING)
def test_passes_are_resumed_bitwise(policy_dir: Path, tmp_path: Path) -> None:
    spec = spec_of(2)
    straight, resumed = Learner(policy_dir, spec), Learner(policy_dir, spec)
    straight.update(make_groups(1), spec, 1)
    straight.save(tmp_path / "c")
    resumed.load(tmp_path / "c")
    assert resumed.update(make_groups(2), spec, 2) == straight.update(make_groups(2), spec, 2)
    for name, weight in straight.weights().items():
        assert np.array_equal(weight, resumed.weights()[name])


def test_a_critic_and_a_reference_are_asked_once_for_all_passes(policy_dir: Path) -> None:
    parts = {"advantage": {"type": "gae"}, "critic": {"type": "head"}, "kl": {"coefficient": 0.1}}
    spec = spec_of(3, **parts)
    learner, groups = Learner(policy_dir, spec), make_groups(1)
    once = Learner(policy_dir, spec_of(1, **parts)).update(make_groups(1), spec_of(1, **parts), 1)
    metrics = learner.update(groups, spec, 1)
    # Targets and values of before the first update hold in every pass.
    for name in ("critic/returns/mean", "critic/values/mean", "critic/vf_explained_var"):
        assert metrics[name] == pytest.approx(once[name], rel=1e-5, abs=1e-6)
    assert learner.version == 0, "no sample has an advantage before the critic has learned"


def test_known_tokens_find_their_places_in_another_cut() -> None:
    from trainer_core.update.objective.returns import KnownTokens

    groups = make_groups(3)
    mine = [t for group in groups for t in group.trajectories]
    batches = pack(mine, Packing(128))
    known = [KnownTokens(before=batch.behaviour_logprobs.clone()) for batch in batches]
    tokens = StepTokens([(mine, batches, None)], [known])  # type: ignore[list-item]
    for batch in pack(mine[::-1], Packing(200)):
        restored, found = tokens.restore(mine[::-1], batch)
        assert found.before is not None and found.reference is None
        assert found.before.equal(batch.behaviour_logprobs)
        assert restored.advantages.equal(batch.advantages)
