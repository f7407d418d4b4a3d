"""Creating, listing and branching runs; downloads; the spec's endpoints."""

import io
import tarfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.policies.models import Policy
from dressage.runs.export.archive import Archive
from dressage.runs.models import Checkpoint, Run
from dressage.teams.models import Team
from tests.platform.runs.fixtures import Worker, spec_document
from tests.support.about import PLATFORM

STARTER = Path(__file__).resolve().parents[3] / "demo" / "starter-policy"
Launch = Callable[..., tuple[Run, Worker]]


def test_unknown_references_make_nothing(api: Callable[..., APIClient], nouns: Path) -> None:
    spec = spec_document(
        data={"sources": [{"name": "a", "dataset": "sums@1"}, {"name": "b", "dataset": "sums@3"}]},
        evaluation={"sources": [{"name": "e", "dataset": "held@1"}]},
        reward={"definition": "exact@2"},
        policy={"base": "large"},
    )
    answer = api("operator").post("/api/v1/runs", {"name": "n", "spec": spec, "start": True}, format="json")
    assert answer.status_code == 422
    assert answer.json()["errors"] == [
        {"pointer": "/spec/policy/base", "detail": "There is no policy 'large' in this team."},
        {"pointer": "/spec/data/sources/1/dataset", "detail": "There is no dataset version sums@3 in this team."},
        {"pointer": "/spec/evaluation/sources/0/dataset", "detail": "There is no dataset version held@1 in this team."},
        {"pointer": "/spec/reward/definition", "detail": "There is no reward version exact@2 in this team."},
    ]
    assert Run.objects.count() == 0


def test_what_a_new_run_will_not_get_is_told_when_it_is_made(api: Callable[..., APIClient], nouns: Path) -> None:
    """The sources of these tests have fewer rows than a step of 4,096 prompts."""
    body = {"name": "n", "spec": spec_document(schedule={"prompts_per_step": 4096})}
    made = api("editor").post("/api/v1/runs", body, format="json").json()
    [remark] = [one for one in made["remarks"] if "same prompt" in one]
    assert remark.startswith("add has 2 rows, and a step takes 2731 prompts from it; more has 2 rows,")
    validated = api("viewer").post("/api/v1/spec/validate", {"spec": body["spec"]}, format="json").json()
    assert remark in validated["explanation"]["remarks"]
    few = {"name": "m", "spec": spec_document(schedule={"prompts_per_step": 1})}
    told = api("editor").post("/api/v1/runs", few, format="json").json()["remarks"]
    assert not [one for one in told if "same prompt" in one]


def test_a_contradiction_is_pointed_at(api: Callable[..., APIClient], nouns: Path) -> None:
    spec = spec_document(rollout={"max_tokens": 200})
    answer = api("editor").post("/api/v1/runs", {"name": "n", "spec": spec}, format="json").json()
    assert (answer["status"], answer["errors"][0]["pointer"]) == (422, "/spec/rollout/max_tokens")
    spec = spec_document(loss={"type": "ppo_clip", "ratio": 3})
    answer = api("editor").post("/api/v1/runs", {"name": "n", "spec": spec}, format="json").json()
    assert answer["errors"][0]["pointer"] == "/spec/loss/ratio"


def test_a_missing_policy_folder_is_told_at_the_start(
    api: Callable[..., APIClient], make_run: Callable[..., Run], nouns: Path
) -> None:
    run = make_run()
    (nouns / "config.json").unlink()
    operator = api("operator")
    answer = operator.post(f"/api/v1/runs/{run.id}/start").json()
    assert (answer["status"], answer["errors"][0]["pointer"]) == (422, "/spec/policy/base")
    body = {"name": "n", "spec": spec_document(), "start": True}
    assert operator.post("/api/v1/runs", body, format="json").status_code == 422
    assert list(Run.objects.values_list("state", "event_seq")) == [("draft", 1)]


def test_list(api: Callable[..., APIClient], make_run: Callable[..., Run]) -> None:
    runs = [make_run(f"r{number}", start=number == 1) for number in range(3)]
    viewer = api("viewer")
    page = viewer.get("/api/v1/runs", {"limit": 2}).json()
    assert [run["name"] for run in page["data"]] == ["r2", "r1"]
    assert (page["has_more"], page["next"]) == (True, runs[1].id)
    assert "spec" not in page["data"][0]
    rest = viewer.get("/api/v1/runs", {"limit": 2, "after": page["next"]}).json()
    assert ([run["name"] for run in rest["data"]], rest["has_more"]) == (["r0"], False)
    queued = viewer.get("/api/v1/runs", {"state": "queued,running"}).json()["data"]
    assert [run["name"] for run in queued] == ["r1"]
    assert viewer.get("/api/v1/runs", {"state": "asleep"}).status_code == 422


def test_the_list_takes_one_query(
    api: Callable[..., APIClient], make_run: Callable[..., Run], django_assert_max_num_queries: Any
) -> None:
    for number in range(5):
        make_run(f"r{number}")
    viewer = api("viewer")
    viewer.get("/api/v1/runs")  # notes that the session is in use, once a minute
    with django_assert_max_num_queries(4):  # session, user, membership, runs
        assert len(viewer.get("/api/v1/runs").json()["data"]) == 5


def test_several_by_their_ids(
    launch: Launch,
    api: Callable[..., APIClient],
    make_run: Callable[..., Run],
    other_team: Team,
    django_assert_num_queries: Any,
) -> None:
    running, worker = launch()
    worker.steps(1, 3)
    draft = make_run("draft")
    viewer = api("viewer")
    alone = viewer.get(f"/api/v1/runs/{draft.id}").json()
    names = f"{draft.id},run_none,{running.id},{draft.id}"
    with django_assert_num_queries(6):  # session, user, membership, runs, what they have cost (2)
        answer = viewer.get("/api/v1/runs/by-id", {"runs": names}).json()
    assert [run["id"] for run in answer["data"]] == [draft.id, running.id]
    assert answer["missing"] == ["run_none"]
    assert answer["data"][0] == alone
    assert (answer["data"][1]["step"], answer["data"][1]["spec"]) == (3, running.spec)
    strange = api("admin", team=other_team).get("/api/v1/runs/by-id", {"runs": names}).json()
    assert (strange["data"], strange["missing"]) == ([], [draft.id, "run_none", running.id])


@pytest.mark.parametrize("query", [{}, {"runs": ""}, {"runs": ",".join(f"run_{number}" for number in range(21))}])
def test_none_and_too_many_by_their_ids(api: Callable[..., APIClient], query: dict[str, str]) -> None:
    answer = api("viewer").get("/api/v1/runs/by-id", query)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/runs")


def test_the_document_of_a_running_run(launch: Launch, api: Callable[..., APIClient]) -> None:
    run, worker = launch()
    worker.sync({"kind": "eval", "step": 0, "data": {"metrics": {"eval/a/score/mean": 0.1, "eval/b/score/mean": 0.3}}})
    worker.steps(1, 10)
    worker.checkpoint(10)
    document = api("viewer").get(f"/api/v1/runs/{run.id}").json()
    assert document["summary"] == {
        "reward": 0.1, "eval": 0.2, "loss": None, "eval_loss": None, "tokens_total": 100, "seconds_per_step": 2.0,
        "eta_seconds": 60.0, "eta_low_seconds": 60.0, "eta_high_seconds": 60.0, "p95_seconds": {},
    }  # fmt: skip
    cost = document["cost"]
    assert (cost["gpu_hours"], cost["price"], cost["currency"]) == (0.0, None, None)
    assert 0 < cost["place_hours"] < 0.1
    assert (document["last_checkpoint"]["step"], document["step"], document["attempt"]) == (10, 10, 1)
    assert 0 <= document["lease_age_s"] < 30
    assert document["started_at"] is not None


def test_fork_begins_with_the_weights(launch: Launch, api: Callable[..., APIClient], settings: Any) -> None:
    from dressage.runs.sweep.reconcile import sweep

    run, worker = launch()
    editor, operator = api("editor"), api("operator")
    plain = editor.post(f"/api/v1/runs/{run.id}/fork", {}, format="json").json()
    assert (plain["parent"]["run"], plain["parent"]["checkpoint"], plain["name"]) == (run.id, None, "first (fork)")
    worker.steps(1, 5)
    worker.checkpoint(5)
    spec = spec_document(schedule={"steps": 7})
    child = editor.post(f"/api/v1/runs/{run.id}/fork", {"name": "c", "spec": spec}, format="json").json()
    assert (child["step"], child["total_steps"], child["parent"]["step"]) == (0, 7, 5)
    assert (child["parent"]["checkpoint"], child["parent"]["continues"]) == (Checkpoint.objects.get().id, False)
    base = editor.post(f"/api/v1/runs/{run.id}/fork", {"checkpoint": None}, format="json").json()
    assert base["parent"]["checkpoint"] is None
    assert editor.post(f"/api/v1/runs/{run.id}/fork", {"checkpoint": "ckpt_x"}, format="json").status_code == 422
    settings.MAX_ACTIVE_RUNS = 2
    operator.post(f"/api/v1/runs/{child['id']}/start")
    sweep()
    bundle = Worker(child["id"], 1).get("bundle").json()
    assert bundle["resume"] is None
    weights = Path(bundle["policy"]["path"]) / "model.safetensors"
    assert weights.read_bytes() == bytes([5]) * 1000


def test_a_fork_of_a_lost_checkpoint_leaves_nothing(
    launch: Launch, api: Callable[..., APIClient], settings: Any
) -> None:
    import shutil

    run, worker = launch()
    worker.steps(1, 5)
    shutil.rmtree(worker.checkpoint(5))
    body = {"checkpoint": Checkpoint.objects.get().id}
    answer = api("editor").post(f"/api/v1/runs/{run.id}/fork", body, format="json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "checkpoint_gone")
    assert Run.objects.count() == 1
    assert [folder.name for folder in settings.RUN_ROOT.iterdir()] == [run.id]


@pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume")
def test_download(launch: Launch, api: Callable[..., APIClient]) -> None:
    _, worker = launch("My run / α")
    folder = Path(worker.checkpoint(3))
    (folder / "secret").symlink_to("/etc/passwd")
    (folder / "empty.json").touch()
    path = f"/api/v1/checkpoints/{Checkpoint.objects.get().id}/download"
    response = api("viewer").get(path)
    assert response["Content-Disposition"] == 'attachment; filename="My-run-step-3.tar"'
    content = read(response)
    assert len(content) == int(response["Content-Length"])
    assert unpacked(content) == {
        "My-run-step-3/config.json": b"{}",
        "My-run-step-3/empty.json": b"",
        "My-run-step-3/model.safetensors": bytes([3]) * 1000,
    }
    whole = unpacked(read(api("viewer").get(path, {"training": "1"})))
    assert {"My-run-step-3/training/state.json", "My-run-step-3/manifest.json"} <= whole.keys()
    folder.rename(folder.with_name("away"))
    gone = api("viewer").get(path)
    assert (gone.status_code, gone.json()["error"]["code"]) == (410, "checkpoint_gone")
    folder.symlink_to("/etc")
    assert api("viewer").get(path).status_code == 410


def unpacked(content: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        return {entry.name: archive.extractfile(entry).read() for entry in archive}  # type: ignore[union-attr]


def read(response: Any) -> bytes:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return b"".join(response)


def test_files_deleted_while_they_are_sent_arrive_whole(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 3_000_000)
    archive = Archive(tmp_path, "p")
    (tmp_path / "a").unlink()
    content = b"".join(archive.read(0, archive.size))
    assert len(content) == archive.size
    assert unpacked(content) == {"p/a": b"x" * 3_000_000}


def test_spec_endpoints(api: Callable[..., APIClient], nouns: Path) -> None:
    viewer = api("viewer")
    schema = viewer.get("/api/v1/spec/schema").json()
    assert schema["properties"].keys() >= {"policy", "data", "reward", "guards"}
    recipes = viewer.get("/api/v1/spec/recipes").json()["data"]
    assert recipes[0]["name"] == "demo"
    good = viewer.post("/api/v1/spec/validate", {"spec": spec_document()}, format="json").json()
    assert (good["valid"], good["errors"], good["resolved"]["rollout"]["group_size"]) == (True, [], 8)
    assert good["explanation"]["batch"]["samples_per_step"] == good["resolved"]["schedule"]["prompts_per_step"] * 8
    band = good["explanation"]["bands"][0]
    assert (band["path"], band["ratio_min"], band["ratio_max"]) == ("loss", 0.8, 1.28)
    assert {weight for ratio, weight in zip(band["ratios"], band["positive"], strict=True) if ratio > 1.28} == {0.0}
    assert good["explanation"]["memory"] is None, "the folder of this policy tells no size"
    Policy.objects.update(path=str(STARTER))
    sized = viewer.post("/api/v1/spec/validate", {"spec": spec_document()}, format="json").json()
    told = sized["explanation"]["memory"]
    assert told["learner"]["peak"] > told["learner"]["standing"] > told["learner"]["weights"] == 4 * 604_160
    assert told["engine"]["kv_tokens"] > 1000 and {one["zero_stage"] for one in told["choices"]} == {0, 1, 2, 3}
    taught = spec_document(distillation={"teacher": spec_document()["policy"]["base"]})
    distilled = viewer.post("/api/v1/spec/validate", {"spec": taught}, format="json").json()
    assert distilled["explanation"]["memory"]["learner"]["teacher"] == 4 * 604_160
    bad = viewer.post("/api/v1/spec/validate", {"spec": spec_document(rollout={"max_tokens": 200})}, format="json")
    assert (bad.json()["resolved"], bad.json()["explanation"]) == (None, None)
    assert bad.json()["errors"][0]["pointer"] == "/spec/rollout/max_tokens"
    lost = viewer.post("/api/v1/spec/validate", {"spec": spec_document(policy={"base": "x"})}, format="json").json()
    assert (lost["valid"], [error["pointer"] for error in lost["errors"]]) == (False, ["/spec/policy/base"])
    assert lost["resolved"]["policy"]["base"] == "x"
    assert viewer.post("/api/v1/spec/validate", {"spec": 3}, format="json").status_code == 422


@pytest.mark.expensive(5, "walks over many requests", about=PLATFORM)
def test_the_web_tier_is_free_of_torch() -> None:
    import subprocess
    import sys

    code = "import sys, dressage.asgi, dressage.celery; assert not {'torch', 'vllm', 'ray'} & set(sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], cwd="platform", env=environment(), capture_output=True)
    assert result.returncode == 0, result.stderr.decode()


def environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path("platform").resolve()), str(Path().resolve())])}
