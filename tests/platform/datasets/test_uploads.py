"""Uploads in parts: offsets, checksums, bounds, two writers, expiry, and what becomes of them."""

import base64
import hashlib
import stat
import time
from collections.abc import Callable
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone
from rest_framework.test import APIClient

from dressage.common.api.problems import Problem
from dressage.datasets.models import Dataset, DatasetUpload
from dressage.datasets.uploads import files, services
from dressage.teams.models import AuditEntry, Team

ROWS = b"".join(b'{"prompt": "%d+1=", "answer": "%d"}\n' % (number, number + 1) for number in range(100))
UPLOADS = "/api/v1/dataset-uploads"
PART = "application/offset+octet-stream"


@pytest.fixture
def editor(api: Callable[..., APIClient]) -> APIClient:
    return api("editor")


def start(client: APIClient, **fields: Any) -> dict[str, Any]:
    response = client.post(UPLOADS, {"name": "rows.jsonl", "size": len(ROWS), **fields}, format="json")
    assert response.status_code == 201, response.content
    return response.json()


def send(client: APIClient, upload: str, offset: object, part: bytes, checksum: str | None = None) -> Any:
    headers = {"Upload-Offset": str(offset)} | ({"Upload-Checksum": checksum} if checksum is not None else {})
    return client.patch(f"{UPLOADS}/{upload}", part, content_type=PART, headers=headers)


def sha256(part: bytes) -> str:
    return "sha256 " + base64.b64encode(hashlib.sha256(part).digest()).decode()


def stored(upload: str) -> tuple[int, bytes]:
    """What the row and the file say."""
    return DatasetUpload.objects.get(pk=upload).offset, files.path_of(upload).read_bytes()


def test_a_file_in_parts_becomes_a_dataset_and_then_a_version(editor: APIClient, dataset_root: Path) -> None:
    upload = start(editor, sha256=hashlib.sha256(ROWS).hexdigest().upper())
    assert (upload["offset"], upload["complete"], upload["size"]) == (0, False, len(ROWS))
    path = files.path_of(upload["id"])
    assert [stat.S_IMODE(one.stat().st_mode) for one in (path, path.parent)] == [0o600, 0o700]
    for begin in range(0, len(ROWS), 1000):
        part = ROWS[begin : begin + 1000]
        response = send(editor, upload["id"], begin, part, sha256(part))
        assert (response.status_code, response.headers["Upload-Offset"]) == (204, str(begin + len(part)))
        told = editor.head(f"{UPLOADS}/{upload['id']}")
        assert (told.headers["Upload-Offset"], told.headers["Upload-Length"]) == (
            str(begin + len(part)),
            str(len(ROWS)),
        )
        assert (told.headers["Tus-Resumable"], told.headers["Cache-Control"]) == ("1.0.0", "no-store")
    assert editor.get(f"{UPLOADS}/{upload['id']}").json()["complete"] is True
    made = editor.post("/api/v1/datasets", {"name": "Sums", "upload": upload["id"]}, format="multipart")
    assert made.status_code == 201
    version = made.json()["latest_version"]
    assert (version["rows"], version["origin"]["file"]["name"]) == (100, "rows.jsonl")
    assert version["origin"]["file"]["sha256"] == hashlib.sha256(ROWS).hexdigest()
    assert not DatasetUpload.objects.exists()
    again = start(editor)
    send(editor, again["id"], 0, ROWS)
    second = editor.post(f"/api/v1/datasets/{made.json()['id']}/versions", {"upload": again["id"]}, format="multipart")
    assert (second.status_code, second.json()["ref"]) == (201, "sums@2")
    actions = list(AuditEntry.objects.order_by("id").values_list("action", flat=True))
    assert sorted(actions) == sorted(
        ["dataset_upload.start", "dataset.create", "dataset_upload.start", "dataset.version"]
    )


@pytest.mark.django_db(transaction=True)
def test_nothing_is_left_on_disk_of_what_became_a_dataset_or_was_cancelled(
    editor: APIClient, dataset_root: Path
) -> None:
    used, cancelled = start(editor), start(editor)
    send(editor, used["id"], 0, ROWS)
    send(editor, cancelled["id"], 0, ROWS[:500])
    made = editor.post("/api/v1/datasets", {"name": "Sums", "upload": used["id"]}, format="multipart")
    assert made.status_code == 201
    assert editor.delete(f"{UPLOADS}/{cancelled['id']}").status_code == 204
    assert [path.suffix for path in dataset_root.rglob("*") if path.is_file()] == [".parquet"]
    assert editor.get(f"{UPLOADS}/{cancelled['id']}").status_code == 404
    assert AuditEntry.objects.order_by("-created_at")[0].action == "dataset_upload.cancel"


@pytest.mark.parametrize(
    ("offset", "part", "checksum", "status", "code"),
    [
        (0, ROWS[:10], None, 409, "wrong_offset"),
        (499, ROWS[499:600], None, 409, "wrong_offset"),
        (501, ROWS[501:600], None, 409, "wrong_offset"),
        (10**17, b"x", None, 409, "wrong_offset"),
        (500, ROWS[500:] + b"x", None, 413, "upload_too_long"),
        (500, ROWS[500:600], sha256(b"other"), 460, "wrong_checksum"),
        (500, ROWS[500:600], "md5 " + base64.b64encode(b"0" * 16).decode(), 422, "invalid_checksum"),
        (500, ROWS[500:600], "sha256 !!!", 422, "invalid_checksum"),
        (500, ROWS[500:600], "sha256 " + base64.b64encode(b"short").decode(), 422, "invalid_checksum"),
        (500, ROWS[500:600], "", 422, "invalid_checksum"),
        ("", ROWS[500:600], None, 422, "invalid_offset"),
        ("-1", ROWS[500:600], None, 422, "invalid_offset"),
        ("0500", ROWS[500:600], None, 422, "invalid_offset"),
        ("5e2", ROWS[500:600], None, 422, "invalid_offset"),
        ("٥٠٠", ROWS[500:600], None, 422, "invalid_offset"),
        ("9" * 40, ROWS[500:600], None, 422, "invalid_offset"),
    ],
)
def test_a_part_that_does_not_fit_changes_nothing(
    editor: APIClient, offset: object, part: bytes, checksum: str | None, status: int, code: str
) -> None:
    upload = start(editor)["id"]
    assert send(editor, upload, 0, ROWS[:500]).status_code == 204
    response = send(editor, upload, offset, part, checksum)
    assert (response.status_code, response.json()["error"]["code"]) == (status, code)
    if code == "wrong_offset":
        assert (response.headers["Upload-Offset"], response.json()["offset"]) == ("500", 500)
    assert stored(upload) == (500, ROWS[:500])
    assert send(editor, upload, 500, ROWS[500:], sha256(ROWS[500:])).status_code == 204
    assert stored(upload) == (len(ROWS), ROWS)


def test_a_part_of_another_type_is_refused(editor: APIClient) -> None:
    upload = start(editor)["id"]
    for kind, status in (("text/plain", 415), ("application/json", 415), ("multipart/form-data; boundary=x", 415)):
        body = b'{"a": 1}' if "json" in kind else b"abc"
        response = editor.patch(f"{UPLOADS}/{upload}", body, content_type=kind, headers={"Upload-Offset": "0"})
        assert response.status_code == status, kind
    assert stored(upload) == (0, b"")


def test_what_a_killed_process_left_is_cut_off(editor: APIClient) -> None:
    upload = start(editor)["id"]
    send(editor, upload, 0, ROWS[:500])
    with files.path_of(upload).open("ab") as file:
        file.write(b"half of a part, whose row was never written, longer than what comes" * 100)
    assert send(editor, upload, 500, ROWS[500:510]).status_code == 204
    assert stored(upload) == (510, ROWS[:510])


@pytest.mark.django_db(transaction=True)
def test_two_writers_at_once(editor: APIClient, team: Team) -> None:
    """The second is told at once, and the first one's part is what counts."""
    upload = start(editor)["id"]
    locked, told = Event(), Event()

    def hold() -> None:
        with transaction.atomic():
            DatasetUpload.objects.select_for_update().get(pk=upload)
            locked.set()
            told.wait(30)
        connection.close()

    first = Thread(target=hold)
    first.start()
    assert locked.wait(30)
    try:
        response = send(editor, upload, 0, ROWS)
        assert (response.status_code, response.json()["error"]["code"]) == (409, "upload_is_being_written")
        assert editor.delete(f"{UPLOADS}/{upload}").status_code == 409
    finally:
        told.set()
        first.join()
    assert stored(upload) == (0, b"")
    assert send(editor, upload, 0, ROWS).status_code == 204


def test_the_whole_file_must_be_what_was_declared(editor: APIClient) -> None:
    upload = start(editor, sha256="0" * 64)["id"]
    send(editor, upload, 0, ROWS[:500])
    assert send(editor, upload, 500, ROWS[500:]).status_code == 204
    response = editor.post("/api/v1/datasets", {"name": "Sums", "upload": upload}, format="multipart")
    assert (response.status_code, response.json()["error"]["code"]) == (422, "wrong_sha256")
    assert response.json()["errors"][0]["pointer"] == "/upload"
    assert not Dataset.objects.exists()
    assert editor.delete(f"{UPLOADS}/{upload}").status_code == 204


def test_other_teams_and_viewers(
    editor: APIClient, api: Callable[..., APIClient], other_team: Team, team: Team
) -> None:
    upload = start(editor)["id"]
    send(editor, upload, 0, ROWS)
    stranger = api("editor", team=other_team)
    assert stranger.get(f"{UPLOADS}/{upload}").status_code == 404
    assert stranger.delete(f"{UPLOADS}/{upload}").status_code == 404
    assert send(stranger, upload, 0, b"x").status_code == 404
    assert stranger.get(UPLOADS).json()["data"] == []
    response = stranger.post("/api/v1/datasets", {"name": "Theirs", "upload": upload}, format="multipart")
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, "/upload")
    viewer = api("viewer")
    assert viewer.get(f"{UPLOADS}/{upload}").status_code == 200
    assert send(viewer, upload, len(ROWS), b"").status_code == 403
    assert stored(upload) == (len(ROWS), ROWS)
    assert not Dataset.objects.exists()


def test_a_dataset_needs_a_whole_upload_or_a_file_and_not_both(editor: APIClient) -> None:
    upload = start(editor)["id"]
    send(editor, upload, 0, ROWS[:500])

    def create(**fields: Any) -> tuple[int, str, str]:
        response = editor.post("/api/v1/datasets", {"name": "Sums", **fields}, format="multipart")
        return response.status_code, response.json()["error"]["code"], response.json()["errors"][0]["pointer"]

    assert create(upload=upload) == (422, "upload_is_unfinished", "/upload")
    assert create(upload="dsu_none") == (422, "no_such_upload", "/upload")
    assert create() == (422, "invalid", "/file")
    file = BytesIO(ROWS)
    file.name = "rows.jsonl"
    assert create(upload=upload, file=file) == (422, "invalid", "/file")
    files.remove(upload)
    DatasetUpload.objects.filter(pk=upload).update(offset=len(ROWS))
    assert create(upload=upload) == (422, "no_such_upload", "/upload")
    assert not Dataset.objects.exists()


def test_a_refused_file_stays_for_another_try(editor: APIClient) -> None:
    rows = b'{"colour": "red"}\n'
    upload = start(editor, size=len(rows))["id"]
    send(editor, upload, 0, rows)
    response = editor.post("/api/v1/datasets", {"name": "Sums", "upload": upload}, format="multipart")
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, "/file/lines/1")
    assert stored(upload) == (len(rows), rows)


def test_bounds(editor: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def begin(**fields: Any) -> tuple[int, str]:
        response = editor.post(UPLOADS, {"name": "rows.jsonl", "size": 1000, **fields}, format="json")
        return response.status_code, response.json()["error"]["code"]

    assert begin(size=0) == (422, "invalid")
    assert begin(size=-5) == (422, "invalid")
    assert begin(size="many") == (422, "invalid")
    assert begin(size=(10 << 30) + 1)[0] == 413
    assert begin(name="") == (422, "invalid")
    assert begin(name="x" * 201) == (422, "invalid")
    assert begin(sha256="abc") == (422, "invalid")
    assert begin(mode="x") == (422, "unknown_member")
    monkeypatch.setattr(services, "MAX_UNFINISHED_BYTES", 2500)
    start(editor, size=2000)
    assert begin(size=501) == (429, "uploads_too_large")
    monkeypatch.setattr(services, "MAX_UNFINISHED_UPLOADS", 1)
    assert begin(size=1) == (429, "too_many_uploads")
    monkeypatch.setattr(services, "MAX_UNFINISHED_UPLOADS", 2)
    monkeypatch.setattr(files, "free_bytes", lambda: services.RESERVE_BYTES)
    assert begin(size=1) == (507, "disk_full")
    monkeypatch.setattr(files, "free_bytes", lambda: services.RESERVE_BYTES + 2500)
    assert begin(size=501) == (429, "uploads_too_large")
    monkeypatch.setattr(services, "MAX_UNFINISHED_BYTES", 10_000)
    assert begin(size=501) == (507, "disk_full"), "2,000 bytes are promised to the other upload"
    assert DatasetUpload.objects.count() == 1
    start(editor, size=500)


def test_a_full_disk_takes_no_part(editor: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    upload = start(editor)["id"]
    send(editor, upload, 0, ROWS[:500])
    with monkeypatch.context() as nearly_full:
        nearly_full.setattr(files, "free_bytes", lambda: services.RESERVE_BYTES)
        assert send(editor, upload, 500, ROWS[500:]).status_code == 507, "what others need of the disk stays free"

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "append", full)
    response = send(editor, upload, 500, ROWS[500:])
    assert (response.status_code, response.json()["error"]["code"]) == (507, "disk_full")
    assert DatasetUpload.objects.get(pk=upload).offset == 500


@pytest.mark.django_db(transaction=True)
def test_what_has_expired_is_gone_and_swept(editor: APIClient, team: Team) -> None:
    old, fresh = start(editor)["id"], start(editor)["id"]
    DatasetUpload.objects.filter(pk=old).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert send(editor, old, 0, ROWS).status_code == 404
    assert [one["id"] for one in editor.get(UPLOADS).json()["data"]] == [fresh]
    files.make("dsu_orphan")
    assert services.sweep(time.time()) == 1
    assert sorted(path.stem for path in files.folder().iterdir()) == sorted([fresh, "dsu_orphan"])
    assert services.sweep(time.time() + services.KEPT_FOR.total_seconds() + 60) == 1
    assert [path.stem for path in files.folder().iterdir()] == [fresh]


def test_an_idempotent_start_makes_one(editor: APIClient) -> None:
    body = {"name": "rows.jsonl", "size": 10}
    answers = [editor.post(UPLOADS, body, format="json", headers={"Idempotency-Key": "k"}).json() for _ in range(2)]
    assert answers[0] == answers[1]
    assert DatasetUpload.objects.count() == 1


def test_an_append_to_what_was_removed_meanwhile(team: Team, actor: Any) -> None:
    upload = services.start_upload(team, actor, name="a", size=10)
    DatasetUpload.objects.all().delete()
    with pytest.raises(Problem) as told:
        services.append(upload, 0, b"abc")
    assert told.value.status == 404
