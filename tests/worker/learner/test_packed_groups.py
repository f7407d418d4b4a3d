"""Groups that travel as columns come out as they went in, and cost little on the way."""

import pickle
from dataclasses import fields, replace

import numpy as np
import pytest

from tests.trainer_core.update.making import make_groups
from trainer_core.episodes import ARRAYS, Group, Trajectory
from worker.messages.columns import Column
from worker.messages.packed_groups import PackedGroups


def filled() -> list[Group]:
    """Groups of different sizes whose trajectories have, here and there, everything that a trajectory can have."""
    groups = make_groups(5, groups=3, samples=4, longest=9)
    groups[1].trajectories.clear()
    groups[2].trajectories.pop()
    for number, one in enumerate(t for group in groups for t in group.trajectories):
        shadow_errors = {"b@1": "no"} if number % 2 else {}
        one.verdict = replace(one.verdict, parts={"a": float(number)}, shadow_errors=shadow_errors)
        one.routes = np.full((len(one.prompt_ids) + one.length - 1, 2, 2), number, np.uint8)
        if number % 3 == 0:
            one.token_advantages = np.arange(one.length, dtype=np.float32)
            one.step_starts, one.state_values = np.array([0], np.int32), np.array([0.25])
    return groups


def same(left: Trajectory, right: Trajectory) -> None:
    for field in fields(Trajectory):
        a, b = getattr(left, field.name), getattr(right, field.name)
        if isinstance(a, np.ndarray):
            assert a.dtype == b.dtype, field.name
            np.testing.assert_array_equal(a, b)
        else:
            assert a == b, field.name


def test_what_comes_out_is_what_went_in() -> None:
    groups = filled()
    found = pickle.loads(pickle.dumps(PackedGroups.of(groups))).groups()
    assert [replace(group, trajectories=[]) for group in found] == [replace(group, trajectories=[]) for group in groups]
    for group, other in zip(groups, found, strict=True):
        assert len(group.trajectories) == len(other.trajectories)
        for left, right in zip(group.trajectories, other.trajectories, strict=True):
            same(left, right)
    assert PackedGroups.of([]).groups() == []


def test_every_array_has_its_column() -> None:
    others = {field.name for field in fields(Trajectory)} - set(ARRAYS)
    assert not any("ndarray" in str(Trajectory.__annotations__[name]) for name in others)
    assert all("ndarray" in str(Trajectory.__annotations__[name]) for name in ARRAYS)


def test_fields_can_stay_behind_and_the_groups_are_not_touched() -> None:
    groups = filled()
    for group in groups:
        for one in group.trajectories:
            one.entropy = np.zeros(one.length, np.float32)
    found = PackedGroups.of(groups, without=["entropy"]).groups()
    assert {t.entropy is None for group in found for t in group.trajectories} == {True}
    assert {t.entropy is None for group in groups for t in group.trajectories} == {False}


def test_an_array_that_many_share_travels_once() -> None:
    prompt = np.arange(1000, dtype=np.int32)
    column = Column.of([prompt, None, prompt])
    assert column is not None and len(column.values) == 1000
    assert [None if one is None else len(one) for one in column.arrays()] == [1000, None, 1000]
    assert Column.of([None, None]) is None


@pytest.mark.parametrize(
    ("first", "second"),
    [(np.zeros(2, np.uint8), np.zeros(3, np.int16)), (np.zeros((2, 4)), np.zeros((3, 5))), (np.zeros(0), np.ones(2))],
)
def test_types_and_shapes_are_kept(first: np.ndarray, second: np.ndarray) -> None:
    column = Column.of([first, second])
    assert column is not None
    for before, after in zip([first, second], column.arrays(), strict=True):
        assert after is not None and after.dtype == before.dtype
        np.testing.assert_array_equal(before, after)
