"""Exports of checkpoints to an object store, against a server that speaks as Amazon's does."""

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.imports.remote import NetworkTrouble
from dressage.jobs.local import claim
from dressage.jobs.stopping import _STOPPING
from dressage.policies.access.services import set_credentials
from dressage.policies.imports.bucket import BucketTarget
from dressage.policies.models import SourceAccess
from dressage.runs.export import exporting
from dressage.runs.export.exporting import MOST_PARTS, PART_BYTES, export, part_bytes
from dressage.runs.models import Checkpoint, CheckpointExport, Run
from dressage.teams.models import AuditEntry, Team
from tests.support.object_store import store

__all__ = ["store"]
KEYS = {"access_key_id": "team", "secret_access_key": "secret"}
PLACE = "s3://models/trained"
FILES = {"config.json": b"{}", "tokenizer.json": b"[1]", "model.safetensors": bytes(range(256)) * 70_000}
"""The last one is of three parts."""


@pytest.fixture
def checkpoint(make_run: Callable[..., Run], team: Team, actor: Actor) -> Checkpoint:
    run = make_run()
    folder = run.run_dir / "checkpoints" / "step-000003-a1"
    (folder / "training").mkdir(parents=True)
    for name, content in {**FILES, "training/optimizer.bin": b"state"}.items():
        (folder / name).write_bytes(content)
    listed = {name: {"sha256": hashlib.sha256(content).hexdigest()} for name, content in FILES.items()}
    listed["training/optimizer.bin"] = {"sha256": hashlib.sha256(b"state").hexdigest()}
    manifest = json.dumps({"format": 1, "files": listed})
    (folder / "manifest.json").write_text(manifest)
    set_credentials(team, actor, "bucket", KEYS)
    return Checkpoint.objects.create(
        run=run, attempt=1, step=3, path="checkpoints/step-000003-a1", bytes=1, reason="schedule", policy_version=3,
        manifest_sha256=hashlib.sha256(manifest.encode()).hexdigest(),
    )  # fmt: skip


@pytest.fixture
def bucket(store: str, settings: Any) -> Iterator[Any]:
    """A client of the store, which has an empty bucket ``models``."""
    settings.BUCKET_ENDPOINT = store
    client: Any = boto3.client(
        "s3", endpoint_url=store, region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="y"
    )
    client.create_bucket(Bucket="models")
    yield client
    for upload in client.list_multipart_uploads(Bucket="models").get("Uploads", ()):
        client.abort_multipart_upload(Bucket="models", Key=upload["Key"], UploadId=upload["UploadId"])
    for entry in client.list_objects_v2(Bucket="models").get("Contents", ()):
        client.delete_object(Bucket="models", Key=entry["Key"])
    client.delete_bucket(Bucket="models")


@pytest.fixture
def editor(api: Callable[..., APIClient]) -> APIClient:
    return api("editor")


@pytest.fixture
def begin(editor: APIClient, checkpoint: Checkpoint) -> Callable[..., Any]:
    """``begin(address, status=201)``: the answer to an export that is asked for."""

    def post(address: str = PLACE, status: int = 201) -> Any:
        response = editor.post(f"/api/v1/checkpoints/{checkpoint.id}/exports", {"address": address}, format="json")
        assert response.status_code == status, response.content
        return response.json()

    return post


def stored(bucket: Any) -> dict[str, bytes]:
    entries = bucket.list_objects_v2(Bucket="models").get("Contents", ())
    return {entry["Key"]: bucket.get_object(Bucket="models", Key=entry["Key"])["Body"].read() for entry in entries}


def uploads(bucket: Any) -> int:
    return len(bucket.list_multipart_uploads(Bucket="models").get("Uploads", ()))


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Numbers of the parts that are sent."""
    found: list[int] = []
    put_part = BucketTarget.put_part

    def put(target: BucketTarget, name: str, upload: str, number: int, content: Any) -> str:
        found.append(number)
        return put_part(target, name, upload, number, content)

    monkeypatch.setattr(BucketTarget, "put_part", put)
    return found


def break_off(monkeypatch: pytest.MonkeyPatch, error: Callable[[], Exception], after: int = 2) -> None:
    """Have the part after some others fail, once."""
    put_part = BucketTarget.put_part

    def put(target: BucketTarget, name: str, upload: str, number: int, content: Any) -> str:
        if number > after:
            monkeypatch.setattr(BucketTarget, "put_part", put_part)
            raise error()
        return put_part(target, name, upload, number, content)

    monkeypatch.setattr(BucketTarget, "put_part", put)


def test_a_whole_export(begin: Any, bucket: Any, editor: APIClient, checkpoint: Checkpoint, parts: list[int]) -> None:
    asked = begin(PLACE + "/")
    assert (asked["state"], asked["address"], asked["run"], asked["step"]) == (
        "queued", PLACE, checkpoint.run_id, 3,
    )  # fmt: skip
    export(asked["id"])
    assert stored(bucket) == {f"trained/{name}": content for name, content in FILES.items()}
    assert (parts, uploads(bucket)) == ([1, 2, 3], 0)
    found = editor.get(f"/api/v1/checkpoint-exports/{asked['id']}").json()
    total = sum(map(len, FILES.values()))
    done = ("state", "error", "files_done", "files_total", "bytes_done", "bytes_total")
    assert [found[name] for name in done] == ["done", "", 3, 3, total, total]
    for query, expected in (("", [asked["id"]]), (f"?run={checkpoint.run_id}", [asked["id"]]), ("?run=run_other", [])):
        listed = editor.get(f"/api/v1/checkpoint-exports{query}").json()["data"]
        assert [one["id"] for one in listed] == expected
    entry = AuditEntry.objects.get(action="checkpoint.export")
    assert entry.after == {"checkpoint": checkpoint.id, "address": PLACE}
    export(asked["id"])
    assert parts == [1, 2, 3], "a repeated message sends nothing"
    head = bucket.head_object(Bucket="models", Key="trained/model.safetensors")
    assert head["Metadata"] == {"sha256": hashlib.sha256(FILES["model.safetensors"]).hexdigest()}


def test_it_continues_after_its_last_part(
    begin: Any, bucket: Any, editor: APIClient, parts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    break_off(monkeypatch, lambda: NetworkTrouble("The connection failed."))
    made = begin()["id"]
    export(made)
    found = CheckpointExport.objects.get()
    assert (found.state, found.error, found.faults) == (
        "queued",
        "The connection failed. It will be retried later.",
        0,
    )
    assert "trained/model.safetensors" not in stored(bucket), "half a file is never seen"
    export(made)
    assert parts == [1, 2, 3]
    assert CheckpointExport.objects.get().state == "done"
    assert stored(bucket) == {f"trained/{name}": content for name, content in FILES.items()}


def test_a_stopped_worker_gives_it_back(begin: Any, bucket: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = begin()["id"]
    _STOPPING.set()
    try:
        export(made)
    finally:
        _STOPPING.clear()
    assert CheckpointExport.objects.get().state == "queued"
    export(made)
    assert CheckpointExport.objects.get().state == "done"


def test_parts_that_the_store_has_forgotten_are_sent_again(
    begin: Any, bucket: Any, parts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    break_off(monkeypatch, lambda: NetworkTrouble("The connection failed."))
    made = begin()["id"]
    export(made)
    (upload,) = bucket.list_multipart_uploads(Bucket="models")["Uploads"]
    bucket.abort_multipart_upload(Bucket="models", Key=upload["Key"], UploadId=upload["UploadId"])
    export(made)
    assert (CheckpointExport.objects.get().state, parts) == ("done", [1, 2, 1, 2, 3])


def test_cancelled_in_the_middle_leaves_no_parts(
    begin: Any, bucket: Any, editor: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = begin()["id"]

    def cancel() -> Exception:
        assert editor.post(f"/api/v1/checkpoint-exports/{made}/cancel").json()["state"] == "cancelled"
        return NetworkTrouble("The connection failed.")

    break_off(monkeypatch, cancel, after=1)
    export(made)
    assert uploads(bucket) == 1
    export(made)  # for the message of the cancellation
    found = CheckpointExport.objects.get()
    assert (found.state, found.uploads, uploads(bucket)) == ("cancelled", {}, 0)
    assert set(stored(bucket)) == {"trained/config.json", "trained/tokenizer.json"}
    assert editor.post(f"/api/v1/checkpoint-exports/{made}/cancel").status_code == 409
    assert editor.post(f"/api/v1/checkpoint-exports/{made}/retry").json()["state"] == "queued"
    export(made)
    assert CheckpointExport.objects.get().state == "done"
    late = editor.post(f"/api/v1/checkpoint-exports/{made}/retry")
    assert (late.status_code, late.json()["error"]["code"]) == (409, "export_cannot_be_retried")


def test_a_worker_that_was_replaced_sends_no_more(
    begin: Any, bucket: Any, parts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = begin()["id"]

    def replace() -> Exception:
        CheckpointExport.objects.update(attempt=9)
        return NetworkTrouble("The connection failed.")

    break_off(monkeypatch, replace, after=1)
    export(made)
    found = CheckpointExport.objects.get()
    assert (found.state, found.attempt, found.error) == ("running", 9, "")


def test_changed_files_never_appear(begin: Any, bucket: Any, checkpoint: Checkpoint) -> None:
    (checkpoint.folder / "model.safetensors").write_bytes(b"\0" * len(FILES["model.safetensors"]))
    made = begin()["id"]
    export(made)
    found = CheckpointExport.objects.get()
    why = "model.safetensors was changed after the checkpoint was written: export another checkpoint."
    assert (found.state, found.error, found.uploads, uploads(bucket)) == ("failed", why, {}, 0)
    assert "trained/model.safetensors" not in stored(bucket)


@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (lambda folder: (folder / "config.json").unlink(), "config.json is missing or a link."),
        (lambda folder: (folder / "manifest.json").write_text("{}"), "its manifest differs from the recorded one."),
        (lambda folder: (folder / "config.json").unlink() or (folder / "config.json").symlink_to("/etc/passwd"),
         "config.json is missing or a link."),
    ],
)  # fmt: skip
def test_a_checkpoint_that_is_not_whole_is_refused(
    begin: Any, bucket: Any, checkpoint: Checkpoint, harm: Callable[[Path], object], sentence: str
) -> None:
    made = begin()["id"]
    harm(checkpoint.folder)
    export(made)
    found = CheckpointExport.objects.get()
    assert (found.state, found.error) == ("failed", f"The checkpoint cannot be exported: {sentence}")
    assert stored(bucket) == {}


@pytest.mark.parametrize(
    ("there", "sentence"),
    [
        ("trained/README.md", "s3://models/trained has other files, such as README.md: choose an empty folder."),
        ("trained/config.json", "s3://models/trained already has another config.json: choose an empty folder."),
    ],
)
def test_what_is_there_is_never_overwritten(begin: Any, bucket: Any, there: str, sentence: str) -> None:
    bucket.put_object(Bucket="models", Key=there, Body=b"{}")
    export(begin()["id"])
    found = CheckpointExport.objects.get()
    assert (found.state, found.error, stored(bucket)[there]) == ("failed", sentence, b"{}")


@pytest.mark.parametrize(
    "address",
    ["", "models", "s3://", "s3://UPPER/x", "https://models/x", "s3://models/a?b", "s3://models/a b", "s3://a"],
)
def test_what_is_no_address_is_refused(begin: Any, address: str) -> None:
    assert begin(address, 422)["errors"][0]["pointer"] == "/address"
    assert not CheckpointExport.objects.exists()


def test_refusals(
    begin: Any, checkpoint: Checkpoint, api: Callable[..., APIClient], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin()
    assert begin(PLACE + "/", 409)["error"]["code"] == "address_taken"
    monkeypatch.setattr(exporting, "MAX_OPEN", 1)
    assert begin("s3://models/other", 429)["error"]["code"] == "too_many_exports"
    CheckpointExport.objects.all().delete()
    path = f"/api/v1/checkpoints/{checkpoint.id}/exports"
    assert api("viewer").post(path, {"address": PLACE}, format="json").status_code == 403
    checkpoint.folder.joinpath("manifest.json").unlink()
    assert begin(status=410)["error"]["code"] == "checkpoint_gone"


def test_without_credentials_or_in_another_team(
    begin: Any, checkpoint: Checkpoint, api: Callable[..., APIClient], other_team: Team
) -> None:
    made = begin()["id"]
    stranger = api("editor", team=other_team)
    assert stranger.get(f"/api/v1/checkpoint-exports/{made}").status_code == 404
    assert stranger.post(f"/api/v1/checkpoint-exports/{made}/cancel").status_code == 404
    assert (
        stranger.post(f"/api/v1/checkpoints/{checkpoint.id}/exports", {"address": PLACE}, format="json").status_code
        == 404
    )
    assert stranger.get("/api/v1/checkpoint-exports").json()["data"] == []
    SourceAccess.objects.all().delete()
    assert begin("s3://models/other", 422)["error"]["code"] == "no_credentials"


@pytest.mark.parametrize("size", [1, PART_BYTES, PART_BYTES * MOST_PARTS, PART_BYTES * MOST_PARTS + 1, 5 << 40])
def test_no_file_has_more_parts_than_the_store_takes(size: int) -> None:
    assert part_bytes(size) >= PART_BYTES
    assert -(-size // part_bytes(size)) <= MOST_PARTS


def test_a_store_that_stays_away_fails_it(begin: Any, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = begin()["id"]

    def away(*_: Any) -> Any:
        raise NetworkTrouble("The connection failed.")

    settings.BUCKET_ENDPOINT = "http://127.0.0.1:9"
    monkeypatch.setattr(BucketTarget, "objects", away)
    for _ in range(10):
        assert CheckpointExport.objects.get().state == "queued"
        export(made)
    found = CheckpointExport.objects.get()
    assert (found.state, found.error) == (
        "failed", "The connection failed. It was tried 10 times. A retry continues from the data already fetched.",
    )  # fmt: skip
    assert claim(CheckpointExport, made) is None
