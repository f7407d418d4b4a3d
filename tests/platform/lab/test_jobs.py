"""Jobs of the lab: cost first, one at a time, cancelled, undone, gone on with; and what they leave of a version."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone
from rest_framework.test import APIClient

from dressage.datasets.models import DatasetVersion
from dressage.datasets.selectors import version_by_ref
from dressage.datasets.versions import notes, storage
from dressage.jobs.local import claim, give_back
from dressage.jobs.tasks import sweep_jobs
from dressage.lab import services
from dressage.lab.carry_out import carry_out
from dressage.lab.models import LabJob, LabState
from dressage.teams.models import AuditEntry, Team
from tests.platform.retries import check_retry
from tests.support.about import PLATFORM
from tests.support.installation import wait_until

ROWS = ["How many horses?", "how many horses", "How many cows?", {"prompt": "How many horses", "answer": "3"}]
FIND = {"kind": "duplicates"}


def derive(client: APIClient, version: DatasetVersion, **condition: Any) -> Any:
    path = f"/api/v1/datasets/{version.dataset_id}/versions/{version.number}/derive"
    query = {"notes": [{"notes": "duplicates", **condition}]}
    return client.post(path, {"operation": {"name": "filter", "query": query}}, format="json")


@pytest.mark.expensive(2, "starts a job's process", about=PLATFORM)
def test_from_cost_to_undo(
    ask: Callable[..., Any], editor: APIClient, make: Callable[..., DatasetVersion], team: Team
) -> None:
    version = make(ROWS)
    cost = ask(version, FIND, dry_run=True)
    assert (cost.status_code, cost.json()["job"]) == (200, None)
    told = cost.json()["cost"]
    assert (told["rows"], told["bytes"], told["measured"]) == (4, version.bytes, False)
    assert told["seconds"] > 0 and told["memory_bytes"] > 0
    assert not LabJob.objects.exists()

    started = ask(version, FIND)
    job = started.json()["job"]
    assert (started.status_code, job["state"], job["ref"]) == (201, "queued", "sums@1")
    assert job["operation"]["threshold"] == 0.8
    carry_out(job["id"])
    done = editor.get(f"/api/v1/lab-jobs/{job['id']}").json()
    assert (done["state"], done["notes"], done["error"]) == ("done", ["duplicates"], "")
    assert done["report"]["duplicates"]["kept"] == 2
    table = notes.read(version, "duplicates").to_pydict()
    assert table == {"cluster": [1, 1, None, 1], "size": [3, 3, 1, 3], "keep": [True, False, True, False]}

    made = derive(editor, version, column="keep", equals=True)
    assert (made.status_code, made.json()["counts"]["removed"]) == (201, 2)
    second = version_by_ref(team, "sums@2")
    assert [row["prompt"] for row in storage.read_rows(second.path, 0, 9)] == [ROWS[0], ROWS[2]]
    assert notes.of(second) == []  # a cluster is one of the first version's rows

    assert editor.post(f"/api/v1/lab-jobs/{job['id']}/undo").json()["notes"] == []
    assert notes.of(version) == []
    again = editor.post(f"/api/v1/lab-jobs/{job['id']}/undo")
    assert again.status_code == 409
    assert version_by_ref(team, "sums@2").rows == 2
    actions = list(AuditEntry.objects.filter(action__startswith="lab.").values_list("action", flat=True))
    assert sorted(actions) == ["lab.start", "lab.undo"]
    assert [one["id"] for one in lab(editor, version)] == [job["id"]]


def lab(client: APIClient, version: DatasetVersion) -> list[Any]:
    path = f"/api/v1/datasets/{version.dataset_id}/versions/{version.number}/lab"
    return client.get(path).json()["data"]


@pytest.mark.parametrize(
    ("operation", "pointer"),
    [
        ({"kind": "guess"}, "/operation"),
        ({**FIND, "threshold": 0.4}, "/operation/threshold"),
        ({**FIND, "shingle": 0}, "/operation/shingle"),
        ({**FIND, "columns": []}, "/operation/columns"),
        ({**FIND, "columns": ["prompt", "nothing"]}, "/operation/columns/1"),
        ({**FIND, "against": ["none@1"]}, "/operation/against/0"),
        ({**FIND, "against": ["sums@1"]}, "/operation/against/0"),
        ({**FIND, "against": ["foreign@1"]}, "/operation/against/0"),
        ({**FIND, "words": True}, "/operation/words"),
    ],
)
def test_what_is_refused(
    ask: Callable[..., Any],
    make: Callable[..., DatasetVersion],
    other_team: Team,
    operation: dict[str, Any],
    pointer: str,
) -> None:
    version = make(ROWS)
    make(ROWS, name="Foreign", team=other_team)
    answer = ask(version, operation)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"].startswith(pointer)
    assert not LabJob.objects.exists()


def test_other_teams_and_viewers(
    ask: Callable[..., Any], api: Callable[..., APIClient], make: Callable[..., DatasetVersion], other_team: Team
) -> None:
    version = make(ROWS)
    job = ask(version, FIND).json()["job"]["id"]
    rival, viewer = api("editor", team=other_team), api("viewer")
    place = f"/api/v1/datasets/{version.dataset_id}/versions/1/lab"
    assert [rival.get(path).status_code for path in (place, f"/api/v1/lab-jobs/{job}")] == [404, 404]
    for name in ("cancel", "undo"):
        assert rival.post(f"/api/v1/lab-jobs/{job}/{name}").status_code == 404
        assert viewer.post(f"/api/v1/lab-jobs/{job}/{name}").status_code == 403
    assert rival.post(place, {"operation": FIND}, format="json").status_code == 404
    assert viewer.post(place, {"operation": FIND}, format="json").status_code == 403
    assert viewer.get(place).json()["data"][0]["id"] == job
    assert LabJob.objects.get().state == LabState.QUEUED


def test_one_at_a_time_and_not_too_many(
    ask: Callable[..., Any], make: Callable[..., DatasetVersion], monkeypatch: pytest.MonkeyPatch
) -> None:
    version = make(ROWS)
    assert ask(version, FIND).status_code == 201
    assert ask(version, FIND).status_code == 409
    monkeypatch.setattr(services, "MAX_OPEN", 1)
    refused = ask(make(ROWS, name="More"), FIND)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "30")
    assert LabJob.objects.count() == 1


def test_a_retry_starts_nothing(editor: APIClient, make: Callable[..., DatasetVersion]) -> None:
    version = make(ROWS)
    path = f"/api/v1/datasets/{version.dataset_id}/versions/1/lab"
    check_retry(editor, lambda: editor.post(path, {"operation": FIND}, format="json"), LabJob.objects.count)


def test_cancelled(ask: Callable[..., Any], editor: APIClient, make: Callable[..., DatasetVersion]) -> None:
    version = make(ROWS)
    job = ask(version, FIND).json()["job"]["id"]
    assert editor.delete(f"/api/v1/datasets/{version.dataset_id}").status_code == 409
    assert editor.post(f"/api/v1/lab-jobs/{job}/cancel").json()["state"] == "cancelled"
    carry_out(job)
    assert (LabJob.objects.get().state, LabJob.objects.get().report, notes.of(version)) == ("cancelled", None, [])
    assert editor.post(f"/api/v1/lab-jobs/{job}/cancel").status_code == 409
    assert editor.delete(f"/api/v1/datasets/{version.dataset_id}").status_code == 204


@pytest.mark.expensive(2, "starts a job's process", about=PLATFORM)
def test_a_file_that_is_gone(finish: Callable[..., LabJob], make: Callable[..., DatasetVersion]) -> None:
    version = make(ROWS)
    version.path.unlink()
    job = finish(version, FIND)
    assert (job.state, job.error[:27], notes.of(version)) == ("failed", "A file of the rows is missi", [])


@pytest.mark.expensive(4, "starts a job's process", about=PLATFORM)
@pytest.mark.django_db(transaction=True)
def test_a_killed_worker_is_gone_on_with(
    ask: Callable[..., Any], make: Callable[..., DatasetVersion], tmp_path: Path
) -> None:
    """Worker and process are killed once a part is on the disk: the next one does not read that part again."""
    version = make([f"{number} horses run, {number * 7} rest." for number in range(60_000)])
    job = LabJob.objects.get(pk=ask(version, FIND).json()["job"]["id"])
    claimed = claim(LabJob, job.id)
    assert claimed is not None
    folder = job.work_folder
    folder.mkdir(parents=True)
    stored = {"ref": version.ref, "path": str(version.path), "rows": version.rows}
    plan = {"operation": job.operation, "version": stored, "against": [], "folder": str(folder)}
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, json.dumps(plan)], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert parent.stdout
    child = int(parent.stdout.readline())
    wait_until(lambda: (folder / "fingerprints-0-0.npz").exists(), 120)
    parent.kill()
    parent.wait()
    wait_until(lambda: not alive(child), 30)
    first = (folder / "fingerprints-0-0.npz").stat()
    assert not (folder / "report.json").exists()

    LabJob.objects.update(heard_at=timezone.now())
    carry_out(job.id)  # its worker was heard of a moment ago
    assert LabJob.objects.get().attempt == 1
    LabJob.objects.update(heard_at=timezone.now() - timedelta(seconds=60), rung_at=None)
    sweep_jobs()
    assert LabJob.objects.get().rung_at is not None
    held = tmp_path / "held"
    os.link(folder / "fingerprints-0-0.npz", held)
    carry_out(job.id)
    over = LabJob.objects.get()
    assert (over.state, over.attempt, over.report["duplicates"]["kept"]) == ("done", 2, 60_000)
    assert held.stat().st_mtime_ns == first.st_mtime_ns
    assert not folder.exists()


@pytest.mark.django_db(transaction=True)
def test_two_workers_that_ask_at_once_take_one_job(
    ask: Callable[..., Any], make: Callable[..., DatasetVersion]
) -> None:
    first, second = (ask(make(ROWS, name=name), FIND).json()["job"]["id"] for name in ("One", "Two"))
    claimed: list[LabJob | None] = []

    def work() -> None:
        claimed.append(claim(LabJob, second))
        connection.close()

    other = threading.Thread(target=work)
    with transaction.atomic():
        assert claim(LabJob, first) is not None
        other.start()
        wait_until(lambda: bool(claimed) or waits_for_a_lock(), 30)
    other.join(30)
    assert claimed == [None]
    assert list(LabJob.objects.filter(state=LabState.RUNNING).values_list("id", flat=True)) == [first]


def waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_locks JOIN pg_database ON oid = database"
            " WHERE locktype = 'advisory' AND NOT granted AND datname = current_database())"
        )
        return bool(cursor.fetchone()[0])


def test_a_job_that_takes_its_workers_with_it_fails(
    ask: Callable[..., Any], editor: APIClient, make: Callable[..., DatasetVersion]
) -> None:
    version = make(ROWS)
    job = LabJob.objects.get(pk=ask(version, FIND).json()["job"]["id"])
    job.work_folder.mkdir(parents=True)

    def lose(keeps: str | None = None) -> LabJob | None:
        claimed = claim(LabJob, job.id)
        if keeps is not None:
            (job.work_folder / keeps).touch()
        LabJob.objects.filter(pk=job.pk).update(heard_at=timezone.now() - timedelta(seconds=60))
        return claimed

    assert [lose() is not None, lose("fingerprints-0-0.npz") is not None] == [True, True]
    for _ in range(2):
        assert lose() is not None
    give_back(claimed := LabJob.objects.get())
    assert claim(LabJob, claimed.id) is not None, "a worker that gives its job back is not lost"
    LabJob.objects.update(heard_at=timezone.now() - timedelta(seconds=60))
    assert claim(LabJob, job.id) is None
    found = editor.get(f"/api/v1/lab-jobs/{job.id}").json()
    assert (found["state"], found["error"][:37]) == ("failed", "3 workers of the platform were lost i")
    assert not notes.of(version)


PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-m", "dressage.lab.child"], stdin=subprocess.PIPE, text=True)
child.stdin.write(sys.argv[1] + "\\n")
child.stdin.flush()
print(child.pid, flush=True)
child.wait()
"""


def alive(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False


@pytest.mark.django_db(transaction=True)
def test_a_cancelled_job_ends_its_process(
    ask: Callable[..., Any], editor: APIClient, make: Callable[..., DatasetVersion]
) -> None:
    version = make(ROWS)
    version.path.unlink()
    os.mkfifo(version.path)  # which is read for ever
    job = LabJob.objects.get(pk=ask(version, FIND).json()["job"]["id"])

    def work() -> None:
        carry_out(job.id)
        connection.close()

    working = threading.Thread(target=work)
    working.start()
    wait_until(lambda: LabJob.objects.get().stage == "Reading rows", 120)
    assert editor.post(f"/api/v1/lab-jobs/{job.id}/cancel").status_code == 200
    working.join(60)
    assert not working.is_alive()
    assert (LabJob.objects.get().state, notes.of(version), job.work_folder.exists()) == ("cancelled", [], False)
