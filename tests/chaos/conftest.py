"""One installation that all chaos tests share; each test trains a short run of its own in it."""

from collections.abc import Iterator

import pytest

from tests.support.installation import Installation


@pytest.fixture(scope="session")
def installation() -> Iterator[Installation]:
    with Installation() as up:
        yield up
