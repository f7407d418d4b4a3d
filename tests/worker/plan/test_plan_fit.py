"""Stop-watch readings to rates, by hand."""

import pytest

from trainer_core.planning.fitting import line
from worker.plan.fit import decode_table, learner_line


def test_steps_are_binned_by_doublings_of_the_load() -> None:
    table = decode_table([(1, 0.1), (2, 0.1), (3, 0.2), (90, 0.5), (100, 0.6), (110, 9.0), (0, 9.0)])
    assert [point.running for point in table] == [1, 2.5, 100]
    # The median of each bin: a step that was interrupted does not count.
    assert [point.tokens_per_s for point in table] == pytest.approx([10, 2.5 / 0.15, 100 / 0.6])


def test_a_line_is_found_exactly() -> None:
    assert line([(100, 3.0), (200, 5.0), (300, 7.0)]) == pytest.approx((1.0, 0.02))
    assert learner_line([(100, 3.0), (300, 7.0)]) == pytest.approx((50.0, 1.0))


@pytest.mark.parametrize(
    ("points", "per_piece"),
    [
        ([(100, 1.0), (100.5, 1.2)], (100 * 1.0 + 100.5 * 1.2) / (100**2 + 100.5**2)),  # hardly a difference
        ([(100, 1.0), (200, 3.0)], (100 + 600) / 50_000),  # would need a negative fixed cost
        ([(100, 3.0), (200, 1.0)], (300 + 200) / 50_000),  # would make more work cheaper
        ([(100, 2.0)], 0.02),
    ],
)
def test_what_a_line_cannot_tell_is_not_made_up(points: list[tuple[float, float]], per_piece: float) -> None:
    assert line(points) == pytest.approx((0.0, per_piece))
