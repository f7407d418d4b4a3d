"""Samples that the loss leaves out: whether they count in the mean and deviation of their group."""

from typing import Any

import numpy as np
import pytest

from tests.trainer_core.batches import group, trajectory
from tests.trainer_core.specs import spec
from trainer_core.episodes import Group
from worker.loop.advantages import assign_advantages

DR_GRPO = {"type": "dr_grpo"}


def advantages(groups: list[Group], counted: str, **parts: Any) -> list[float]:
    assign_advantages(groups, spec(advantage={**DR_GRPO, "counted": counted}, **parts))
    return [t.advantage for one in groups for t in one.trajectories]


def unsampled(reward: float) -> Any:
    """A trajectory whose tokens were all forced."""
    return trajectory(reward, length=2, sampled=np.zeros(2, np.bool_))


@pytest.mark.parametrize(("counted", "wanted"), [("all", [49.5, -49.5]), ("learned", [0.0, 0.0])])
def test_a_sample_without_a_sampled_token(counted: str, wanted: list[float]) -> None:
    assert advantages([group([unsampled(100.0), trajectory(1.0)])], counted) == wanted


@pytest.mark.parametrize(("counted", "wanted"), [("all", [2.0, -1.0, -1.0]), ("learned", [0.0, -0.5, 0.5])])
@pytest.mark.parametrize("chosen", [{"type": "truncated"}, {"type": "overlong", "max_tokens": 4}])
def test_a_sample_that_a_filter_leaves_out_for_its_length(
    chosen: dict[str, Any], counted: str, wanted: list[float]
) -> None:
    rewards = (3.0, 0.0, 0.0) if counted == "all" else (3.0, 0.0, 1.0)
    one, other = (trajectory(reward, length=4) for reward in rewards[1:])
    cut = trajectory(rewards[0], length=9, finish_reason="length")
    made = [group([cut, one, other])]
    assert advantages(made, counted, filters=[chosen]) == wanted
    assert [t.excluded for t in made[0].trajectories] == [chosen["type"], None, None]


def test_without_a_filter_a_long_sample_is_learned_from_and_counts() -> None:
    made = [group([trajectory(2.0, finish_reason="length"), trajectory(0.0)])]
    assert advantages(made, "learned", filters=[]) == [1.0, -1.0]


def test_a_group_whose_learned_rewards_are_equal_carries_no_signal() -> None:
    """The cut sample alone differs: under ``learned`` the filter of equal rewards sees no difference."""
    parts = {"filters": [{"type": "truncated"}, {"type": "zero_advantage"}]}
    for counted, reason in (("all", None), ("learned", "zero_advantage")):
        made = [group([trajectory(5.0, finish_reason="length"), trajectory(1.0), trajectory(1.0)])]
        advantages(made, counted, **parts)
        assert [t.excluded for t in made[0].trajectories] == ["truncated", reason, reason]


def test_specs_from_earlier_releases_count_all() -> None:
    assert spec(advantage=DR_GRPO).advantage.counted == "all"  # type: ignore[attr-defined]
