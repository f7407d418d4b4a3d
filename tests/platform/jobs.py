"""Jobs of the cluster, of whatever kind: their worker as far as the platform can see, and what their sweep meets."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from rest_framework.test import APIClient

from dressage.cluster_jobs.life import job_token
from dressage.cluster_jobs.models import ClusterJob


class JobWorker:
    """What the cluster does with a job. Subclasses name its kind and where the link has it."""

    model: type[ClusterJob]
    folder: str

    def __init__(self, job_id: str, token: str | None = None) -> None:
        self.path = f"/api/v1/link/{self.folder}/{job_id}"
        token = job_token(self.model, job_id) if token is None else token
        self.client = APIClient(headers={"Authorization": f"Bearer {token}"})

    def take(self, status: int = 200) -> Any:
        response = self.client.get(self.path)
        assert response.status_code == status, response.content
        return response.json()

    def renew(self, status: int = 200, **progress: Any) -> Any:
        response = self.client.post(f"{self.path}/lease", progress or None, format="json")
        assert response.status_code == status, response.content
        return response.json()

    def answer(self, status: int = 200, **body: Any) -> Any:
        text = json.dumps(body, allow_nan=False)
        response = self.client.post(f"{self.path}/result", text, content_type="application/json")
        assert response.status_code == status, response.content
        return response.json()


def age(model: type[ClusterJob], job_id: str, **seconds: float) -> None:
    """Move times of a job into the past."""
    times = {name: Now() - timedelta(seconds=value) for name, value in seconds.items()}
    model.objects.filter(pk=job_id).update(**times)


@pytest.fixture
def enqueued(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ids of the jobs for which the cluster was asked."""
    from dressage.celery import app

    sent: list[str] = []
    monkeypatch.setattr(app, "send_task", lambda name, **options: sent.append(options["kwargs"]["job_id"]))
    return sent
