"""A team with all that a spec names, runs of it, and a worker's side of the link."""

import copy
import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.test import TestCase
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.datasets.services import create_dataset
from dressage.policies.models import Policy
from dressage.rewards.services import create_reward
from dressage.runs.life.services import create_run
from dressage.runs.models import Attempt, Run
from dressage.runs.sweep import reconcile
from dressage.runs.tokens import link_token
from dressage.teams.models import Team
from trainer_core.rewards import RewardDefinition
from trainer_core.spec import RunSpec

SPEC: dict[str, Any] = {
    "policy": {"base": "small"},
    "data": {"sources": [{"name": "add", "dataset": "sums@1"}, {"name": "more", "dataset": "sums@1", "weight": 0.5}]},
    "reward": {"definition": "exact@1"},
    "thinking": {"type": "tags", "budget": 20},
    "rollout": {"max_tokens": 32, "engine": {"max_model_len": 96}},
    "schedule": {"steps": 40},
}
REWARD = {"components": [{"name": "a", "grader": {"type": "exact"}}]}


def spec_document(**parts: Any) -> dict[str, Any]:
    """A valid spec; keyword arguments replace or extend its parts."""
    document = copy.deepcopy(SPEC)
    for name, part in parts.items():
        document[name] = {**document.get(name, {}), **part} if isinstance(part, dict) else part
    return document


def furnish(team: Team, actor: Actor, folder: Path) -> None:
    """Make the policy, dataset and reward that ``SPEC`` names."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text("{}")
    Policy.objects.create(
        team=team, slug="small", name="Small", path=str(folder), architecture="A", parameters=1, vocab_size=1,
        max_position_embeddings=96, bytes=1, sha256="0", created_by="x",
    )  # fmt: skip
    lines = b'{"prompt": "1+1=", "answer": "2"}\n{"prompt": "1+2=", "answer": "3"}\n'
    create_dataset(team, actor, name="Sums", file=BytesIO(lines), size=len(lines))
    create_reward(team, actor, name="Exact", definition=RewardDefinition.model_validate(REWARD))


@pytest.fixture(autouse=True)
def run_root(settings: Any, tmp_path: Path) -> Path:
    settings.RUN_ROOT = tmp_path / "runs"
    return settings.RUN_ROOT


@pytest.fixture(autouse=True)
def reachable_link(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests' web server does not listen at LINK_URL; one test asks the real function."""
    monkeypatch.setattr(reconcile, "link_answers", lambda: True)


@pytest.fixture
def nouns(team: Team, actor: Actor, tmp_path: Path) -> Path:
    """Furnishes ``team``; gives the policy's folder."""
    furnish(team, actor, tmp_path / "policy")
    return tmp_path / "policy"


@pytest.fixture
def make_run(nouns: Path, team: Team, actor: Actor) -> Callable[..., Run]:
    """``make_run(start=True, **spec_parts)``."""

    def make(name: str = "first", *, start: bool = False, **parts: Any) -> Run:
        return create_run(team, actor, name=name, spec=RunSpec.model_validate(spec_document(**parts)), start=start)

    return make


@dataclass
class Worker:
    """What the cluster does, as far as the platform can see."""

    run_id: str
    attempt: int
    seq: int = 0
    last: dict[str, Any] = field(default_factory=dict)
    at: str = "2026-11-21T06:00:00.000Z"
    """When its events happen. What is looked at as of now, such as this week, needs another time."""

    def sync(self, *events: dict[str, Any], applied: Iterable[dict[str, Any]] = (), status: int = 200) -> Any:
        """One sync with new events; their numbers are filled in."""
        numbered = []
        for event in events:
            self.seq += 1
            numbered.append({"seq": self.seq, "at": self.at, "step": None, **event})
        self.last = {"attempt": self.attempt, "events": numbered, "applied": list(applied)}
        return self.repeat(status)

    def repeat(self, status: int = 200) -> Any:
        """The last sync again."""
        return self.post(self.last, status)

    def post(self, body: Any, status: int = 200, token: str | None = None) -> Any:
        token = link_token(self.run_id, self.attempt) if token is None else token
        client = APIClient(headers={"Authorization": f"Bearer {token}"})
        with TestCase.captureOnCommitCallbacks(execute=True):
            # Encoded as the worker does it, not as the test client would.
            text = json.dumps(body, allow_nan=False)
            response = client.post(f"/api/v1/link/runs/{self.run_id}/sync", text, content_type="application/json")
        assert response.status_code == status, response.content
        return response.json()

    def get(self, path: str, status: int = 200) -> Any:
        client = APIClient(headers={"Authorization": f"Bearer {link_token(self.run_id, self.attempt)}"})
        response = client.get(f"/api/v1/link/runs/{self.run_id}/{path}")
        assert response.status_code == status, response.content
        return response

    def state(self, name: str, reason: str = "", status: int = 200, **more: Any) -> Any:
        return self.sync({"kind": "state", "data": {"state": name, "reason": reason}, **more}, status=status)

    def step(self, number: int, **metrics: Any) -> Any:
        return self.sync(step_event(number, **metrics))

    def steps(self, first: int, last: int) -> None:
        """Learn several steps; the reward at step s is s / 100."""
        self.sync(*(step_event(number) for number in range(first, last + 1)))

    def checkpoint(self, step: int, *, reason: str = "schedule", control_id: str | None = None) -> str:
        """Write a folder with a manifest and announce it. Gives its path."""
        run = Run.objects.get(pk=self.run_id)
        folder = run.run_dir / "checkpoints" / f"step-{step:06d}-a{self.attempt}"
        data = write_checkpoint(folder, step) | {"reason": reason, "control_id": control_id, "policy_version": step}
        self.sync({"kind": "checkpoint", "step": step, "data": data})
        return str(folder)


def step_event(number: int, **metrics: Any) -> dict[str, Any]:
    """A ``step`` event."""
    values = {"critic/score/mean": number / 100, **metrics}
    return {"kind": "step", "step": number, "data": {"metrics": values, "tokens_total": number * 10, "seconds": 2.0}}


def write_checkpoint(folder: Path, step: int) -> dict[str, Any]:
    """The files of a checkpoint; gives path, size and hash as a worker tells them."""
    (folder / "training").mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(bytes([step]) * 1000)
    (folder / "training" / "state.json").write_text("{}")
    manifest = json.dumps({"files": {"model.safetensors": step}})
    (folder / "manifest.json").write_text(manifest)
    return {"path": str(folder), "bytes": 1004, "manifest_sha256": hashlib.sha256(manifest.encode()).hexdigest()}


@pytest.fixture
def launch(make_run: Callable[..., Run]) -> Callable[..., tuple[Run, Worker]]:
    """``launch(**spec_parts)``: a run that is running, and its worker."""

    def make(name: str = "first", **parts: Any) -> tuple[Run, Worker]:
        run = make_run(name, start=True, **parts)
        reconcile.sweep()
        run.refresh_from_db()
        assert run.state == "starting"
        worker = Worker(run.id, run.attempt)
        worker.state("running")
        run.refresh_from_db()
        return run, worker

    return make


def expire_lease(run: Run) -> None:
    """Pretend that the worker has been silent for too long."""
    from datetime import timedelta

    from django.db.models.functions import Now

    Attempt.objects.filter(run=run).update(lease_expires_at=Now() - timedelta(seconds=1))
