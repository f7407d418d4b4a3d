"""Fixtures that several kinds of tests share, and which tests share a process where several processes run them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import engine
from xdist.scheduler import LoadScopeScheduling

from tests.support.hub_server import HubServer
from tests.support.installation import Installation

pytest_plugins = ("tests.suite.plugin",)
# A failure is reported with the simplest case that was found in this time. The default, 300 s, is a test's time-out,
# which ends the process: the failure would be lost.
engine.MAX_SHRINKING_SECONDS = 60
# The machine may be busy: how long an example takes says nothing about it.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", settings.get_profile("busy"), derandomize=True)
TESTS = Path(__file__).parent
ROOMS = {
    "worker/loop": "cluster",
    "worker/jobs/rehearsal": "cluster",
    "worker/jobs/profile": "cluster",
    "chaos": "installation",
    "e2e": "installation",
    "worker/engine": "engine",
    "worker/judge": "engine",
    "worker/gateway": "engine",
    "worker/jobs/serving": "engine",
    "worker/learner": "learner",
    "worker/jobs/bench": "learner",
}
"""Rooms whose tests share what is slow to start: Ray, a whole installation, or engines."""

TRAINS = ("cluster", "installation")
"""What trains runs in one process, one after the other: two runs that share two cores take four times as long."""

ORDER = (*TRAINS, None, "engine", "learner")
WARM = "warm_loop"
"""An engine and a learner that are kept between runs, and hold processors that other runs would wait for."""


def pytest_configure(config: pytest.Config) -> None:
    """CI draws the same examples in every run, so a change fails for what it changes; other runs draw new ones."""
    settings.load_profile("same" if config.getoption("tier") == "change" else "busy")


def shared_by(path: str) -> str | None:
    """What the tests of this file (relative to ``tests/``) share, if it is slow to start."""
    return next((shared for room, shared in ROOMS.items() if path.startswith(f"{room}/")), None)


class RoomScheduling(LoadScopeScheduling):
    """One process runs all tests that train, those of a cluster before those of an installation; others the rest."""

    def _split_scope(self, nodeid: str) -> str:
        path = nodeid.split("::")[0].removeprefix("tests/")
        shared = shared_by(path)
        return "trains" if shared in TRAINS else shared or path


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> RoomScheduling:
    """See xdist."""
    return RoomScheduling(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What trains goes first, as it takes longest; what is kept warm comes last in it. Engines come last of all: they
    change the environment of their process."""

    def rank(item: pytest.Item) -> tuple[int, bool]:
        shared = shared_by(item.path.relative_to(TESTS).as_posix())
        return ORDER.index(shared), WARM in getattr(item, "fixturenames", ())

    items.sort(key=rank)


@pytest.fixture(scope="session")
def hub_server() -> Iterator[HubServer]:
    """The hub that the installation imports policies from; tests put repositories into it."""
    server = HubServer()
    yield server
    server.close()


@pytest.fixture(scope="session")
def installation(hub_server: HubServer) -> Iterator[Installation]:
    """A whole installation, started once: chaos and browser tests train short runs of their own in it."""
    with Installation(HF_ENDPOINT=hub_server.url) as up:
        yield up
