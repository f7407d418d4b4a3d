"""What runs on a card: ``make test-gpu``. Each test says in words why it is skipped where there is none.

Tests that are cheap at a tiny size take a ``device`` and run on the CPU too, in ``make test``: they cannot rot unseen.
What takes several cards says so: ``pytest.mark.gpu(2)``.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from tests.support.cards import missing_card
from tests.trainer_core.update.conftest import policy_dir
from tests.worker.loop.conftest import platform
from trainer_core.update.device import settle

__all__ = ["platform", "policy_dir"]

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs a card: everything here but what is given the CPU as its device."""
    for item in items:
        own = HERE in item.path.parents and item.get_closest_marker("gpu") is None
        if own and (not isinstance(item, pytest.Function) or "cpu" not in _parameters(item)):
            item.add_marker(pytest.mark.gpu)


def _parameters(item: pytest.Function) -> list[object]:
    return list(item.callspec.params.values()) if hasattr(item, "callspec") else []


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs a card, before anything is started for it."""
    marked = item.get_closest_marker("gpu")
    if marked is not None and (reason := missing_card(*marked.args)) is not None:
        pytest.skip(reason)


@pytest.fixture(autouse=True)
def card(request: pytest.FixtureRequest) -> Iterator[None]:
    """Nothing of one test may be under way in the next."""
    yield
    if request.node.get_closest_marker("gpu") is not None:
        settle(torch.device("cuda"))


@pytest.fixture(params=["cpu", "cuda"])
def device(request: pytest.FixtureRequest) -> str:
    """Device by name: the CPU everywhere, a card where there is one."""
    return str(request.param)
