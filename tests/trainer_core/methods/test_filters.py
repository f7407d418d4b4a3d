"""Filters: who is left out, and why."""

from typing import Any

import pytest

from tests.trainer_core.batches import group, rewarded, trajectory
from tests.trainer_core.update.making import make_spec
from trainer_core.episodes import Group
from trainer_core.methods import filters
from trainer_core.spec.methods.filters import TruncatedFilter, ZeroAdvantageFilter


def reasons(batch: list[Group]) -> list[list[str | None]]:
    return [[t.excluded for t in group.trajectories] for group in batch]


def test_groups_of_equal_rewards_are_left_out() -> None:
    batch = [rewarded(1.0, 1.0), rewarded(1.0, 0.0), rewarded(0.5)]
    filters.apply((ZeroAdvantageFilter(),), batch)
    assert reasons(batch) == [["zero_advantage"] * 2, [None] * 2, ["zero_advantage"]]


def test_tolerance_is_part_of_equal() -> None:
    batch = [rewarded(0.5, 0.625), rewarded(0.5, 0.626)]
    filters.apply((ZeroAdvantageFilter(tolerance=0.125),), batch)
    assert reasons(batch) == [["zero_advantage"] * 2, [None] * 2]


def test_failed_rewards_do_not_make_a_group_unequal_and_keep_their_reason() -> None:
    batch = [group([trajectory(1.0), trajectory(1.0), trajectory(None, excluded="reward_error")])]
    filters.apply((ZeroAdvantageFilter(),), batch)
    assert reasons(batch) == [["zero_advantage", "zero_advantage", "reward_error"]]


def test_a_failure_that_is_left_out_but_scored_zero_does_not_make_a_group_unequal() -> None:
    batch = [group([trajectory(1.0), trajectory(1.0), trajectory(0.0, excluded="reward_error")])]
    filters.apply((ZeroAdvantageFilter(),), batch)
    assert reasons(batch) == [["zero_advantage", "zero_advantage", "reward_error"]]


def test_cut_completions_are_left_out_one_by_one() -> None:
    batch = [
        group([trajectory(1.0, finish_reason="length"), trajectory(0.0), trajectory(0.0, finish_reason="aborted")])
    ]
    filters.apply((TruncatedFilter(),), batch)
    assert reasons(batch) == [["truncated", None, None]]


def test_the_first_reason_stays() -> None:
    def batch() -> list[Group]:
        failed = trajectory(None, finish_reason="length", excluded="reward_error")
        return [group([trajectory(1.0, finish_reason="length"), trajectory(1.0), failed])]

    for order, expected in (
        ((TruncatedFilter(), ZeroAdvantageFilter()), ["truncated", "zero_advantage", "reward_error"]),
        ((ZeroAdvantageFilter(), TruncatedFilter()), ["zero_advantage", "zero_advantage", "reward_error"]),
    ):
        groups = batch()
        filters.apply(order, groups)
        assert reasons(groups) == [expected]


def test_no_filter_leaves_nobody_out() -> None:
    batch = [rewarded(1.0, 1.0)]
    filters.apply((), batch)
    assert reasons(batch) == [[None, None]]


def test_equal_sums_of_different_parts_are_kept_where_parts_are_compared() -> None:
    batch = [rewarded(1.0, 1.0), rewarded(1.0, 1.0)]
    batch[0].trajectories[0].earn(0.5)
    filters.apply((ZeroAdvantageFilter(),), batch, "parts")
    assert reasons(batch) == [[None] * 2, ["zero_advantage"] * 2]


def test_equal_rewards_are_kept_where_the_batch_or_a_critic_is_the_measure() -> None:
    batch = [rewarded(1.0, 1.0), rewarded(1.0)]
    filters.apply((ZeroAdvantageFilter(),), batch, "batch")
    filters.apply((ZeroAdvantageFilter(),), batch, "value")
    filters.apply((ZeroAdvantageFilter(),), batch, "penalised")
    assert reasons(batch) == [[None] * 2, [None]]


@pytest.mark.parametrize(
    ("advantage", "kl", "compares"),
    [
        ("grpo", {}, "group"),
        ("grpo", {"coefficient": 0.1}, "group"),
        ("grpo", {"placement": "reward"}, "group"),
        ("grpo", {"coefficient": 0.1, "placement": "reward"}, "penalised"),
        ("rloo", {"coefficient": 0.1, "placement": "reward"}, "penalised"),
        ("gdpo", {"coefficient": 0.1, "placement": "reward"}, "penalised"),
        ("reinforce_pp", {"coefficient": 0.1, "placement": "reward"}, "batch"),
    ],
)
def test_filters_are_told_of_a_penalty_inside_the_advantages(advantage: str, kl: dict[str, Any], compares: str) -> None:
    assert make_spec(advantage={"type": advantage}, kl=kl).compares == compares
