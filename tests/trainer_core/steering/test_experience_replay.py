"""Replay and over-sampling: which groups are learned from, bit for bit across a resume."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from tests.trainer_core.specs import spec
from trainer_core.episodes import Credit, Group, Trajectory, Turn, Verdict
from trainer_core.rewards.reasons import Explained
from trainer_core.spec import RunSpec, apply_control
from trainer_core.steering.experience_replay import ReplayBuffer, has_signal
from trainer_core.steering.saved_groups import pack_group, unpack_group


def trajectory(reward: float | None, version: int = 0, **values: Any) -> Trajectory:
    rng = np.random.default_rng(version)
    return Trajectory(
        trajectory_id="t",
        prompt_ids=np.arange(3, dtype=np.int32),
        token_ids=np.arange(5, dtype=np.int32),
        behaviour_logprobs=rng.normal(size=5).astype(np.float32),
        versions=np.array([version, version + 1, version, version, version], np.int32),
        sampled=np.array([True, True, False, True, True]),
        finish_reason="stop",
        temperature=0.7,
        **values,
        verdict=Verdict(reward=reward),
    )


def group(name: str, *rewards: float | None, version: int = 0) -> Group:
    trajectories = [trajectory(reward, version) for reward in rewards]
    return Group(name, "sums:0", "sums", "sums@1", {"prompt": "1+1="}, "", 3, trajectories)


def replaying(**values: Any) -> RunSpec:
    return spec(batching={"replay": {"per_step": 2, "capacity": 3, "max_age": 4, **values}})


def names(groups: list[Group]) -> list[str]:
    return [one.group_id for one in groups]


def test_only_groups_with_a_signal_are_kept() -> None:
    buffer = ReplayBuffer(replaying())
    failed = group("failed", 1.0, 0.0)
    failed.trajectories[1].verdict = replace(failed.trajectories[1].verdict, error="broken")
    groups = [group("mixed", 0.0, 1.0), group("right", 1.0, 1.0), group("alone", None, 1.0), failed]
    assert buffer.offer(groups) == 1
    assert names(buffer.take(1, 0)) == ["mixed"]


def test_the_oldest_make_room() -> None:
    buffer = ReplayBuffer(replaying(per_step=3, uses=5))
    buffer.offer(group(f"{index}", 0.0, 1.0) for index in range(5))
    assert len(buffer) == 3 and set(names(buffer.take(1, 0))) == {"2", "3", "4"}


def test_groups_return_as_often_as_they_may() -> None:
    buffer = ReplayBuffer(replaying(per_step=1, uses=2))
    buffer.offer([group("a", 0.0, 1.0)])
    assert [names(buffer.take(step, 0)) for step in (1, 2, 3)] == [["a"], ["a"], []]


def test_a_group_that_returned_is_not_kept_twice() -> None:
    buffer = ReplayBuffer(replaying(uses=9))
    buffer.offer([group("a", 0.0, 1.0)])
    assert buffer.offer(buffer.take(1, 0)) == 0 and len(buffer) == 1


def test_groups_grow_too_old() -> None:
    buffer = ReplayBuffer(replaying(uses=9))
    # The oldest sampled token counts; the forced token's version does not.
    buffer.offer([group("old", 0.0, 1.0, version=1), group("new", 0.0, 1.0, version=2)])
    assert set(names(buffer.take(1, version=5))) == {"old", "new"}
    assert names(buffer.take(2, version=6)) == ["new"]
    assert len(buffer) == 1


def test_tokens_keep_their_versions_and_advantages_and_lose_the_learners_words() -> None:
    buffer, one = ReplayBuffer(replaying()), group("a", 0.0, 1.0)
    one.trajectories[0].earn(-0.5)
    one.trajectories[0].learner_logprobs = np.ones(5, np.float32)
    before = one.trajectories[0].versions.copy()
    buffer.offer([one])
    (back,) = buffer.take(1, 2)
    assert back.trajectories[0].advantage == -0.5 and back.trajectories[0].learner_logprobs is None
    assert (back.trajectories[0].versions == before).all()


def test_without_replay_nothing_is_kept() -> None:
    buffer = ReplayBuffer(spec())
    assert buffer.offer([group("a", 0.0, 1.0)]) == 0 and buffer.take(1, 0) == []


def test_steered_limits_hold() -> None:
    chosen = replaying(uses=9)
    buffer = ReplayBuffer(chosen)
    buffer.offer([group(f"{index}", 0.0, 1.0) for index in range(3)])
    buffer.update_spec(apply_control(chosen, "batching.replay.per_step", 1))
    assert len(buffer.take(1, 0)) == 1


@pytest.mark.parametrize("cut", range(6))
def test_resumes_exactly(cut: int) -> None:
    whole = ReplayBuffer(replaying(uses=2))

    def play(buffer: ReplayBuffer, steps: range) -> list[list[dict[str, Any]]]:
        seen = []
        for step in steps:
            seen.append([pack_group(one) for one in buffer.take(step, step - 1)])
            buffer.offer([group(f"{step}-{index}", 0.0, 1.0, version=step - 1) for index in range(2)])
        return seen

    play(whole, range(1, cut + 1))
    resumed = ReplayBuffer(replaying(uses=2))
    resumed.load(json.loads(json.dumps(whole.state())))
    assert play(resumed, range(cut + 1, 9)) == play(whole, range(cut + 1, 9))
    assert resumed.state() == whole.state()


def test_a_group_comes_back_bit_for_bit() -> None:
    one = group("a", 0.1, None)
    one.trajectories[0].verdict = replace(one.trajectories[0].verdict, parts={"dtype": 1.0, "right": 0.1})
    back = unpack_group(json.loads(json.dumps(pack_group(one))))
    assert (back.group_id, back.item, back.steering_revision) == ("a", {"prompt": "1+1="}, 3)
    for old, new in zip(one.trajectories, back.trajectories, strict=True):
        for name in ("prompt_ids", "token_ids", "behaviour_logprobs", "versions", "sampled"):
            assert getattr(old, name).dtype == getattr(new, name).dtype
            assert (getattr(old, name) == getattr(new, name)).all()
        assert (old.reward, old.verdict.parts, old.temperature) == (new.reward, new.verdict.parts, new.temperature)
        new.versions[0] = 9  # a buffer of bytes would refuse to be written


def test_turns_and_the_parts_of_a_verdict_come_back() -> None:
    one = group("turns", 1.0, 0.0)
    first, second = one.trajectories
    first.turns = (Turn("policy", 0), Turn("tool", 2), Turn("policy", 3))
    first.verdict = replace(first.verdict, forgiven=("style: no answer",), shadow_rewards={"b@1": 0.5})
    second.credit = Credit(0.25, "truncated", length_logit=1.5)
    packed = json.loads(json.dumps(pack_group(one)))
    flat = {"reward", "reward_error", "reward_forgiven", "shadow_rewards", "advantage", "excluded"}
    assert [flat <= set(trajectory) for trajectory in packed["trajectories"]] == [True, True]
    # Workers from earlier releases know neither field, and read a group that needs neither.
    assert ["turns" in trajectory for trajectory in packed["trajectories"]] == [True, False]
    assert ["length_logit" in trajectory for trajectory in packed["trajectories"]] == [False, True]
    back = unpack_group(packed).trajectories
    assert [(t.turns, t.verdict, t.credit) for t in back] == [(t.turns, t.verdict, t.credit) for t in one.trajectories]


def test_a_group_whose_reasons_were_told_is_kept_without_them() -> None:
    one = group("told", 1.0, 0.0)
    one.trajectories[0].verdict = replace(one.trajectories[0].verdict, explained={"right": Explained(1.0, "Reads 24.")})
    packed = json.loads(json.dumps(pack_group(one)))
    assert all("reward_explained" not in trajectory for trajectory in packed["trajectories"])
    assert [back.verdict.explained for back in unpack_group(packed).trajectories] == [{}, {}]


@pytest.mark.parametrize(
    ("parts", "path", "message"),
    [
        ({"corrections": [], "batching": {"replay": {}}}, ("batching", "replay"), "old groups were sampled"),
        (
            {"corrections": [{"type": "opsm"}], "batching": {"replay": {}}},
            ("batching", "replay"),
            "add a correction that weights them",
        ),
        (
            {"batching": {"replay": {"per_step": 9, "capacity": 8}}},
            ("batching", "replay", "per_step"),
            "9 groups cannot return from a buffer of 8",
        ),
    ],
)
def test_a_replay_that_makes_no_sense_is_refused(parts: dict[str, Any], path: tuple[str, ...], message: str) -> None:
    with pytest.raises(ValidationError, match=message) as refused:
        spec(**parts)
    assert [error["loc"] for error in refused.value.errors()] == [path]


@pytest.mark.parametrize("loss", ["dppo", "decoupled_ppo", "minpro", "vespo", "sequence_mask"])
def test_a_loss_that_weighs_by_the_sampling_policy_needs_no_correction(loss: str) -> None:
    assert spec(loss={"type": loss}, corrections=[], batching={"replay": {}}).batching.replay is not None


def test_a_group_with_a_signal_has_rewards_that_differ() -> None:
    groups = [group("a", 1.0, 1.0), group("b", 0.0, 1.0), group("c", 0.0, 0.0), group("d", 1.0, 0.0)]
    assert [has_signal(one) for one in groups] == [False, True, False, True]
