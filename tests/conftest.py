"""Fixtures that several kinds of tests share."""

from collections.abc import Iterator

import pytest

from tests.support.installation import Installation


@pytest.fixture(scope="session")
def installation() -> Iterator[Installation]:
    """A whole installation, started once: chaos and browser tests train short runs of their own in it."""
    with Installation() as up:
        yield up
