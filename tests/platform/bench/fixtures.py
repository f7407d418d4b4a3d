"""Bench jobs and the worker's side of their link."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.bench.tokens import bench_token

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


class BenchWorker:
    """What the cluster does with a job, as far as the platform can see."""

    def __init__(self, job_id: str, token: str | None = None) -> None:
        self.path = f"/api/v1/link/bench/{job_id}"
        token = bench_token(job_id) if token is None else token
        self.client = APIClient(headers={"Authorization": f"Bearer {token}"})

    def take(self, status: int = 200) -> Any:
        response = self.client.get(self.path)
        assert response.status_code == status, response.content
        return response.json()

    def renew(self, status: int = 200) -> Any:
        response = self.client.post(f"{self.path}/lease")
        assert response.status_code == status, response.content
        return response.json()

    def answer(self, status: int = 200, **body: Any) -> Any:
        text = json.dumps(body, allow_nan=False)
        response = self.client.post(f"{self.path}/result", text, content_type="application/json")
        assert response.status_code == status, response.content
        return response.json()


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
