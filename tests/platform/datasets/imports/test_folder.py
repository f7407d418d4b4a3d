"""Datasets from folders of the machine: what the list allows, and that links lead nowhere else."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dressage.common.api.problems import Problem
from dressage.datasets.imports.carry_out import carry_out
from dressage.datasets.imports.folder import FolderSource
from dressage.datasets.imports.places import listed
from dressage.datasets.models import DatasetImport
from dressage.imports.remote import ImportRefused
from dressage.teams.models import Team
from tests.platform.datasets.imports.conftest import jsonl, question

Begin = Callable[..., DatasetImport]


@pytest.fixture
def shared(home: Path, settings: Any) -> Path:
    folder = home / "shared"
    (folder / "sums" / "data").mkdir(parents=True)
    for number in range(2):
        name = f"train-0000{number}-of-00002.jsonl"
        (folder / "sums" / "data" / name).write_bytes(jsonl([question(number)]))
    (folder / "sums" / "data" / "test.jsonl.gz").write_bytes(jsonl([question(9)], packed=True))
    (folder / "sums" / ".hidden.jsonl").write_bytes(jsonl([question(8)]))
    settings.DATASET_IMPORT_FOLDERS = (folder,)
    return folder


@pytest.fixture
def secret(home: Path) -> Path:
    path = home / "secret" / "rows.jsonl"
    path.parent.mkdir()
    path.write_bytes(jsonl([question(1)]))
    return path


def test_splits_of_a_folder(shared: Path, team: Team) -> None:
    found = listed(team, source="folder", location=str(shared / "sums"), revision="")
    assert (found["commit"], found["licence"]) == (None, "")
    assert [(one["config"], one["split"], [file["path"] for file in one["files"]]) for one in found["choices"]] == [
        ("default", "train", ["data/train-00000-of-00002.jsonl", "data/train-00001-of-00002.jsonl"]),
        ("default", "test", ["data/test.jsonl.gz"]),
    ]


def test_a_split_of_a_folder(carried: Begin, shared: Path) -> None:
    row = carried(source="folder", location=str(shared / "sums"), split="train")
    assert (row.state, row.error, row.version.rows) == ("ready", "", 2)
    assert row.version.origin["imported"]["source"] == "folder"
    assert (shared / "sums" / "data" / "test.jsonl.gz").is_file()


def test_one_file(carried: Begin, shared: Path) -> None:
    row = carried(source="folder", location=str(shared / "sums" / "data" / "test.jsonl.gz"))
    assert (row.state, row.version.rows, row.version.origin["file"]["packing"]) == ("ready", 1, "gzip")


def test_without_a_list_no_folder_is_read(begin: Begin, shared: Path, settings: Any) -> None:
    settings.DATASET_IMPORT_FOLDERS = ()
    with pytest.raises(Problem, match="may allow some by DATASET_IMPORT_FOLDERS"):
        begin(source="folder", location=str(shared))


@pytest.mark.parametrize("how", ["outside", "up", "relative", "link", "link to a folder", "not there"])
def test_nothing_leads_out(begin: Begin, shared: Path, secret: Path, how: str) -> None:
    (shared / "link.jsonl").symlink_to(secret)
    (shared / "folder").symlink_to(secret.parent)
    location = {
        "outside": str(secret),
        "up": f"{shared}/../secret/rows.jsonl",
        "relative": "sums",
        "link": str(shared / "link.jsonl"),
        "link to a folder": str(shared / "folder" / "rows.jsonl"),
        "not there": "/nowhere/at/all",
    }[how]
    with pytest.raises(Problem) as caught:
        begin(source="folder", location=location)
    assert caught.value.detail == (
        f"{location} is in no folder that datasets may be imported from. Whoever runs this installation may allow it "
        "by DATASET_IMPORT_FOLDERS."
    )
    assert DatasetImport.objects.count() == 0


def test_links_out_are_not_listed(shared: Path, secret: Path) -> None:
    (shared / "link.jsonl").symlink_to(secret)
    (shared / "folder").symlink_to(secret.parent)
    (shared / "inside.jsonl").symlink_to(shared / "sums" / "data" / "test.jsonl.gz")
    os.mkfifo(shared / "pipe.jsonl")
    names = FolderSource(str(shared)).listing().files.keys()
    assert sorted(names) == [
        "inside.jsonl",
        "sums/data/test.jsonl.gz",
        "sums/data/train-00000-of-00002.jsonl",
        "sums/data/train-00001-of-00002.jsonl",
    ]


def test_a_link_that_was_put_there_after_the_listing(shared: Path, secret: Path, tmp_path: Path) -> None:
    source = FolderSource(str(shared / "sums"))
    file = source.listing().files["data/test.jsonl.gz"]
    (shared / "sums" / "data" / "test.jsonl.gz").unlink()
    (shared / "sums" / "data" / "test.jsonl.gz").symlink_to(secret)
    with pytest.raises(ImportRefused, match=r"leads out of the folders that DATASET_IMPORT_FOLDERS allows"):
        source.fetch(file, tmp_path / "target", lambda: None)
    assert (tmp_path / "target").read_bytes() == b""


def test_a_file_that_changed_meanwhile(shared: Path, tmp_path: Path) -> None:
    source = FolderSource(str(shared / "sums"))
    file = source.listing().files["data/test.jsonl.gz"]
    (shared / "sums" / "data" / "test.jsonl.gz").write_bytes(b"another")
    with pytest.raises(ImportRefused, match="was changed since it was listed"):
        source.fetch(file, tmp_path / "target", lambda: None)


def test_a_folder_that_the_operator_has_taken_off_the_list(begin: Begin, shared: Path, settings: Any) -> None:
    row = begin(source="folder", location=str(shared / "sums"))
    settings.DATASET_IMPORT_FOLDERS = (shared / "other",)
    carry_out(row.id)
    row.refresh_from_db()
    assert (row.state, "may allow it by DATASET_IMPORT_FOLDERS" in row.error) == ("failed", True)
