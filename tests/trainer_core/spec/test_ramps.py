"""Values between the two ends of a ramp."""

from typing import Any

import pytest

from trainer_core.spec.ramps import can_ramp, ramp_value


def test_each_step_moves_by_the_same_part_of_the_way() -> None:
    assert [ramp_value(1.0, 2.0, 4, number) for number in range(7)] == [1.0, 1.25, 1.5, 1.75, 2.0, 2.0, 2.0]
    assert [ramp_value(0.9, 0.3, 3, number) for number in (1, 2, 3)] == pytest.approx([0.7, 0.5, 0.3])
    assert ramp_value(0.1, 0.3, 3, 3) == 0.3, "the end is the value itself, whatever the sums make of it"


def test_whole_numbers_stay_whole() -> None:
    values = [ramp_value(20, 30, 4, number) for number in (1, 2, 3, 4)]
    assert values == [22, 25, 28, 30]
    assert all(isinstance(value, int) for value in values)


@pytest.mark.parametrize(
    ("before", "value", "can"),
    [(1, 2.5, True), (None, 20, False), (20, None, False), (True, False, False), ("a@1", "b@1", False)],
)
def test_only_numbers_have_values_between(before: Any, value: Any, can: bool) -> None:
    assert can_ramp(before, value) is can
