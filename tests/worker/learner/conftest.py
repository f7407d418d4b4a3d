"""Policies of the learner's tests, and ranks that are kept between them."""

from collections.abc import Iterator

import pytest

from tests.support.kept_ranks import KeptRanks
from tests.trainer_core.update.conftest import policy_dir
from tests.worker.engine.conftest import tied_policy

__all__ = ["policy_dir", "tied_policy"]


@pytest.fixture(scope="session")
def ranks_of_the_session(cluster: None) -> Iterator[KeptRanks]:
    made = KeptRanks(num_cpus=0)
    made.bring_up(1, 2)
    yield made
    made.end()


@pytest.fixture
def kept_ranks(ranks_of_the_session: KeptRanks, monkeypatch: pytest.MonkeyPatch) -> Iterator[KeptRanks]:
    """Groups of this test get the processes of groups before it."""
    monkeypatch.setattr("worker.learner.ranks.ray", ranks_of_the_session)
    yield ranks_of_the_session
    ranks_of_the_session.settle()


@pytest.fixture
def doomed_ranks(kept_ranks: KeptRanks) -> KeptRanks:
    """For tests that kill ranks: they come last."""
    return kept_ranks


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that kill the ranks that others use come last."""
    items.sort(key=lambda item: "doomed_ranks" in getattr(item, "fixturenames", ()))
