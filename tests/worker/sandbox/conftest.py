"""One pool of the jail for all tests of it."""

from collections.abc import Iterator

import pytest

from worker.sandbox.pool import JailPool


@pytest.fixture(scope="session")
def jail() -> Iterator[JailPool]:
    pool = JailPool()
    yield pool
    pool.close()
