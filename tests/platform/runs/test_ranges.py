"""Parts of downloads: what RFC 9110 says of Range, If-Range and HEAD."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpRequest
from django.test import RequestFactory
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.test import APIClient

from dressage.common.api.problems import Problem
from dressage.common.api.ranges import download, wanted
from dressage.runs.export.archive import Archive
from dressage.runs.models import Checkpoint, Run
from tests.support.about import PLATFORM

SIZE = 1000
"""Bytes of the file in these tests."""


@pytest.mark.parametrize(
    ("header", "part"),
    [
        ("", None),
        ("bytes=0-", (0, SIZE)),
        ("bytes=0-0", (0, 1)),
        ("bytes=10-19", (10, 20)),
        ("bytes=990-5000", (990, SIZE)),
        ("bytes=-10", (990, SIZE)),
        ("bytes=-5000", (0, SIZE)),
        # Not understood, or several at once: the whole.
        ("bytes=-", None),
        ("bytes=20-10", None),
        ("bytes=0-1,5-6", None),
        ("lines=0-1", None),
        ("bytes=a-b", None),
        ("bytes=٣-", None),
        ("bytes=1-" + "9" * 5000, None),
    ],
)
def test_which_part_is_wanted(header: str, part: tuple[int, int] | None) -> None:
    assert wanted(header, SIZE) == part


@pytest.mark.parametrize("header", ["bytes=1000-", "bytes=5000-6000", "bytes=-0"])
def test_a_part_behind_the_end(header: str) -> None:
    with pytest.raises(Problem) as refused:
        wanted(header, SIZE)
    assert (refused.value.status, refused.value.headers) == (416, {"Content-Range": "bytes */1000"})


def read(start: int, end: int) -> Iterator[bytes]:
    yield (bytes(range(250)) * 4)[start:end]


def ask(method: str = "get", **headers: str) -> tuple[Any, list[bool]]:
    request: HttpRequest = getattr(RequestFactory(), method)("/", headers=headers)
    closed: list[bool] = []
    answer = download(request, read, size=SIZE, etag="e", content_type="x/y", close=lambda: closed.append(True))
    return answer, closed


def test_parts_and_the_whole(db: None) -> None:
    whole, closed = ask()
    assert (whole.status_code, whole["Accept-Ranges"], whole["ETag"]) == (200, "bytes", '"e"')
    assert b"".join(whole) == bytes(range(250)) * 4
    assert closed == []
    whole.close()
    assert closed == [True]
    part, _ = ask(Range="bytes=10-19")
    assert (part.status_code, part["Content-Range"], part["Content-Length"]) == (206, "bytes 10-19/1000", "10")
    assert b"".join(part) == bytes(range(10, 20))


def test_a_part_of_other_bytes_is_not_sent() -> None:
    assert ask(**{"Range": "bytes=10-19", "If-Range": '"e"'})[0].status_code == 206
    for other in ('"old"', 'W/"e"', "Sun, 22 Nov 2026 12:00:00 GMT", "e"):
        assert ask(**{"Range": "bytes=10-19", "If-Range": other})[0].status_code == 200


def test_head_tells_and_sends_nothing() -> None:
    head, closed = ask("head", Range="bytes=10-19")
    assert (head.status_code, head["Content-Length"], head.content) == (200, "1000", b"")
    assert closed == [True]


def test_a_refusal_closes_what_was_opened() -> None:
    closed: list[bool] = []
    request = RequestFactory().get("/", headers={"Range": "bytes=1000-"})
    with pytest.raises(Problem):
        download(request, read, size=SIZE, etag="e", content_type="x/y", close=lambda: closed.append(True))
    assert closed == [True]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("checkpoint")
    for name, size in (("a", 0), ("b", 512), ("c", 1300), ("d", 1)):
        (made / name).write_bytes(name.encode() * size)
    return made


@pytest.mark.expensive(5, "walks over many requests", about=PLATFORM)
@given(start=st.integers(0, 6000), length=st.integers(1, 6000))
def test_any_part_of_an_archive(folder: Path, start: int, length: int) -> None:
    archive = Archive(folder, "p")
    whole = b"".join(archive.read(0, archive.size))
    assert len(whole) == archive.size
    end = min(archive.size, start + length)
    assert b"".join(archive.read(start, end)) == whole[start:end]
    archive.close()


def test_a_checkpoint_in_two_parts(launch: Callable[..., Any], api: Callable[..., APIClient]) -> None:
    _, worker = launch("My run")
    worker.checkpoint(3)
    path, client = f"/api/v1/checkpoints/{Checkpoint.objects.get().id}/download", api("viewer")
    whole = client.get(path)
    content = b"".join(whole)
    headers = {"HTTP_IF_RANGE": whole["ETag"]}
    first = client.get(path, HTTP_RANGE="bytes=0-699", **headers)
    rest = client.get(path, HTTP_RANGE="bytes=700-", **headers)
    assert (first.status_code, rest.status_code) == (206, 206)
    assert b"".join(first) + b"".join(rest) == content
    assert client.get(path, HTTP_RANGE=f"bytes={len(content)}-").status_code == 416
    head = client.head(path)
    assert (head.status_code, head["Content-Length"]) == (200, str(len(content)))
    # Another name of the run is in the bytes: a part of the former ones is no part of these.
    Run.objects.update(name="Renamed")
    assert client.get(path, HTTP_RANGE="bytes=700-", **headers).status_code == 200
