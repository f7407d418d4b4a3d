"""Versions of rows, and jobs that a worker of the platform carries out."""

import json
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.datasets import services
from dressage.datasets.models import DatasetVersion
from dressage.lab.carry_out import carry_out
from dressage.lab.models import LabJob
from dressage.rewards.judges.services import create_judge_endpoint
from dressage.rewards.models import JudgeEndpoint
from dressage.teams.models import Team
from tests.support.judge_endpoint import JudgeServer


@pytest.fixture(autouse=True)
def dataset_root(settings: Any, tmp_path: Path) -> Path:
    settings.DATASET_ROOT = tmp_path / "datasets"
    return settings.DATASET_ROOT


@pytest.fixture
def make(team: Team, actor: Actor) -> Callable[..., DatasetVersion]:
    """``make(rows, name=…)``: the first version of a new dataset; a text is a row's prompt."""

    def version(rows: Iterable[Any], name: str = "Sums", team: Team = team) -> DatasetVersion:
        records = ({"prompt": row} if isinstance(row, str) else row for row in rows)
        content = b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in records)
        made = services.create_dataset(team, actor, name=name, file=BytesIO(content), size=len(content))
        return made.versions.get()

    return version


@pytest.fixture
def editor(api: Callable[..., APIClient]) -> APIClient:
    return api("editor")


@pytest.fixture
def ask(editor: APIClient) -> Callable[..., Any]:
    """``ask(version, operation, **more)``: the answer to an operation that is asked for."""

    def post(version: DatasetVersion, operation: dict[str, Any], **more: Any) -> Any:
        path = f"/api/v1/datasets/{version.dataset_id}/versions/{version.number}/lab"
        return editor.post(path, {"operation": operation, **more}, format="json")

    return post


@pytest.fixture
def finish(ask: Callable[..., Any]) -> Callable[..., LabJob]:
    """``finish(version, operation)``: the job, once it is over."""

    def run(version: DatasetVersion, operation: dict[str, Any]) -> LabJob:
        answer = ask(version, operation)
        assert answer.status_code == 201, answer.json()
        carry_out(answer.json()["job"]["id"])
        return LabJob.objects.get(pk=answer.json()["job"]["id"])

    return run


KEY = "sk-of-nobody-0123456789"


@pytest.fixture
def model() -> Iterator[JudgeServer]:
    """A model behind a real HTTP server; ``model.say`` tells what it answers."""
    server = JudgeServer()
    yield server
    server.close()


@pytest.fixture
def name_model(team: Team, actor: Actor, model: JudgeServer) -> Callable[..., JudgeEndpoint]:
    """``name_model(**fields)``: the judge endpoint of the team at which the model is asked."""

    def named(team: Team = team, name: str = "Model", **fields: Any) -> JudgeEndpoint:
        known = {"base_url": model.url, "model": "small-one", "api_key": KEY, "retries": 0, "timeout_s": 5.0}
        return create_judge_endpoint(team, actor, name=name, slug=None, **{**known, **fields})

    return named


@pytest.fixture
def endpoint(name_model: Callable[..., JudgeEndpoint]) -> JudgeEndpoint:
    return name_model(price_prompt=2.0, price_completion=10.0)
