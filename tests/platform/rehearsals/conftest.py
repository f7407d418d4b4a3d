"""Fixtures of rehearsals: a team with all that a spec names, and the worker's side of the link."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from tests.platform.jobs import enqueued
from tests.platform.runs.fixtures import launch, make_run, nouns, reachable_link, run_root, spec_document

__all__ = ["enqueued", "launch", "make_run", "nouns", "reachable_link", "read", "run_root", "start"]


@pytest.fixture
def start(api: Callable[..., APIClient], nouns: Any) -> Callable[..., Any]:
    """``start(status=202, **body)``: the answer of the endpoint that makes rehearsals."""
    client = api("editor")

    def make(status: int = 202, **body: Any) -> Any:
        response = client.post("/api/v1/rehearsals", {"spec": spec_document(), **body}, format="json")
        assert response.status_code == status, response.content
        return response.json()

    return make


@pytest.fixture
def read(api: Callable[..., APIClient]) -> Callable[[str], Any]:
    """``read(id)``: the rehearsal as a viewer sees it."""
    client = api("viewer")
    return lambda rehearsal: client.get(f"/api/v1/rehearsals/{rehearsal}").json()
