"""Datasets of a hub with its real client: what is listed, fetched, gone on with, read and stored; and what is not."""

import os
import signal
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.utils import timezone

from dressage.common.actors import Actor
from dressage.datasets.imports import files
from dressage.datasets.imports.carry_out import carry_out
from dressage.datasets.imports.services import cancel_import, read_import, retry_import
from dressage.datasets.models import Dataset, DatasetImport, DatasetUpload, DatasetVersion, TeamDatasetQuota
from dressage.datasets.versions import storage
from dressage.imports import alone, progress
from dressage.policies.access.services import set_credentials
from dressage.teams.models import AuditEntry, Team
from tests.platform.datasets.imports.conftest import NAME, jsonl, question
from tests.support.hub_server import HubServer
from trainer_core.datasets.mapping import DatasetMapping

Begin = Callable[..., DatasetImport]
SECOND = "main/train-00001-of-00002.parquet"
UNKNOWN = [{"q": f"What is {n}?", "a": str(n)} for n in range(3)]
MAPPING = DatasetMapping.model_validate({"prompt": {"kind": "columns", "template": "{q}"}, "answer": {"path": "a"}})


def rows_of(version: DatasetVersion) -> list[dict[str, Any]]:
    return [row["row"] for row in storage.read_rows(version.path, 0, 100)]


def left_on_disk() -> list[str]:
    root: Path = django_settings.DATASET_ROOT
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def test_a_split_in_two_shards_becomes_one_version_in_order(carried: Begin, hub: HubServer) -> None:
    row = carried(config="main", split="train", description="Sums.")
    assert (row.state, row.error) == ("ready", "")
    dataset = Dataset.objects.get()
    version = dataset.versions.get()
    assert row.version == version
    assert (dataset.slug, dataset.name, dataset.description) == ("tiny", "Tiny", "Sums.")
    assert [one["messages"][0]["content"] for one in rows_of(version)] == [f"What is {n} + 1?" for n in range(5)]
    assert [one["answer"] for one in rows_of(version)] == ["1", "2", "3", "4", "5"]
    commit = hub.repositories[f"datasets/{NAME}"].commit
    origin = version.origin
    assert origin["file"]["name"] == "train-00000-of-00002.parquet and 1 more"
    assert (origin["shape"]["name"], origin["file"]["format"]) == ("gsm8k", "parquet")
    imported = origin["imported"]
    assert [one["path"] for one in imported.pop("files")] == ["main/train-00000-of-00002.parquet", SECOND]
    assert imported == {
        "source": "hub", "location": NAME, "revision": "", "commit": commit, "config": "main", "split": "train",
    }  # fmt: skip
    assert (row.commit, row.files_done, row.bytes_total) == (commit, 2, sum(one["bytes"] for one in row.files))
    assert version.operation["name"] == "import"
    assert version.operation["arguments"]["commit"] == commit
    card = dataset.written_card
    assert (card.licence, card.source) == ("MIT", f"{hub.url}/datasets/{NAME} @ {commit[:12]}")
    assert left_on_disk() == [version.file]
    asked = AuditEntry.objects.get(action="dataset.import")
    assert asked.after == {
        "slug": "tiny", "source": "hub", "location": NAME, "revision": "", "config": "main", "split": "train",
        "files": [],
    }  # fmt: skip
    assert AuditEntry.objects.filter(action="dataset.create").count() == 1


def test_nothing_named_is_the_first_configs_training_split(carried: Begin, hub: HubServer) -> None:
    row = carried()
    assert (row.state, row.config, row.split, row.version.rows) == ("ready", "main", "train", 5)


def test_files_are_read_in_the_order_in_which_they_are_named(carried: Begin, hub: HubServer) -> None:
    row = carried(paths=[SECOND, "main/test-00000-of-00001.parquet"])
    assert [one["answer"] for one in rows_of(row.version)] == ["4", "5", "101"]


def test_the_next_version_of_a_dataset(carried: Begin, hub: HubServer) -> None:
    first = carried()
    second = carried(dataset=first.version.dataset_id, config="socratic", split="test")
    assert (second.state, second.version.number, second.version.rows) == ("ready", 2, 1)
    assert Dataset.objects.count() == 1
    assert second.version.dataset.written_card.licence == "MIT"


def test_packed_lines_by_the_names_of_files(carried: Begin, hub: HubServer) -> None:
    rows = [question(1), question(2)]
    hub.add_dataset("tiny/lines", {"train.jsonl.gz": jsonl(rows, packed=True), "notes.txt": b"x"}, licence="other")
    row = carried(location="tiny/lines")
    assert (row.state, row.split, row.version.rows) == ("ready", "train", 2)
    assert row.version.origin["file"]["packing"] == "gzip"


def test_rows_of_no_known_shape_wait_for_a_person(carried: Begin, hub: HubServer, team: Team, actor: Actor) -> None:
    hub.add_dataset("tiny/own", {"data.jsonl": jsonl(UNKNOWN)}, licence="")
    row = carried(location="tiny/own")
    assert (row.state, row.error) == ("waiting", "The rows are of no known shape: say what their columns are.")
    assert (Dataset.objects.count(), row.has_files) == (0, True)
    hub.asked.clear()
    read_import(team, actor, row, MAPPING)
    carry_out(row.id)
    row.refresh_from_db()
    assert (row.state, row.version.rows, hub.asked) == ("ready", 3, []), "the files were here"
    assert rows_of(row.version)[1]["answer"] == "1"
    assert row.version.origin["shape"]["document"] == MAPPING.model_dump(mode="json")


def test_a_mapping_that_is_given_is_used_at_once(carried: Begin, hub: HubServer) -> None:
    hub.add_dataset("tiny/own", {"data.jsonl": jsonl(UNKNOWN)})
    row = carried(location="tiny/own", mapping=MAPPING)
    assert (row.state, row.version.rows) == ("ready", 3)


def test_known_rows_wait_where_a_person_wants_to_look(carried: Begin, hub: HubServer, team: Team, actor: Actor) -> None:
    row = carried(review=True)
    assert (row.state, Dataset.objects.count()) == ("waiting", 0)
    read_import(team, actor, row, None)
    carry_out(row.id)
    row.refresh_from_db()
    assert (row.state, row.version.rows) == ("ready", 5)


def test_faulty_rows_refuse_all_and_are_told_by_their_file(
    carried: Begin, hub: HubServer, team: Team, actor: Actor
) -> None:
    faulty = [question(1), {"question": "", "answer": "#### 1"}]
    hub.add_dataset(
        "tiny/faulty", {"train-00000-of-00002.jsonl": jsonl([question(0)]), "train-00001-of-00002.jsonl": jsonl(faulty)}
    )
    row = carried(location="tiny/faulty")
    assert row.state == "failed"
    assert row.error.startswith("Line 2: In train-00001-of-00002.jsonl: ")
    assert row.error.endswith("Nothing was stored.")
    assert [fault["place"] for fault in row.report] == ["/file/lines/2"]
    assert (Dataset.objects.count(), DatasetVersion.objects.count()) == (0, 0)
    assert [name for name in left_on_disk() if not name.startswith("imports/")] == []
    cancel_import(team, actor, row)
    files.remove(row.id)  # as on commit
    assert left_on_disk() == []


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"location": "tiny/none"}, "has no dataset tiny/none that the public may see"),
        ({"revision": "v9"}, "tiny/gsm8k has no revision 'v9'"),
        (
            {"config": "other"},
            "has no config 'other' with a split ''. Name a config and a split: main / train, main / test",
        ),
        ({"paths": ["main/none.parquet"]}, "There is no file 'main/none.parquet'"),
    ],
)
def test_what_is_not_there(carried: Begin, hub: HubServer, fields: dict[str, Any], told: str) -> None:
    row = carried(**fields)
    assert row.state == "failed"
    assert told in row.error
    assert (Dataset.objects.count(), left_on_disk()) == (0, [])


def test_a_repository_without_data_files(carried: Begin, hub: HubServer) -> None:
    hub.add_dataset("tiny/script", {"script.py": b"raise SystemExit", "README.md": b"#", "dataset_infos.json": b"{}"})
    assert carried(location="tiny/script").error.startswith("There are no data files: no Parquet, JSON lines, JSON")
    assert not [one for one in hub.asked if one.path.endswith(".py")]


def test_gated_datasets_ask_for_the_teams_token(carried: Begin, hub: HubServer, team: Team, actor: Actor) -> None:
    repository = hub.repositories[f"datasets/{NAME}"]
    repository.gated, repository.readers = True, ("hf_ours",)
    row = carried()
    assert row.state == "failed"
    assert row.error == (
        f"{NAME} is gated. Accept its conditions at {hub.url}/datasets/{NAME} with the account of the token, and have "
        "an admin enter that token for the team."
    )
    set_credentials(team, actor, "hub", {"token": "hf_ours"})
    retry_import(team, actor, row)
    carry_out(row.id)
    row.refresh_from_db()
    assert row.state == "ready"
    assert {one.token for one in hub.asked if one.server == "cdn"} == {None}, "the token stays with the hub"


def test_a_cut_in_the_middle_is_gone_on_with_where_it_was(carried: Begin, hub: HubServer) -> None:
    hub.faults.cuts[SECOND] = [500, 300]
    assert carried().state == "ready"
    ranges = [one.range for one in hub.asked if one.server == "cdn" and one.path.endswith(SECOND)]
    assert ranges == [None, "bytes=500-", "bytes=800-"]


def test_a_file_that_came_changed_is_thrown_away(carried: Begin, hub: HubServer) -> None:
    content = hub.repositories[f"datasets/{NAME}"].files[SECOND]
    hub.faults.changed[SECOND] = bytes(len(content))
    row = carried()
    assert row.state == "failed"
    assert row.error.startswith(f"{SECOND} does not match its checksum")
    assert (row.has_files, Dataset.objects.count()) == (False, 0)


def test_a_killed_worker_is_gone_on_with(begin: Begin, hub: HubServer) -> None:
    row = begin()
    content = hub.repositories[f"datasets/{NAME}"].files
    commit = hub.repositories[f"datasets/{NAME}"].commit
    names = ["main/train-00000-of-00002.parquet", SECOND]
    listed = [{"path": name, "bytes": len(content[name]), "tag": "", "sha256": ""} for name in names]
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:  # what a kill leaves: one file, half of another, and nobody who could tidy up
        folder = files.folder_of(row.id)
        folder.mkdir(parents=True)
        files.path_of(row.id, 0).write_bytes(content[names[0]])
        files.path_of(row.id, 1).write_bytes(content[SECOND][:700])
        alone.fcntl.flock(os.open(folder, os.O_RDONLY), alone.fcntl.LOCK_EX)
        os.write(writer, b"!")
        signal.pause()
    os.read(reader, 1)
    long_ago = timezone.now() - timedelta(seconds=40)
    DatasetImport.objects.filter(pk=row.pk).update(
        state="downloading", attempt=1, heard_at=long_ago, commit=commit, files=listed
    )
    carry_out(row.id)
    row.refresh_from_db()
    assert (row.state, row.attempt) == ("downloading", 1), "its worker lives: it has the folder"
    os.kill(child, 9)
    os.waitpid(child, 0)
    carry_out(row.id)
    row.refresh_from_db()
    assert (row.state, row.attempt, row.version.rows) == ("ready", 2, 5)
    assert [one.range for one in hub.asked if one.server == "cdn"] == ["bytes=700-"]


def test_what_was_compared_is_not_asked_for_again(
    begin: Begin, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = begin()
    with monkeypatch.context() as patch:
        patch.setattr(
            "dressage.datasets.imports.carry_out.store",
            lambda *args, **options: (_ for _ in ()).throw(progress.Stopping),
        )
        carry_out(row.id)
    row.refresh_from_db()
    assert (row.state, row.has_files, all(one["sha256"] for one in row.files)) == ("queued", False, True)
    hub.asked.clear()
    carry_out(row.id)
    row.refresh_from_db()
    assert (row.state, hub.asked) == ("ready", [])


def test_cancelled_while_its_rows_are_read(
    begin: Begin, hub: HubServer, team: Team, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "EVERY_S", 0.0)
    row = begin()
    tick = progress.Progress.tick

    def cancelled_meanwhile(self: progress.Progress, *args: Any, **options: Any) -> None:
        if self._state == "reading":
            cancel_import(team, actor, DatasetImport.objects.get(pk=row.pk))
        tick(self, *args, **options)

    monkeypatch.setattr(progress.Progress, "tick", cancelled_meanwhile)
    carry_out(row.id)
    row.refresh_from_db()
    assert (row.state, Dataset.objects.count(), left_on_disk()) == ("cancelled", 0, [])


def test_quotas_are_asked_before_anything_is_fetched(carried: Begin, hub: HubServer, team: Team, actor: Actor) -> None:
    quota = TeamDatasetQuota.objects.create(team=team, bytes=100)
    row = carried()
    assert row.state == "failed"
    assert row.error.startswith("The datasets of your team have 0 bytes of 100 bytes; this needs ")
    assert [one for one in hub.asked if one.server == "cdn"] == []
    size = sum(one["bytes"] for one in row.files)
    quota.bytes = size + 100
    quota.save()
    DatasetUpload.objects.create(
        team=team, name="n", size=200, expires_at=timezone.now() + timedelta(hours=1), created_by="x"
    )
    retry_import(team, actor, row)
    carry_out(row.id)
    row.refresh_from_db()
    assert "unfinished uploads and imports 200 bytes; this needs " in row.error
    quota.bytes, quota.rows = None, 4
    quota.save()
    retry_import(team, actor, row)
    carry_out(row.id)
    row.refresh_from_db()
    assert row.error.startswith("The datasets of your team may have 4 rows more; this file has more than that")
    assert (Dataset.objects.count(), [one for one in left_on_disk() if not one.startswith("imports/")]) == (0, [])


def test_too_much_at_once(carried: Begin, hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dressage.datasets.imports.carry_out.MAX_FILE_BYTES", 1000)
    assert carried().error.startswith("It has 0.0 GiB, and 0.0 GiB are allowed at once. Choose fewer files")
    assert [one for one in hub.asked if one.server == "cdn"] == []


def test_the_slug_was_taken_meanwhile(begin: Begin, hub: HubServer, team: Team) -> None:
    row = begin()
    Dataset.objects.create(team=team, slug="tiny", name="T", created_by="x")
    carry_out(row.id)
    row.refresh_from_db()
    assert (row.state, row.error.startswith("There is already a dataset 'tiny'.")) == ("failed", True)
    assert DatasetVersion.objects.count() == 0


def test_files_that_nobody_wants_go_after_a_day(carried: Begin, hub: HubServer) -> None:
    waiting, kept = carried(review=True), carried(review=True, name="Kept")
    old = timezone.now() - files.KEPT_FOR - timedelta(minutes=1)
    DatasetImport.objects.filter(pk=waiting.pk).update(heard_at=old)
    files.sweep(timezone.now().timestamp())
    waiting.refresh_from_db()
    assert (waiting.state, waiting.has_files) == ("failed", False)
    assert waiting.error.startswith("Nobody said within a day how it is read")
    assert (files.folder_of(waiting.id).exists(), files.folder_of(kept.id).exists()) == (False, True)
    files.sweep(timezone.now().timestamp() + 2 * files.KEPT_FOR.total_seconds())
    assert files.folder_of(kept.id).exists(), "its row still waits"


def test_a_mirror_without_sizes_is_told(carried: Begin, hub: HubServer) -> None:
    hub.repositories[f"datasets/{NAME}"].sizes = False
    assert carried().error.startswith("The hub does not report file sizes.")


def test_an_empty_file_is_told(carried: Begin, hub: HubServer) -> None:
    hub.add_dataset("tiny/empty", {"train.jsonl": b""})
    assert carried(location="tiny/empty").error == "train.jsonl is empty. Choose the files without it."
