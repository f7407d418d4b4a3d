"""Fixtures that several kinds of tests share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.installation import Installation

TESTS = Path(__file__).parent
GROUPS = {"worker": "cluster", "chaos": "installation", "e2e": "installation"}
"""Rooms whose tests share what is slow to start: Ray and engines, or a whole installation."""


@pytest.hookimpl(tryfirst=True)  # before xdist reads the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where several processes run the tests (``--dist loadgroup``), what is shared starts in one of them only."""
    for item in items:
        room = item.path.relative_to(TESTS).parts[0]
        item.add_marker(pytest.mark.xdist_group(GROUPS.get(room, "light")))


@pytest.fixture(scope="session")
def installation() -> Iterator[Installation]:
    """A whole installation, started once: chaos and browser tests train short runs of their own in it."""
    with Installation() as up:
        yield up
