"""The ledger of what tests cost."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.suite.costs import Ledger, read

Measure = Callable[[float, float], tuple[float, float]]
CHEAP, DEAR = "tests/suite/test_costs.py::cheap", "tests/suite/test_costs.py::dear"


@pytest.fixture
def measure(tmp_path: Path) -> Measure:
    """``measure(cheap, dear)``: what the ledger says of both tests after they were measured at these costs."""
    path = tmp_path / "costs.json"

    def once(cheap: float, dear: float) -> tuple[float, float]:
        ledger = Ledger()
        ledger.tests = {CHEAP: cheap, DEAR: dear}
        ledger.merge_into(path)
        found = read(path)["tests"]
        return found.get(CHEAP, 0.0), found.get(DEAR, 0.0)

    return once


def test_a_cheap_test_that_is_measured_as_dear_once_stays_cheap(measure: Measure) -> None:
    assert measure(0.5, 3.0) == (0.5, 3.0)
    assert measure(2.0, 4.0) == (0.5, 4.0)
    assert measure(0.6, 3.0) == (0.6, 3.0)


def test_the_second_time_in_a_row_it_counts(measure: Measure) -> None:
    measure(0.5, 3.0)
    assert measure(2.0, 3.0) == (0.5, 3.0)
    assert measure(2.5, 3.0) == (2.5, 3.0)


def test_a_file_that_was_never_measured_counts_at_once(measure: Measure) -> None:
    assert measure(2.0, 3.0) == (2.0, 3.0)
