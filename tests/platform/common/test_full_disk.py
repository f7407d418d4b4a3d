"""A full disk is a 507 with the path and what is missing, wherever the platform writes, and one line in the log."""

import errno
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.backends.db import SessionStore
from django.core.exceptions import BadRequest
from django.db import OperationalError
from django.test import RequestFactory
from psycopg import errors
from structlog.testing import capture_logs

from dressage.common.api import full_disk as module
from dressage.common.api.full_disk import full_disk
from dressage.common.api.middleware import SessionsMiddleware
from dressage.common.api.problem_responses import as_problem, server_error

NO_ROOM = 'could not extend file "base/5/16384": No space left on device'


@pytest.fixture(autouse=True)
def told_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_told", {})


def chained(outer: Exception, inner: Exception) -> Exception:
    outer.__cause__ = inner
    return outer


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_file_is_named_with_the_bytes_that_are_missing(code: int, tmp_path: Any) -> None:
    problem = as_problem(OSError(code, "full", str(tmp_path / "new" / "data.jsonl")))
    assert problem is not None and (problem.status, problem.code) == (507, "disk_full")
    assert problem.extra["path"] == str(tmp_path / "new" / "data.jsonl") and problem.extra["missing_bytes"] >= 1
    count = problem.extra["missing_bytes"]
    missing = "1 byte is missing" if count == 1 else f"{count:,} bytes are missing"
    assert missing in problem.detail


def test_postgresql_is_named_behind_whatever_was_raised_from_it() -> None:
    wrapped = chained(OperationalError(NO_ROOM), errors.DiskFull(NO_ROOM))
    for error in (wrapped, chained(UpdateError(), wrapped), chained(BadRequest(), wrapped)):
        problem = as_problem(error)
        assert problem is not None and problem.status == 507
        assert problem.extra == {"path": "PostgreSQL: base/5/16384", "missing_bytes": 8192}


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EACCES, "denied", "/x"),
        chained(OperationalError("gone"), errors.ConnectionException("gone")),
        ValueError("No space left on device"),
    ],
)
def test_other_errors_are_not_taken_for_a_full_disk(error: Exception) -> None:
    assert full_disk(error) is None
    problem = as_problem(error)
    assert problem is None or problem.status == 503


def test_it_is_logged_once_without_a_traceback() -> None:
    with capture_logs() as lines:
        for _ in range(50):
            full_disk(OSError(errno.ENOSPC, "full", "/tmp/a"))
        full_disk(OSError(errno.ENOSPC, "full", "/tmp/b"))
    assert [(line["event"], line["path"]) for line in lines] == [("disk_full", "/tmp/a"), ("disk_full", "/tmp/b")]
    assert not any("exc_info" in line for line in lines)


def session_fails(monkeypatch: pytest.MonkeyPatch, error: Exception) -> Callable[[], Any]:
    def save(self: Any, must_create: bool = False) -> None:
        raise error

    monkeypatch.setattr(SessionStore, "save", save)

    def answer() -> Any:
        def view(request: Any) -> Any:
            from django.http import HttpResponse

            request.session["user"] = 1
            return HttpResponse()

        return SessionsMiddleware(view)(RequestFactory().post("/api/v1/auth/sign-in"))

    return answer


def test_a_session_that_cannot_be_stored_answers_507(monkeypatch: pytest.MonkeyPatch) -> None:
    full = chained(OperationalError(NO_ROOM), errors.DiskFull(NO_ROOM))
    response = session_fails(monkeypatch, full)()
    assert response.status_code == 507 and b"base/5/16384" in response.content


def test_a_session_that_fails_otherwise_is_no_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OperationalError, match="gone"):
        session_fails(monkeypatch, OperationalError("gone"))()


def test_what_fails_outside_of_a_view_answers_507_too() -> None:
    try:
        raise OSError(errno.ENOSPC, "full", "/tmp/a")
    except OSError:
        response = server_error(RequestFactory().get("/api/v1/runs"))
    assert response.status_code == 507 and server_error(RequestFactory().get("/api/v1/runs")).status_code == 500
