"""Filters by length, loops, difficulty and turn; filters of tokens. Numbers by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.trainer_core.batches import group, rewarded, trajectory
from trainer_core.episodes import PER_TOKEN, Group
from trainer_core.methods import filters
from trainer_core.methods.filters import keep
from trainer_core.methods.filters.repetition import repeats_at_end
from trainer_core.spec.methods.filters import (
    HighEntropyTokensFilter,
    LengthOutliersFilter,
    MasteredTokensFilter,
    OverlongFilter,
    RecompositionFilter,
    RepetitionFilter,
)


def reasons(batch: list[Group]) -> list[list[str | None]]:
    return [[t.excluded for t in group.trajectories] for group in batch]


def lengths(reward: float, *lengths: int, index: int = 0) -> Group:
    return group([trajectory(reward, length=n) for n in lengths], index=index)


def ids(*tokens: int) -> np.ndarray:
    return np.array(tokens, np.int32)


def test_overlong_has_a_limit_of_its_own() -> None:
    batch = [lengths(1.0, 4, 5, 6)]
    filters.apply((OverlongFilter(max_tokens=5),), batch)
    assert reasons(batch) == [[None, None, "overlong"]]


@pytest.mark.parametrize(
    ("tokens", "period", "expected"),
    [
        (ids(), 4, 0),
        (ids(7), 4, 1),
        (ids(1, 2, 3, 4), 4, 1),
        (ids(9, 5, 5, 5), 4, 3),
        (ids(9, 1, 2, 1, 2, 1, 2), 4, 3),
        (ids(9, 1, 2, 1, 2, 1, 2, 0), 4, 3),  # its end-of-sequence token stands behind the loop
        (ids(2, 1, 2, 1, 2), 4, 2),  # half a pattern is none
        (ids(1, 2, 3, 1, 2, 3), 2, 1),  # the pattern is longer than what is looked for
        (ids(5, 5, 5, 1, 2, 3), 4, 1),  # a loop that was left
    ],
)
def test_repeats_at_the_end(tokens: np.ndarray, period: int, expected: int) -> None:
    other = ids(1, 3, 3, 3, 3, 3, 3, 3)
    assert repeats_at_end([other, tokens, other], period) == [7, expected, 7]


def test_loops_are_left_out_whoever_found_them() -> None:
    loop = trajectory(0.0, length=8, token_ids=np.array([3, 1, 2, 1, 2, 1, 2, 0], np.int32))
    stopped = trajectory(0.0, finish_reason="repetition")
    batch = [group([trajectory(1.0), loop, stopped])]
    filters.apply((RepetitionFilter(max_period=4, min_repeats=3),), batch)
    assert reasons(batch) == [[None, "repetition", "repetition"]]


def test_outliers_of_mastered_groups_are_cut_before_advantages_are_made() -> None:
    # Eleven of 10 tokens and one of 130: mean 20, sample deviation 120/√12 = 34.64; two deviations above: 89.28.
    batch = [lengths(1.0, *[10] * 11, 130)]
    long = batch[0].trajectories[-1]
    long.verdict = replace(long.verdict, parts={"right": 1.0})
    long.top_ids, long.top_logprobs = np.zeros((130, 2), np.int32), np.zeros((130, 2), np.float32)
    filters.prepare((LengthOutliersFilter(deviations=2.0),), batch)
    cut = math.floor(20 + 2 * 120 / math.sqrt(12))
    assert cut == 89 and long.length == cut and long.reward == 0.0 and long.finish_reason == "length"
    assert long.verdict.parts == {"right": 1.0, "outlier": -1.0}
    assert {len(getattr(long, name)) for name in PER_TOKEN if getattr(long, name) is not None} == {cut}
    assert all(t.length == 10 and t.reward == 1.0 for t in batch[0].trajectories[:-1])


@pytest.mark.parametrize(
    ("batch", "spec"),
    [
        ([group([trajectory(1.0, length=n) for n in [10] * 11] + [trajectory(0.0, length=130)])], {}),  # one is wrong
        ([lengths(1.0, *[10] * 11, 130)], {"margin": 42}),  # 41 tokens too many
        ([lengths(1.0, *[10] * 11, 130)], {"deviations": 3.2}),  # beyond (n − 1)/√n = 3.18 nothing lies
        ([group([*lengths(1.0, *[10] * 11, 130).trajectories, trajectory(None)])], {}),  # one is unknown
        ([lengths(1.0, 200)], {}),  # one sample has no deviation
    ],
)
def test_whoever_is_not_an_outlier_of_a_mastered_group_is_left_alone(batch: list[Group], spec: dict) -> None:
    before = [[(t.length, t.reward) for t in g.trajectories] for g in batch]
    filters.prepare((LengthOutliersFilter(**{"deviations": 2.0, **spec}),), batch)
    assert [[(t.length, t.reward) for t in g.trajectories] for g in batch] == before


def recomposed(step: int) -> list[list[str | None]]:
    mixed = [trajectory(1.0, length=n) for n in (5, 9)] + [trajectory(0.0, length=n) for n in (4, 8, 6)]
    batch = [group(mixed), lengths(1.0, 7, 6, index=1)]
    batch[1].trajectories[1].excluded = "zero_advantage"
    for g in batch:
        g.group_id = g.group_id.replace("1-", f"{step}-")
    filters.apply((RecompositionFilter(share=0.5, compensation_every=3),), batch)
    return reasons(batch)


def test_short_right_and_long_wrong_answers_have_priority_and_the_others_their_turn() -> None:
    # Right by length 5, 7, 9: two of three; wrong by length 8, 6, 4: two of three.
    rests = "recomposed"
    assert recomposed(1) == [[None, rests, rests, None, None], [None, "zero_advantage"]]
    assert recomposed(3) == [[rests, None, None, rests, rests], [rests, "zero_advantage"]]


def test_filters_of_tokens_leave_trajectories_alone() -> None:
    batch = [rewarded(1.0, 0.0)]
    chosen = (HighEntropyTokensFilter(), MasteredTokensFilter(), LengthOutliersFilter())
    filters.apply(chosen, batch)
    assert reasons(batch) == [[None, None]]


def test_the_share_of_highest_entropy_is_kept() -> None:
    entropies = torch.tensor([0.1, 0.9, 0.5, 0.2, 0.7, 0.0, 0.3, 0.4, 0.6, 0.8])
    assert keep(HighEntropyTokensFilter(share=0.2), entropies, entropies, entropies).nonzero().flatten().tolist() == [
        1,
        9,
    ]
    assert keep(HighEntropyTokensFilter(share=1.0), entropies, entropies, entropies).all()
    assert keep(HighEntropyTokensFilter(share=0.01), entropies, entropies, entropies).sum() == 1
    assert keep(HighEntropyTokensFilter(share=0.5), torch.ones(4), torch.ones(4), torch.ones(4)).all()
    assert len(keep(HighEntropyTokensFilter(), torch.zeros(0), torch.zeros(0), torch.zeros(0))) == 0


def test_mastered_tokens_of_right_answers_rest_while_entropy_is_low() -> None:
    spec = MasteredTokensFilter(probability=0.9, target_entropy=0.2)
    logprobs = torch.tensor([0.95, 0.95, 0.5, 0.89]).log()
    rewards = torch.tensor([1.0, 0.0, 1.0, 1.0])
    low, high = torch.full((4,), 0.1), torch.full((4,), 0.2)
    assert keep(spec, logprobs, low, rewards).tolist() == [False, True, True, True]
    assert keep(spec, logprobs, high, rewards).all()
    assert len(keep(spec, torch.zeros(0), torch.zeros(0), torch.zeros(0))) == 0
