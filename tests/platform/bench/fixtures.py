"""Bench jobs and the worker's side of their link."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.bench.models import BenchJob
from tests.platform.jobs import JobWorker

DEFINITION = {"components": [{"name": "a", "grader": {"type": "exact"}}]}
PASTED = [
    {"output_text": "24", "item": {"prompt": "48/2=", "answer": "24"}},
    {"output_text": "25", "item": {"prompt": "48/2=", "answer": "24"}},
]


def bench_score(reward: float | None, **more: Any) -> dict[str, Any]:
    """One score as a worker tells it."""
    error = None if reward is not None else "a: broken"
    parts = {} if reward is None else {"a": reward}
    return {"reward": reward, "parts": parts, "error": error, "traceback": None, "seconds": 0.5, "forgiven": [], **more}


class BenchWorker(JobWorker):
    """What the cluster does with a bench job."""

    model, folder = BenchJob, "bench"


@pytest.fixture
def start_bench(api: Callable[..., APIClient]) -> Callable[..., Any]:
    """``start_bench(status=202, **body)``: the answer of the endpoint that makes jobs."""
    client = api("editor")

    def start(status: int = 202, **body: Any) -> Any:
        body = {"definitions": [{"definition": DEFINITION}], "samples": PASTED, "probes": False, **body}
        response = client.post("/api/v1/rewards/bench", body, format="json")
        assert response.status_code == status, response.content
        return response.json()

    return start


@pytest.fixture
def read_bench(api: Callable[..., APIClient]) -> Callable[[str], Any]:
    """``read_bench(id)``: the job as a viewer sees it."""
    client = api("viewer")
    return lambda job_id: client.get(f"/api/v1/rewards/bench/{job_id}").json()
