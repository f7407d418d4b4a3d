"""From completions to trajectories and advantages."""

import math
from typing import Any

import numpy as np
import pytest

from trainer_core.episodes import Group, Trajectory, Verdict
from trainer_core.spec import RunSpec
from worker.engine import Completion
from worker.loop.advantages import assign_advantages
from worker.messages.chunk import pack, repack, unpack


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
        verdict=Verdict(reward, {} if reward is None else {"right": reward}, error=more.pop("error", None)),
        **more,
    )


def group(name: str, source: str, *members: Trajectory) -> Group:
    return Group(name, f"{source}:0", source, f"{source}@1", {}, "", 2, list(members))


@pytest.mark.parametrize(("on_error", "reward", "excluded"), [("exclude", None, "reward_error"), ("zero", 0.0, None)])
def test_failed_rewards_are_left_out_or_zero_as_chosen(
    on_error: str, reward: float | None, excluded: str | None, spec: Any
) -> None:
    failed = trajectory(None, 6, error="right: no number")
    groups = [
        group("1-0", "add", trajectory(1.0, 4), trajectory(0.0, 8)),
        group("1-1", "add", trajectory(1.0, 2), failed),
    ]
    assign_advantages(groups, RunSpec.model_validate(spec(reward__on_error=on_error)))
    assert [t.advantage for t in groups[0].trajectories] == pytest.approx([math.sqrt(0.5), -math.sqrt(0.5)], abs=1e-5)
    assert (failed.reward, failed.excluded, failed.verdict.error) == (reward, excluded, "right: no number")
    assert groups[1].trajectories[0].excluded == ("zero_advantage" if on_error == "exclude" else None)


def test_chunks_carry_completions_unchanged(spec: Any) -> None:
    def completion(tokens: list[int], forced: int = 0) -> Completion:
        size = len(tokens)
        sampled = [place >= forced for place in range(size)]
        return Completion("r", (1,), tokens, [-0.1] * size, [3] * size, sampled, "length", 1, True, 1.0, 1.5)

    chunk = pack([(1, [completion([5, 6, 7], forced=1), completion([8])]), (0, [completion([]), completion([9, 9])])])
    groups = [group("1-0", "s"), group("1-1", "s")]
    unpack(chunk, groups, [[np.array([1])] * 2, [np.array([2])] * 2], [0.9, 0.7])
    first, second = groups[1].trajectories
    assert (first.token_ids.tolist(), second.token_ids.tolist()) == ([5, 6, 7], [8])
    assert (first.sampled.tolist(), first.versions.tolist()) == ([False, True, True], [3, 3, 3])
    assert (first.finish_reason, first.thinking_tokens, first.budget_hit) == ("length", 1, True)
    assert (first.temperature, first.generation_seconds, first.trajectory_id) == (0.7, 0.5, "1-1/0")
    assert [t.length for t in groups[0].trajectories] == [0, 2]
    again = repack([first, second])
    assert [ids.tolist() for ids in again.token_ids()] == [[5, 6, 7], [8]]
