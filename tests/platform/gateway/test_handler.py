"""How requests are taken from the ASGI server to views and back."""

import asyncio
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from django.db import connection
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import path

from dressage.common.api.client import client_is_gone
from dressage.gateway.handler import ThreadedHandler
from tests.support.about import PLATFORM

PARTS = 500
made: list[int] = []
closed: list[bool] = []


def parts() -> Iterator[bytes]:
    """What a download reads from the disk, part by part."""
    try:
        for number in range(PARTS):
            made.append(number)
            yield b"x"
    finally:
        closed.append(True)


def stream(request: HttpRequest) -> StreamingHttpResponse:
    return StreamingHttpResponse(parts())


def query(request: HttpRequest) -> HttpResponse:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 6 * 7")
        return HttpResponse(str(cursor.fetchone()[0]), headers={"Set-Cookie": "a=b"})


def broken(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("a fault of ours")


waits, saw = threading.Event(), threading.Event()


def waiting(request: HttpRequest) -> HttpResponse:
    waits.set()
    end = time.monotonic() + 30
    while not client_is_gone() and time.monotonic() < end:
        time.sleep(0.01)
    if client_is_gone():
        saw.set()
    return HttpResponse()


urlpatterns = [path(view.__name__, view) for view in (stream, query, broken, waiting)]
handler500 = "dressage.common.api.problem_responses.server_error"


@pytest.fixture(autouse=True)
def own_addresses(settings: Any) -> None:
    settings.ROOT_URLCONF = __name__
    made.clear()
    closed.clear()


class Reader:
    """The server's side of one request: takes ``pace`` parts of the body, and leaves then or goes on reading."""

    def __init__(self, path: str, leaves_after: int | None = None) -> None:
        self.scope = {
            "type": "http", "method": "GET", "path": f"/{path}", "raw_path": path.encode(), "query_string": b"",
            "http_version": "1.1", "scheme": "http", "root_path": "", "headers": [(b"host", b"localhost")],
        }  # fmt: skip
        self.messages: list[Mapping[str, Any]] = []
        self.ahead = 0
        """Most parts that were made before the reader had taken them."""
        self._leaves_after, self._asked, self._gone = leaves_after, False, asyncio.Event()

    async def receive(self) -> Mapping[str, Any]:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Mapping[str, Any]) -> None:
        self.ahead = max(self.ahead, len(made) - sum(len(one.get("body", b"")) for one in self.messages))
        self.messages.append(message)
        if len(self.messages) == self._leaves_after:
            self._gone.set()
            await asyncio.sleep(0)

    def leave(self) -> None:
        """Hang up."""
        self._gone.set()

    @property
    def answer(self) -> tuple[int, bytes]:
        return self.messages[0]["status"], b"".join(message.get("body", b"") for message in self.messages)


def ask(*readers: Reader) -> None:
    """Answer all at once."""
    handler = ThreadedHandler()

    async def all_of_them() -> None:
        await asyncio.gather(*(handler(reader.scope, reader.receive, reader.send) for reader in readers))

    asyncio.run(all_of_them())


def test_a_stream_is_made_as_it_is_read() -> None:
    reader = Reader("stream")
    ask(reader)
    assert reader.answer == (200, b"x" * PARTS)
    assert (reader.ahead, closed) == (1, [True])


def test_nothing_is_made_for_a_reader_that_has_left() -> None:
    reader = Reader("stream", leaves_after=5)
    ask(reader)
    assert 4 <= len(made) <= 6
    assert closed == [True]


@pytest.mark.expensive(3, "walks over many requests", about=PLATFORM)
@pytest.mark.django_db(transaction=True)
def test_every_request_gives_its_connection_back() -> None:
    readers = [Reader(name) for name in ("query", "query", "stream", "broken") for _ in range(20)]
    ask(*readers)
    answers = [reader.answer for reader in readers]
    assert answers[:40] == [(200, b"42")] * 40
    assert answers[40:60] == [(200, b"x" * PARTS)] * 20
    assert {status for status, _ in answers[60:]} == {500}
    assert (b"Set-Cookie", b"a=b") in readers[0].messages[0]["headers"]
    connection.close()
    usage = connection.pool.get_stats()  # type: ignore[attr-defined]
    assert usage["pool_available"] == usage["pool_size"] <= 20
    assert usage.get("requests_waiting", 0) == 0


def test_a_thread_learns_that_its_client_has_left() -> None:
    reader = Reader("waiting")

    async def leave_in_the_middle() -> None:
        answer = asyncio.ensure_future(ThreadedHandler()(reader.scope, reader.receive, reader.send))
        await asyncio.to_thread(waits.wait, 30)
        assert not saw.is_set()
        reader.leave()
        await asyncio.wait_for(answer, 30)

    asyncio.run(leave_in_the_middle())
    assert saw.is_set()
    assert not client_is_gone()  # which is not for other threads
