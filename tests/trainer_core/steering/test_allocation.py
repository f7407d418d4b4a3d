"""How many samples each prompt gets."""

import itertools
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.trainer_core.specs import spec, weighted
from trainer_core.spec.data.batching import DARSAllocation, KnapsackAllocation, UncertaintyAllocation
from trainer_core.steering.curriculum import Curriculum
from trainer_core.steering.curriculum.allocation import dars, knapsack, uncertainty


def allotted(**allocation: Any) -> Any:
    return spec(data=weighted(sums=1.0), batching={"allocation": allocation}, rollout={"group_size": 8})


@pytest.mark.parametrize(
    ("schedule", "rate", "expected"),
    [
        # 8 · 0.5 / (2 · 0.2 · 0.8) = 12.5; 8 · 0.8 / (2 · 0.2 · 0.8) = 20.
        ("equal_treatment", 0.2, 13),
        ("hardness_weighted", 0.2, 20),
        ("equal_treatment", 0.5, 8),
        ("hardness_weighted", 0.9, 8),
        ("equal_treatment", 1.0, 8),
        # Never solved: half a success in 8. 8 · 0.5 / (2 · 1/16 · 15/16) = 34.1; 8 / (2 · 1/16) = 64.
        ("equal_treatment", 0.0, 35),
        ("hardness_weighted", 0.0, 64),
        ("hardness_weighted", 0.01, 100),
    ],
)
def test_dars_by_hand(schedule: str, rate: float, expected: int) -> None:
    assert dars(DARSAllocation(schedule=schedule, max_samples=100), rate, 8) == expected


@settings(deadline=None)
@given(st.floats(0.0, 1.0), st.integers(2, 64), st.integers(0, 100), st.booleans())
def test_dars_is_the_rule_of_the_authors(rate: float, size: int, room: int, hard: bool) -> None:
    spec_ = DARSAllocation(schedule="hardness_weighted" if hard else "equal_treatment", max_samples=size + room)
    p = 0.5 / size if rate <= 1e-6 else rate
    extra = 0
    if p < 0.5:
        sum_of_advantages = size * 2 * p * (1 - p)
        wanted = 2 * (1 - p) * 0.5 * size if hard else 0.5 * size
        extra = min(math.ceil((wanted - sum_of_advantages) / (2 * p * (1 - p)) - 1e-6), room)
    found = dars(spec_, 0.0 if rate <= 1e-6 else rate, size)
    assert abs(found - (size + extra)) <= (1 if room else 0)
    assert size <= found <= size + room


def test_a_prompt_never_tried_gets_the_group_size() -> None:
    curriculum = Curriculum(allotted(type="dars", decay=0.0), {"sums": [{"prompt": ""}] * 2}, 0)
    assert {draw.samples for draw in curriculum.draw(2)} == {8}
    curriculum.observe("sums:0", 0.2)
    assert {draw.row_index: draw.samples for draw in curriculum.draw(2)} == {0: 13, 1: 8}
    assert {draw.samples for draw in Curriculum(spec(), {"sums": [{}], "products": [{}]}, 0).draw(9)} == {8}


def greedy(spread: list[float], low: int, high: int, total: int) -> list[int]:
    """The same plan, one sample at a time, without a queue."""
    sizes = [low] * len(spread)
    while sum(sizes) < total:
        gains = [
            s * (1 / math.sqrt(n) - 1 / math.sqrt(n + 1)) if n < high else -1.0
            for s, n in zip(spread, sizes, strict=True)
        ]
        sizes[gains.index(max(gains))] += 1
    return sizes


def test_uncertainty_by_hand() -> None:
    # 4 prompts of 4 samples: two that are certain, two that are not.
    found = uncertainty(UncertaintyAllocation(min_samples=2, max_samples=8), [0.0, 1.0, 0.5, None], [98, 98, 98, 0], 4)
    assert found == [2, 2, 6, 6]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.one_of(st.none(), st.floats(0.0, 1.0)), st.integers(0, 50)), min_size=1, max_size=10),
    st.integers(2, 4),
    st.integers(4, 12),
    st.floats(0.0, 1.0),
)
def test_uncertainty_spends_the_same_in_all_and_keeps_its_limits(
    prompts: list[tuple[float | None, int]], low: int, high: int, bonus: float
) -> None:
    rates = [rate for rate, _ in prompts]
    seen = [0 if rate is None else count for rate, count in prompts]
    found = uncertainty(UncertaintyAllocation(min_samples=low, max_samples=high, bonus=bonus), rates, seen, 4)
    assert sum(found) == 4 * len(prompts)
    assert all(low <= samples <= high for samples in found)
    if bonus == 0.0:
        smoothed = [((0.5 if r is None else r) * n + 1) / (n + 2) for r, n in zip(rates, seen, strict=True)]
        expected = greedy([math.sqrt(p * (1 - p)) for p in smoothed], low, high, 4 * len(prompts))
        assert sorted(found) == sorted(expected)


def test_the_bonus_favours_what_was_seldom_tried() -> None:
    plain = uncertainty(UncertaintyAllocation(), [0.5, 0.5], [1000, 10], 8)
    favoured = uncertainty(UncertaintyAllocation(bonus=5.0), [0.5, 0.5], [1000, 10], 8)
    assert plain == [8, 8] and favoured[1] > favoured[0]


@pytest.mark.parametrize(
    ("allocation", "path", "message"),
    [
        ({"type": "dars", "max_samples": 7}, ("max_samples",), r"max_samples \(7\) must not be below the group size"),
        ({"type": "uncertainty", "max_samples": 7}, ("max_samples",), r"max_samples \(7\)"),
        ({"type": "uncertainty", "min_samples": 9}, ("min_samples",), r"min_samples \(9\) must not be above"),
    ],
)
def test_sizes_without_room_are_refused(allocation: dict[str, Any], path: tuple[str, ...], message: str) -> None:
    with pytest.raises(ValidationError, match=message) as refused:
        allotted(**allocation)
    assert [error["loc"] for error in refused.value.errors()] == [("batching", "allocation", *path)]


def test_the_kind_of_allocation_cannot_change() -> None:
    curriculum = Curriculum(allotted(type="dars"), {"sums": [{"prompt": ""}]}, 0)
    with pytest.raises(ValueError, match="allocation"):
        curriculum.update_spec(allotted(type="equal"))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=4), st.integers(2, 4), st.integers(0, 3))
def test_knapsack_is_the_best_of_all_divisions(rates: list[float], size: int, room: int) -> None:
    """Against every division of the samples, by the published value of a prompt."""
    limits = KnapsackAllocation(min_samples=2, max_samples=size + room)

    def worth(sizes: tuple[int, ...]) -> float:
        kept = [min(max(rate, 0.5 / size), 1 - 0.5 / size) for rate in rates]
        return sum((1 - p**n - (1 - p) ** n) * p * (1 - p) ** 2 for p, n in zip(kept, sizes, strict=True))

    divisions = itertools.product(range(2, size + room + 1), repeat=len(rates))
    best = max(worth(sizes) for sizes in divisions if sum(sizes) == size * len(rates))
    found = knapsack(limits, rates, size)
    assert sum(found) == size * len(rates) and all(2 <= n <= size + room for n in found)
    assert worth(tuple(found)) == pytest.approx(best, rel=1e-9)


def test_knapsack_by_hand() -> None:
    """The second and third sample of p = 1/2 add 1/4 · 1/8; a prompt that is always solved gets what is left."""
    limits = KnapsackAllocation(min_samples=2, max_samples=8)
    assert knapsack(limits, [0.5, 0.5], 4) == [4, 4]
    assert knapsack(limits, [None, None], 4) == [4, 4]
    assert knapsack(limits, [0.3, 1.0], 4) == [6, 2]
    assert knapsack(limits, [1.0, 1.0], 4) == [4, 4]


@pytest.mark.parametrize(
    ("allocation", "told"),
    [
        ({"min_samples": 9, "max_samples": 8}, "min_samples must not be above max_samples"),
        ({"min_samples": 9, "max_samples": 9}, "must not be above the group size"),
        ({"max_samples": 7}, "must not be below the group size"),
    ],
)
def test_limits_of_a_knapsack_leave_the_group_size_room(allocation: dict[str, int], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        allotted(type="knapsack", **allocation)
