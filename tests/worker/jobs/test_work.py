"""The end of a job's work: what is answered, and when a worker keeps silent."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest

from tests.support.quiet_handler import QuietHandler
from trainer_core.link.jobs import PROFILE, JobKind, JobLease
from trainer_core.link.profile import ProfileBatch, ProfileResult, ProfileRow
from worker.jobs.work import JobWork, WorkerLost


class Job(JobLease):
    """The job's message."""

    id: str


class Work(JobWork[Job]):
    """Hands in one batch, then ends as it is told."""

    kind: ClassVar[JobKind] = PROFILE

    def __init__(self, url: str, end: Callable[[], ProfileResult]) -> None:
        super().__init__("prf_1", url, "secret", lambda: None)
        self._end = end

    def _read(self, document: dict[str, Any]) -> Job:
        return Job.model_validate(document)

    def _failure(self, reason: str) -> ProfileResult:
        return ProfileResult(error=reason)

    def _result(self, job: Job) -> ProfileResult:
        link = self._open_link()
        try:
            row = ProfileRow(row=0, asked=4, samples=4, correct=1)
            link.hand_in("batches", ProfileBatch(number=7, rows=(row,), tokens=1, seconds=1.0))
        finally:
            link.close()
        return self._end()


class Platform:
    """Answers batches with a status and keeps results."""

    def __init__(self) -> None:
        self.batch_status = 200
        self.results: list[dict[str, Any]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(platform: Platform) -> type[BaseHTTPRequestHandler]:
    class Handler(QuietHandler):
        def do_GET(self) -> None:
            self._answer(200, {"id": "prf_1", "lease_s": 60.0})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path.endswith("/batches"):
                self._answer(platform.batch_status, {"detail": "Batch 8 is the next one."})
                return
            if self.path.endswith("/result"):
                platform.results.append(body)
            self._answer(200, {})

        def _answer(self, status: int, document: dict[str, Any]) -> None:
            data = json.dumps(document).encode()
            self.answer(status, data)

    return Handler


@pytest.fixture
def platform() -> Iterator[Platform]:
    made = Platform()
    yield made
    made.close()


def settled() -> ProfileResult:
    return ProfileResult(stopped="settled")


def lost() -> ProfileResult:
    raise WorkerLost("The engine is gone.")


def broken() -> ProfileResult:
    raise ValueError("no such row")


def test_a_worker_that_was_replaced_says_nothing(platform: Platform) -> None:
    platform.batch_status = 409
    Work(platform.url, settled).run()
    assert platform.results == []


def test_a_worker_that_another_may_follow_says_nothing(platform: Platform) -> None:
    Work(platform.url, lost).run()
    assert platform.results == []


@pytest.mark.parametrize(
    ("status", "end", "error"),
    [
        (200, settled, None),
        (200, broken, "ValueError: no such row"),
        (422, settled, "the platform rejects the message: 422"),
    ],
)
def test_all_else_is_answered(
    platform: Platform, status: int, end: Callable[[], ProfileResult], error: str | None
) -> None:
    platform.batch_status = status
    Work(platform.url, end).run()
    [result] = [ProfileResult.model_validate(one) for one in platform.results]
    assert (result.error or "").startswith(error or "") and (result.error is None) == (error is None)
