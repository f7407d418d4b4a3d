"""What a spec names beside policy and data: a teacher, and the parts of its reward."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rest_framework.test import APIClient

from dressage.policies.models import Policy
from dressage.runs.models import Run
from dressage.teams.models import Team
from tests.platform.runs.fixtures import Worker, spec_document

Launch = Callable[..., tuple[Run, Worker]]
DISTILLATION: dict[str, Any] = {"teacher": "large"}


def register(team: Team, folder: Path) -> None:
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    Policy.objects.create(
        team=team, slug="large", name="Large", path=str(folder), architecture="A", parameters=1, vocab_size=1,
        max_position_embeddings=96, bytes=1, sha256="0", created_by="x",
    )  # fmt: skip


def test_a_teacher_must_be_a_policy_of_the_team(api: Callable[..., APIClient], nouns: Path) -> None:
    body = {"name": "n", "spec": spec_document(distillation=DISTILLATION), "start": False}
    answer = api("operator").post("/api/v1/runs", body, format="json")
    assert answer.status_code == 422
    expected = {"pointer": "/spec/distillation/teacher", "detail": "There is no policy 'large' in this team."}
    assert answer.json()["errors"] == [expected]
    assert not Run.objects.exists()


def test_the_bundle_tells_where_the_teacher_lies(launch: Launch, team: Team, tmp_path: Path) -> None:
    register(team, tmp_path / "large")
    _, worker = launch(distillation=DISTILLATION)
    assert worker.get("bundle").json()["teacher"] == {"name": "large", "path": str(tmp_path / "large")}


def test_without_distillation_there_is_no_teacher(launch: Launch) -> None:
    _, worker = launch()
    assert worker.get("bundle").json()["teacher"] is None


def test_a_teacher_whose_folder_is_gone_is_told_at_the_start(
    api: Callable[..., APIClient], nouns: Path, team: Team, tmp_path: Path
) -> None:
    register(team, tmp_path / "large")
    (tmp_path / "large" / "config.json").unlink()
    body = {"name": "n", "spec": spec_document(distillation=DISTILLATION), "start": True}
    answer = api("operator").post("/api/v1/runs", body, format="json")
    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == ["/spec/distillation/teacher"]


def test_gdpo_may_weigh_only_what_the_reward_has(api: Callable[..., APIClient], nouns: Path) -> None:
    spec = spec_document(advantage={"type": "gdpo", "weights": {"a": 1.0, "b/c": 0.5}})
    answer = api("operator").post("/api/v1/runs", {"name": "n", "spec": spec, "start": False}, format="json")
    assert answer.status_code == 422
    [error] = answer.json()["errors"]
    assert error["pointer"] == "/spec/advantage/weights/b~1c"
    assert error["detail"] == "the reward has no part 'b/c'; its parts are a"
    checked = api("operator").post("/api/v1/spec/validate", {"spec": spec}, format="json")
    assert error in checked.json()["errors"]
