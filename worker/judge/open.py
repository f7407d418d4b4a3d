"""Sets up everything a process needs to ask judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trainer_core.link.judge import JudgeEndpoint
from worker.errors import StartError
from worker.judge.cache import AnswerCache
from worker.judge.client import JudgeClient
from worker.judge.endpoint import Endpoint
from worker.judge.http import HttpEndpoint
from worker.judge.served import ServedEndpoint
from worker.judge.use import Tally


@dataclass(frozen=True, slots=True)
class JudgeSetup:
    """Setup that a process needs to ask judges. Sent to reward workers."""

    endpoints: Mapping[str, JudgeEndpoint]
    """Endpoints by slug."""
    servers: Mapping[str, Any]
    """Ray actors for the endpoints that the cluster serves, by slug."""
    cache: Path | None = None
    """This process's cache file for answers."""

    def lend(self, slug: str, most: int) -> tuple[JudgeSetup, JudgeSetup]:
        """Split off a quarter of one endpoint's slots, at least one and at most ``most``. Returns (remaining, lent)."""
        endpoint = self.endpoints[slug]
        lent = min(most, max(1, endpoint.max_in_flight // 4))
        left = endpoint.model_copy(update={"max_in_flight": max(1, endpoint.max_in_flight - lent)})
        own = endpoint.model_copy(update={"max_in_flight": lent})
        return replace(self, endpoints={**self.endpoints, slug: left}), replace(self, endpoints={slug: own})

    def shared(self, processes: int) -> JudgeSetup:
        """The setup for one of several processes that share the slots of each endpoint."""
        mine = {
            slug: endpoint.model_copy(update={"max_in_flight": max(1, endpoint.max_in_flight // processes)})
            for slug, endpoint in self.endpoints.items()
        }
        return replace(self, endpoints=mine)

    @property
    def places(self) -> int:
        """Number of questions that may be in flight at the same time."""
        return sum(endpoint.max_in_flight for endpoint in self.endpoints.values())


def open_judges(setup: JudgeSetup, tally: Tally) -> JudgeClient:
    """Start a client for all endpoints.

    Raises:
        StartError: the cluster should serve one of them, but no engine was started for it.
    """
    endpoints = {slug: (config, _endpoint(slug, config, setup)) for slug, config in setup.endpoints.items()}
    return JudgeClient(endpoints, AnswerCache(setup.cache), tally)


def _endpoint(slug: str, config: JudgeEndpoint, setup: JudgeSetup) -> Endpoint:
    if config.base_url is not None:
        return HttpEndpoint(config)
    if slug not in setup.servers:
        raise StartError(f"The judge {slug} is served by the cluster, which starts its engine only with a run.")
    return ServedEndpoint(setup.servers[slug])
