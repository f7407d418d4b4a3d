"""Fixtures of profiles: a team with a version, a policy and a reward, and the worker's side of the link."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from tests.platform.jobs import enqueued
from tests.platform.profiles.fixtures import body
from tests.platform.runs.fixtures import nouns, reachable_link, run_root

__all__ = ["enqueued", "nouns", "reachable_link", "read", "run_root", "start"]


@pytest.fixture
def start(api: Callable[..., APIClient], nouns: Any) -> Callable[..., Any]:
    """``start(status=202, **body)``: the answer of the endpoint that makes profiles."""
    client = api("editor")

    def make(status: int = 202, **changes: Any) -> Any:
        response = client.post("/api/v1/profiles", body(**changes), format="json")
        assert response.status_code == status, response.content
        return response.json()

    return make


@pytest.fixture
def read(api: Callable[..., APIClient]) -> Callable[[str], Any]:
    """``read(id)``: the profile as a viewer sees it."""
    client = api("viewer")
    return lambda profile: client.get(f"/api/v1/profiles/{profile}").json()
