"""A judge endpoint, and clients of it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.judge_endpoint import JudgeServer
from trainer_core.link import retry
from trainer_core.link.judge import JudgeEndpoint
from worker.judge.client import JudgeClient
from worker.judge.open import JudgeSetup, open_judges
from worker.judge.use import Tally


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    made = JudgeServer("fine")
    yield made
    made.close()


@pytest.fixture
def tally() -> Tally:
    return Tally()


@pytest.fixture
def open_client(server: JudgeServer, tally: Tally) -> Iterator[Callable[..., JudgeClient]]:
    """Makes clients whose endpoint ``default`` is the server."""
    clients = []

    def make(cache: Path | None = None, **settings: Any) -> JudgeClient:
        config = JudgeEndpoint.model_validate(
            {"base_url": server.url, "model": "m", "api_key": "sk-secret", **settings}
        )
        clients.append(open_judges(JudgeSetup({"default": config}, {}, cache), tally))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses between tries are as the program computes them, a hundred times shorter."""
    monkeypatch.setattr(retry, "FIRST_S", 0.005)
