"""The tokens that are kept for the console."""

import json
import time

import numpy as np
import pytest

from tests.trainer_core.batches import group, trajectory
from trainer_core.diagnosis import worst_tokens
from trainer_core.episodes import Group


def scored(*differences: float, sampled: list[bool] | None = None, version: int = 3) -> object:
    length = len(differences)
    return trajectory(
        length=length,
        token_ids=np.arange(10, 10 + length, dtype=np.int32),
        learner_logprobs=np.array(differences, np.float32) - 1.0,
        sampled=np.array(sampled if sampled is not None else [True] * length),
        versions=np.full(length, version, np.int32),
    )


def groups() -> list[Group]:
    return [
        group([scored(0.5, -3.0), scored(0.25)], index=0),  # type: ignore[list-item]
        group([trajectory(), scored(9.0, 1.0, 2.0, sampled=[False, True, True], version=1)], index=1),  # type: ignore[list-item]
    ]


def test_worst_first_with_all_that_the_console_shows() -> None:
    found = worst_tokens(groups(), 2)
    assert found == [
        {
            "group_id": "1-0",
            "sample": 0,
            "position": 1,
            "token_id": 11,
            "behaviour_logprob": -1.0,
            "learner_logprob": -4.0,
            "version": 3,
        },
        {
            "group_id": "1-1",
            "sample": 1,
            "position": 2,
            "token_id": 12,
            "behaviour_logprob": -1.0,
            "learner_logprob": 1.0,
            "version": 1,
        },
    ]
    assert json.loads(json.dumps(found)) == found


def test_fewer_tokens_than_asked_for_come_all_and_forced_ones_never() -> None:
    found = worst_tokens(groups())
    assert [(token["group_id"], token["position"]) for token in found] == [
        ("1-0", 1),
        ("1-1", 2),
        ("1-1", 1),
        ("1-0", 0),
        ("1-0", 0),
    ]
    assert worst_tokens(groups(), 0) == []
    assert worst_tokens([group([trajectory()])]) == worst_tokens([]) == []


def test_a_difference_that_is_not_a_number_comes_first() -> None:
    batch = [group([scored(5.0, float("nan"), 6.0)])]  # type: ignore[list-item]
    assert [token["position"] for token in worst_tokens(batch)] == [1, 2, 0]


@pytest.mark.timed
def test_a_step_costs_less_than_five_milliseconds() -> None:
    rng = np.random.default_rng(0)
    batch = [group([scored(*rng.normal(0, 0.1, 40)) for _ in range(8)], index=g) for g in range(32)]  # type: ignore[list-item]
    seconds = []
    for _ in range(7):
        started = time.thread_time()
        worst_tokens(batch)
        seconds.append(time.thread_time() - started)
    assert min(seconds) < 0.005
