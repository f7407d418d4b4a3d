"""Metrics of a batch, checked by hand; every name is in the registry."""

import math
from typing import Any

import numpy as np
import pytest

from trainer_core import metrics as registry
from trainer_core.spec import RunSpec
from trainer_core.trajectory import Group, Trajectory
from worker.advantages import assign_advantages, exclude_failed_rewards
from worker.batch_metrics import batch_metrics, pass_rate, succeeded
from worker.buffer import Batch
from worker.chunk import pack, repack, unpack
from worker.engine import Completion


def trajectory(reward: float | None, length: int, thinking: int = 0, **more: Any) -> Trajectory:
    return Trajectory(
        trajectory_id="t",
        prompt_ids=np.arange(3, dtype=np.int32),
        token_ids=np.arange(length, dtype=np.int32),
        behaviour_logprobs=np.full(length, -0.5, np.float32),
        versions=np.zeros(length, np.int32),
        sampled=np.ones(length, np.bool_),
        finish_reason=more.pop("finish_reason", "stop"),
        temperature=1.0,
        thinking_tokens=thinking,
        reward=reward,
        reward_parts={} if reward is None else {"right": reward},
        **more,
    )


def group(name: str, source: str, *members: Trajectory) -> Group:
    return Group(name, f"{source}:0", source, f"{source}@1", {}, "", 2, list(members))


@pytest.fixture
def batch(spec: Any) -> Batch:
    groups = [
        group("1-0", "add", trajectory(1.0, 4, 2), trajectory(0.0, 8, finish_reason="length", budget_hit=True)),
        group("1-1", "mul", trajectory(1.0, 2), trajectory(None, 6, reward_error="right: no number")),
    ]
    document = spec(thinking__budget=6)
    return Batch(1, RunSpec.model_validate(document), 2, 0, groups, [np.zeros(3), np.zeros(5)])


def test_every_metric_by_hand(batch: Batch) -> None:
    found = batch_metrics(batch, 0.5)
    assert found["critic/score/mean"] == pytest.approx(2 / 3)
    assert found["critic/score/std"] == pytest.approx(math.sqrt(2) / 3)
    assert (found["critic/score/min"], found["critic/score/max"]) == (0.0, 1.0)
    assert found["reward/error_share"] == 0.25
    assert found["groups/zero_advantage_share"] == 0.5
    assert (found["train/pass_rate/add"], found["train/pass_rate/mul"]) == (0.5, 1.0)
    assert (found["train/mix/add"], found["train/mix/mul"]) == (0.5, 0.5)
    assert (found["response_length/mean"], found["response_length/max"], found["response_length/p50"]) == (5, 8, 5)
    assert (found["response_length/clip_ratio"], found["prompt_length/mean"]) == (0.25, 4)
    assert (found["thinking/mean"], found["thinking/share_thinking"], found["thinking/budget"]) == (0.5, 0.25, 6)
    assert (found["thinking/budget_hit_share"], found["control/revision"]) == (0.25, 2)


def test_every_name_is_registered(batch: Batch) -> None:
    for name in batch_metrics(batch, 0.5):
        assert registry.find(name) is not None, name


def test_a_failed_reward_is_neither_right_nor_wrong(batch: Batch) -> None:
    failed = batch.groups[1].trajectories[1]
    assert succeeded(failed, 0.5) is None
    failed.reward = 0.0  # as the policy "zero" writes it
    assert succeeded(failed, 0.5) is None
    assert math.isnan(pass_rate([group("x", "s", failed)], 0.5))


def test_overlong_shaping_does_not_make_an_answer_wrong() -> None:
    right = trajectory(0.2, 4)
    right.reward_parts = {"right": 1.0, "overlong": -0.8}
    assert succeeded(right, 0.5) is True


def test_failed_rewards_are_left_out_or_zero_as_chosen(batch: Batch) -> None:
    failed = batch.groups[1].trajectories[1]
    exclude_failed_rewards(batch.groups, "exclude")
    assert (failed.reward, failed.excluded) == (None, "reward_error")
    assign_advantages(batch.groups, batch.spec.advantage, batch.spec.filters)
    first = [t.advantage for t in batch.groups[0].trajectories]
    assert first == pytest.approx([math.sqrt(0.5), -math.sqrt(0.5)], abs=1e-5)
    assert [t.excluded for t in batch.groups[1].trajectories] == ["zero_advantage", "reward_error"]
    failed.excluded = None
    exclude_failed_rewards(batch.groups, "zero")
    assert (failed.reward, failed.excluded) == (0.0, None)


def test_chunks_carry_completions_unchanged(spec: Any) -> None:
    def completion(tokens: list[int], forced: int = 0) -> Completion:
        size = len(tokens)
        sampled = [place >= forced for place in range(size)]
        return Completion("r", (1,), tokens, [-0.1] * size, [3] * size, sampled, "length", 1, True, 1.0, 1.5)

    chunk = pack([(1, [completion([5, 6, 7], forced=1), completion([8])]), (0, [completion([]), completion([9, 9])])])
    groups = [group("1-0", "s"), group("1-1", "s")]
    assert unpack(chunk, groups, [np.array([1]), np.array([2])], 0.7) == {0, 1}
    first, second = groups[1].trajectories
    assert (first.token_ids.tolist(), second.token_ids.tolist()) == ([5, 6, 7], [8])
    assert (first.sampled.tolist(), first.versions.tolist()) == ([False, True, True], [3, 3, 3])
    assert (first.finish_reason, first.thinking_tokens, first.budget_hit) == ("length", 1, True)
    assert (first.temperature, first.generation_seconds, first.trajectory_id) == (0.7, 0.5, "1-1/0")
    assert [t.length for t in groups[0].trajectories] == [0, 2]
    again = repack([first, second])
    assert [ids.tolist() for ids in again.tokens()] == [[5, 6, 7], [8]]
