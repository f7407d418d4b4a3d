"""Datasets from addresses: what the list allows, where redirects may lead, and what is gone on with."""

from collections.abc import Callable
from typing import Any

import pytest

from dressage.common.api.problems import Problem
from dressage.datasets.imports import files
from dressage.datasets.imports.allowed_urls import how_allowed
from dressage.datasets.imports.carry_out import carry_out
from dressage.datasets.imports.services import retry_import
from dressage.datasets.models import Dataset, DatasetImport
from tests.platform.datasets.imports.conftest import jsonl, question
from tests.support.file_server import FileServer

Begin = Callable[..., DatasetImport]
ROWS = jsonl([question(n) for n in range(20)])
LIST = ("https://data.example.org/sets/", "https://*.example.com/", "http://mirror:8080/x")


@pytest.mark.parametrize(
    ("url", "how"),
    [
        ("https://data.example.org/sets/a.jsonl", "host"),
        ("https://DATA.example.org/sets/a.jsonl?signature=x", "host"),
        ("https://data.example.org:443/sets/a", "host"),
        ("https://data.example.org/sets", None),
        ("https://data.example.org/setsy/a", None),
        ("https://data.example.org/sets/../private/a", None),
        ("https://data.example.org/sets/%2e%2e/private/a", None),
        ("https://data.example.org/sets/%252e%252e/private/a", None),
        ("https://data.example.org/sets/..\\private", None),
        ("https://data.example.org:8443/sets/a", None),
        ("http://data.example.org/sets/a", None),
        ("https://data.example.org@evil.example/sets/a", None),
        ("https://user:word@data.example.org/sets/a", None),
        ("https://data.example.org.evil.example/sets/a", None),
        ("https://a.example.com/b", "any"),
        ("https://a.b.example.com/", "any"),
        ("https://example.com/b", None),
        ("https://evilexample.com/b", None),
        ("http://mirror:8080/x", "host"),
        ("http://mirror:8080/x/a", "host"),
        ("http://mirror:8080/xy", None),
        ("file:///etc/passwd", None),
        ("ftp://data.example.org/sets/a", None),
        ("https://data.example.org:0/sets/a", None),
        ("https://data.example.org:port/sets/a", None),
        ("https://data.example.org/sets/a\nb", None),
    ],
)
def test_addresses_on_the_list(url: str, how: str | None) -> None:
    assert how_allowed(url, LIST) == how


def test_a_star_alone_is_every_host() -> None:
    assert how_allowed("https://anything.example/a", ("https://*/",)) == "any"


def test_a_file_from_an_address(carried: Begin, web: FileServer) -> None:
    web.files["sets/train.jsonl"] = ROWS
    row = carried(source="url", location=f"{web.url}/sets/train.jsonl?signature=secret")
    assert (row.state, row.error, row.version.rows) == ("ready", "", 20)
    origin = row.version.origin
    assert origin["imported"]["location"] == f"{web.url}/sets/train.jsonl"
    assert (origin["imported"]["commit"], origin["file"]["name"]) == (None, "train.jsonl")
    assert origin["file"]["sha256"] == origin["imported"]["files"][0]["sha256"] != ""
    assert row.version.dataset.written_card.source == f"{web.url}/sets/train.jsonl"


def test_without_a_list_no_address_is_asked(begin: Begin, web: FileServer, settings: Any) -> None:
    settings.DATASET_IMPORT_URLS = ()
    with pytest.raises(Problem, match="may allow some by DATASET_IMPORT_URLS"):
        begin(source="url", location=f"{web.url}/a.jsonl")
    assert (DatasetImport.objects.count(), web.asked) == (0, [])


def test_an_address_beside_the_list(begin: Begin, web: FileServer, settings: Any) -> None:
    settings.DATASET_IMPORT_URLS = (f"{web.url}/sets/",)
    with pytest.raises(Problem, match=r"private/a\.jsonl is not among the addresses .* by DATASET_IMPORT_URLS"):
        begin(source="url", location=f"{web.url}/private/a.jsonl")
    assert (DatasetImport.objects.count(), web.asked) == (0, [])


def test_the_list_is_asked_again_by_the_worker(begin: Begin, web: FileServer, settings: Any) -> None:
    row = begin(source="url", location=f"{web.url}/a.jsonl")
    settings.DATASET_IMPORT_URLS = ("https://data.example.org/",)
    carry_out(row.id)
    row.refresh_from_db()
    assert (row.state, web.asked) == ("failed", [])
    assert "may allow it by DATASET_IMPORT_URLS" in row.error


def test_redirects_within_the_list_are_followed(carried: Begin, web: FileServer) -> None:
    web.files["b/real.jsonl"] = ROWS
    web.redirects["a/train.jsonl"] = "/b/real.jsonl"
    assert carried(source="url", location=f"{web.url}/a/train.jsonl").version.rows == 20


@pytest.mark.parametrize("place", ["http://169.254.169.254/latest/meta-data", "file:///etc/passwd", "/private/a.jsonl"])
def test_redirects_out_of_the_list_are_not(carried: Begin, web: FileServer, settings: Any, place: str) -> None:
    settings.DATASET_IMPORT_URLS = (f"{web.url}/sets/",)
    web.files["private/a.jsonl"] = ROWS
    web.redirects["sets/a.jsonl"] = place
    row = carried(source="url", location=f"{web.url}/sets/a.jsonl")
    assert row.state == "failed"
    assert row.error.startswith(f"127.0.0.1:{web.port} redirects to ")
    assert row.error.endswith("may allow it by DATASET_IMPORT_URLS.")
    assert [path for path, _ in web.asked] == ["sets/a.jsonl"]


def test_redirects_in_circles_end(carried: Begin, web: FileServer) -> None:
    web.redirects["a"] = "/a"
    assert carried(source="url", location=f"{web.url}/a").error.endswith("redirects more than 5 times.")


def test_private_addresses_need_the_hosts_own_name(carried: Begin, web: FileServer, settings: Any) -> None:
    settings.DATASET_IMPORT_URLS = (f"http://*:{web.port}/",)
    web.files["a.jsonl"] = ROWS
    row = carried(source="url", location=f"{web.url}/a.jsonl")
    assert row.state == "failed"
    assert row.error == (
        "127.0.0.1 is not on the public internet. Whoever runs this installation may allow it by naming this host in "
        "DATASET_IMPORT_URLS."
    )
    assert web.asked == []


def test_a_cut_is_gone_on_with_by_ranges(carried: Begin, web: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dressage.datasets.imports.url.PIECE_BYTES", 100)
    web.files["a.jsonl"] = ROWS
    web.cuts["a.jsonl"] = [len(ROWS), 600]
    row = carried(source="url", location=f"{web.url}/a.jsonl")
    assert (row.state, row.version.rows) == ("ready", 20)
    assert [asked for _, asked in web.asked] == [None, None, "bytes=600-"]


def test_a_server_without_ranges_is_read_anew(carried: Begin, web: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dressage.datasets.imports.url.PIECE_BYTES", 100)
    web.files["a.jsonl"], web.without_ranges = ROWS, True
    web.cuts["a.jsonl"] = [len(ROWS), 600]
    row = carried(source="url", location=f"{web.url}/a.jsonl")
    assert (row.state, row.version.rows) == ("ready", 20)


def test_the_rest_of_another_version_is_not_appended(begin: Begin, web: FileServer) -> None:
    other = jsonl([question(n + 100) for n in range(20)])
    web.files["a.jsonl"] = other
    row = begin(source="url", location=f"{web.url}/a.jsonl")
    DatasetImport.objects.filter(pk=row.pk).update(
        files=[{"path": "a.jsonl", "bytes": len(other), "tag": '"of-before"', "sha256": ""}]
    )
    files.folder_of(row.id).mkdir(parents=True)
    files.path_of(row.id, 0).write_bytes(ROWS[:500])
    carry_out(row.id)
    row.refresh_from_db()
    assert (row.state, row.version.rows) == ("ready", 20)
    assert [asked for _, asked in web.asked] == [None, None]


def test_what_the_other_side_says(carried: Begin, web: FileServer) -> None:
    web.status |= {"gone": 404, "shut": 403, "ill": 500}
    web.files["endless"] = ROWS
    assert carried(source="url", location=f"{web.url}/gone").error.endswith("answers 404. Check the address.")
    shut = carried(source="url", location=f"{web.url}/shut", name="Shut")
    assert shut.error.endswith("answers 403: it gives the file only to who signs in.")
    ill = carried(source="url", location=f"{web.url}/ill", name="Ill")
    assert (ill.state, ill.error.endswith("answers 500 for now. It will be retried later.")) == ("queued", True)
    web.without_size = True
    endless = carried(source="url", location=f"{web.url}/endless", name="Endless")
    assert endless.error.endswith("does not tell the size of the file, so it cannot be bounded.")


def test_a_web_page_is_named_as_what_it_is_and_retried(carried: Begin, web: FileServer, team: Any, actor: Any) -> None:
    web.files["a.jsonl"] = b"<!DOCTYPE html><p>Sign in"
    row = carried(source="url", location=f"{web.url}/a.jsonl")
    assert row.state == "failed"
    assert row.error.startswith("This is a web page, perhaps the one on which the file is offered.")
    assert Dataset.objects.count() == 0
    web.files["a.jsonl"] = ROWS
    retry_import(team, actor, row)
    carry_out(row.id)
    row.refresh_from_db()
    assert (row.state, row.version.rows) == ("ready", 20)
