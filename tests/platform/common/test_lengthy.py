"""Requests that read gigabytes: few at once, so that threads and database connections are left for all others."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.db import connection
from rest_framework.test import APIClient
from safetensors.numpy import save_file

from dressage.common.actors import Actor
from dressage.common.api.problems import Problem
from dressage.common.lengthy import FILES, LongRequests
from dressage.datasets import services
from dressage.datasets.models import Dataset, DatasetVersion
from dressage.datasets.versions import storage
from dressage.policies.models import Policy
from dressage.teams.models import AuditEntry, Team

LINES = b'{"prompt": "1+1=", "answer": 2}\n'
CONFIG = {"architectures": ["Qwen3ForCausalLM"], "vocab_size": 32, "max_position_embeddings": 256}


@pytest.fixture(autouse=True)
def roots(settings: Any, tmp_path: Path) -> Path:
    settings.DATASET_ROOT, settings.POLICY_ROOTS = tmp_path / "datasets", [tmp_path / "policies"]
    return tmp_path


def codes(requests: LongRequests, *teams: str) -> list[tuple[int, str, str]]:
    """The refusals of one further request of each team."""
    found = []
    for team in teams:
        with pytest.raises(Problem) as refused, requests.place(team):
            pass
        found.append((refused.value.status, refused.value.code, refused.value.headers["Retry-After"]))
    return found


@contextmanager
def taken(*teams: str) -> Iterator[None]:
    """A place of ``FILES`` is taken for each."""
    with ExitStack() as places:
        for team in teams:
            places.enter_context(FILES.place(team))
        yield


@pytest.mark.django_db
def test_a_team_leaves_places_to_others() -> None:
    requests = LongRequests("tests", places=3, per_team=2, code="busy", team_code="too_many", retry_s=7)
    with requests.place("a"):
        with requests.place("a"):
            assert codes(requests, "a") == [(429, "too_many", "7")]
            with requests.place("b"):
                assert codes(requests, "a", "b", "c") == [(503, "busy", "7")] * 3
        with requests.place("a"), requests.place("c"):
            pass
    with pytest.raises(KeyError), requests.place("a"):
        raise KeyError  # what a request fails with gives its place back
    with requests.place("a"), requests.place("a"):
        pass


@pytest.mark.django_db(transaction=True)
def test_who_reads_files_keeps_no_database_connection(
    team: Team, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, held = storage.write, []

    def seen(rows: Any, folder: Path) -> Path:
        held.append(connection.connection is not None)
        return write(rows, folder)

    monkeypatch.setattr(storage, "write", seen)
    dataset = services.create_dataset(team, actor, name="Sums", file=BytesIO(LINES), size=len(LINES))
    services.create_version(dataset, actor, file=BytesIO(LINES * 2), size=2 * len(LINES))
    assert held == [False, False]


@pytest.mark.parametrize("what", ["dataset", "version", "policy"])
@pytest.mark.parametrize(("key", "status"), [(None, 429), ("again", 429), (None, 503), ("again", 503)])
def test_one_too_many_is_refused_and_nothing_changes(
    team: Team, actor: Actor, api: Callable[..., APIClient], roots: Path, what: str, key: str | None, status: int
) -> None:
    dataset = services.create_dataset(team, actor, name="Sums", file=BytesIO(LINES), size=len(LINES))
    folder = roots / "policies" / "starter"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "tokenizer.json").write_text("{}")
    save_file({"embed": np.zeros((32, 8), np.float32)}, folder / "model.safetensors")
    editor = api("editor")

    def ask() -> Any:
        file = BytesIO(LINES * 2)
        file.name = "x.jsonl"
        headers = {"Idempotency-Key": key} if key else {}
        if what == "policy":
            body = {"name": "P", "path": str(folder)}
            return editor.post("/api/v1/policies", body, format="json", headers=headers)
        path = "/api/v1/datasets" if what == "dataset" else f"/api/v1/datasets/{dataset.id}/versions"
        fields = {"name": "New", "file": file} if what == "dataset" else {"file": file}
        return editor.post(path, fields, format="multipart", headers=headers)

    def snapshot() -> tuple[int, ...]:
        models = (Dataset, DatasetVersion, Policy, AuditEntry)
        return (*(model._default_manager.count() for model in models), len(list(roots.rglob("*"))))

    before = snapshot()
    with taken(*([team.id] * 2 if status == 429 else ["a", "a", "b", "b"])):
        refused = ask()
    assert (refused.status_code, refused["Retry-After"]) == (status, "10")
    assert refused.json()["error"]["code"] == ("too_many_file_readers" if status == 429 else "file_readers_busy")
    assert snapshot() == before
    assert ask().status_code == 201  # with the same key: a refusal is no answer to keep
