"""A team keeps as many bytes and rows as it may, and not one more, whoever comes at the same time."""

import threading
from collections.abc import Callable
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.common.api.problems import Problem
from dressage.datasets import services
from dressage.datasets.models import Dataset, DatasetUpload, DatasetVersion
from dressage.datasets.quota.services import set_quota
from dressage.datasets.quota.usage import size, usage_of
from dressage.datasets.uploads.services import start_upload
from dressage.datasets.versions import deletion, storage
from dressage.teams.models import AuditEntry, Team


def lines(count: int, text: str = "p") -> bytes:
    return b"".join(f'{{"prompt": "{text}{n}"}}\n'.encode() for n in range(count))


def make(team: Team, actor: Actor, content: bytes, name: str = "Sums") -> Dataset:
    return services.create_dataset(team, actor, name=name, file=BytesIO(content), size=len(content))


def limit(team: Team, *, bytes: int | None = None, rows: int | None = None) -> None:
    set_quota(team, Actor.system("dataset_quota"), bytes=bytes, rows=rows)


def files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file())


def test_what_is_kept_is_told(team: Team, other_team: Team, actor: Actor, api: Callable[..., APIClient]) -> None:
    dataset = make(team, actor, lines(3))
    services.create_version(dataset, actor, file=BytesIO(lines(4)), size=len(lines(4)))
    make(other_team, actor, lines(50))
    stored = list(DatasetVersion.objects.filter(dataset=dataset))
    document = api().get("/api/v1/dataset-usage").json()
    assert document == {
        "bytes": sum(one.bytes for one in stored),
        "rows": 7,
        "bytes_limit": 200 << 30,
        "rows_limit": 500_000_000,
    }
    services.create_version(dataset, actor, file=BytesIO(lines(3)), size=len(lines(3)))  # the same file as the first
    assert usage_of(team.id).rows == 7
    deletion.delete_version(stored[1], actor)
    assert (usage_of(team.id).rows, usage_of(team.id).bytes) == (3, stored[0].bytes)
    deletion.delete_dataset(dataset, actor)
    assert (usage_of(team.id).rows, usage_of(team.id).bytes) == (0, 0)


def test_the_last_row_is_taken_and_one_more_is_not(
    team: Team, actor: Actor, api: Callable[..., APIClient], dataset_root: Path
) -> None:
    limit(team, rows=5)
    dataset, editor = make(team, actor, lines(5)), api("editor")
    before = files(dataset_root)
    file = BytesIO(lines(1, "q"))
    file.name = "x.jsonl"
    answer = editor.post(f"/api/v1/datasets/{dataset.id}/versions", {"file": file}, format="multipart")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "dataset_quota")
    assert answer.json()["detail"].startswith("The datasets of your team may have 0 rows more")
    with pytest.raises(Problem, match="Delete versions that nobody needs, or ask the operator"):
        make(team, actor, lines(1), "Others")
    assert (DatasetVersion.objects.count(), Dataset.objects.count(), files(dataset_root)) == (1, 1, before)


def test_reading_ends_at_the_row_that_is_too_many(team: Team, actor: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    limit(team, rows=2)
    read = []

    def counted(rows: Any, _: Path) -> Path:
        return storage.write_tables(storage._batches((read.append(row) or row for row in rows), storage._Ids()))

    monkeypatch.setattr(services.storage, "write", counted)
    with pytest.raises(Problem, match="may have 2 rows more"):
        make(team, actor, lines(5000))
    assert len(read) == 2


def test_bytes_are_refused_before_the_work_and_after_it(
    team: Team, actor: Actor, dataset_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = make(team, actor, lines(400)).latest_version
    limit(team, bytes=stored.bytes + 1000)
    declared = lines(2)
    assert len(declared) < 1000 < stored.bytes
    before = files(dataset_root)
    # Small as JSON lines, and larger than what is left as it is stored.
    with pytest.raises(Problem, match=r"have .* of .*; this needs .* more") as refused:
        make(team, actor, declared, "Small")
    assert (refused.value.status, refused.value.code) == (409, "dataset_quota")
    monkeypatch.setattr(services, "check_apart", lambda *_: pytest.fail("It was read all the same."))
    with pytest.raises(Problem, match="this needs"):
        make(team, actor, lines(400, "q"), "Large")
    assert (Dataset.objects.count(), files(dataset_root)) == (1, before)


def test_what_is_derived_counts_too(
    team: Team, actor: Actor, api: Callable[..., APIClient], dataset_root: Path
) -> None:
    dataset, editor = make(team, actor, lines(40)), api("editor")
    limit(team, rows=79)
    before = files(dataset_root)
    body = {"operation": {"name": "filter", "query": {"min_length": 1}}, "into": {"name": "Some"}}
    answer = editor.post(f"/api/v1/datasets/{dataset.id}/versions/1/derive", body, format="json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "dataset_quota")
    # Of two parts the first would fit: neither is made.
    split = {"name": "split", "shares": [{"name": "a", "share": 0.5}, {"name": "b", "share": 0.5}]}
    answer = editor.post(f"/api/v1/datasets/{dataset.id}/versions/1/derive", {"operation": split}, format="json")
    assert answer.status_code == 409
    assert (Dataset.objects.count(), files(dataset_root)) == (1, before)


def test_unfinished_uploads_count_by_their_declared_sizes(team: Team, actor: Actor) -> None:
    limit(team, bytes=1000)
    start_upload(team, actor, name="a", size=600)
    with pytest.raises(Problem, match="unfinished uploads and imports 600 bytes; this needs 401 bytes more"):
        start_upload(team, actor, name="b", size=401)
    start_upload(team, actor, name="c", size=400)
    assert DatasetUpload.objects.count() == 2


def test_the_quota_is_of_the_team(team: Team, other_team: Team, actor: Actor) -> None:
    limit(team, rows=0)
    with pytest.raises(Problem):
        make(team, actor, lines(1))
    assert make(other_team, actor, lines(1)).latest_version.rows == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_one_passes(actor: Actor) -> None:
    team = Team.objects.create(name="Racers", slug="racers")
    limit(team, rows=5)
    start, outcomes = threading.Barrier(2), []
    checked = services.storage.write

    def upload(name: str) -> None:
        try:
            make(team, actor, lines(3, name), name)
            outcomes.append("made")
        except Problem as problem:
            outcomes.append(problem.code)
        finally:
            connection.close()

    def together(rows: Any, folder: Path) -> Path:
        written = checked(rows, folder)
        start.wait(20)  # both have been let in, and read, before either is stored
        return written

    services.storage.write, threads = together, [threading.Thread(target=upload, args=(name,)) for name in "ab"]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        services.storage.write = checked
    assert sorted(outcomes) == ["dataset_quota", "made"]
    assert usage_of(team.id).rows == 3


def test_an_operator_sets_it(team: Team, actor: Actor) -> None:
    make(team, actor, lines(3))
    out = StringIO()
    call_command("dataset_quota", team="stable", gib="0.5", rows="2", stdout=out)
    held = usage_of(team.id)
    assert (held.bytes_limit, held.rows_limit, held.rows_left) == (1 << 29, 2, 0)
    assert out.getvalue() == f"stable: {size(held.bytes)} of 512.0 MiB, 3 of 2 rows\n"
    call_command("dataset_quota", team="stable", rows="usual", stdout=StringIO())
    assert (usage_of(team.id).bytes_limit, usage_of(team.id).rows_limit) == (1 << 29, 500_000_000)
    entry = AuditEntry.objects.filter(action="team.dataset_quota").latest("number")
    assert (entry.before, entry.after) == ({"bytes": 1 << 29, "rows": 2}, {"bytes": 1 << 29, "rows": None})


@pytest.mark.parametrize(
    "options",
    [
        {"team": "stable"},
        {"rows": "5"},
        {"team": "nobody", "rows": "5"},
        {"team": "stable", "rows": "-1"},
        {"team": "stable", "gib": "many"},
        {"team": "stable", "gib": "nan"},
        {"team": "stable", "gib": "inf"},
    ],
)
def test_an_operator_is_told_what_is_wrong(team: Team, options: dict[str, str]) -> None:
    with pytest.raises(CommandError):
        call_command("dataset_quota", **options, stdout=StringIO())
    assert usage_of(team.id).rows_limit == 500_000_000
    assert not AuditEntry.objects.exists()
