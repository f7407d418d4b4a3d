"""Bodies are refused before they are read: nobody fills the disk or the memory of the web server."""

import json
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest
from django.conf import settings as django_settings
from django.urls import URLPattern, URLResolver, get_resolver
from rest_framework.test import APIClient

from dressage.common.roles import Role
from dressage.datasets.limits import MAX_UPLOAD_BYTES
from dressage.gateway import bodies
from dressage.gateway.bodies import LINGER_BYTES, OPEN_BYTES, USUAL_BYTES
from dressage.runs.models import Run
from dressage.teams.models import Team
from tests.platform.gateway.served import Answer, post, served
from tests.platform.tokens import token_of

pytestmark = pytest.mark.django_db(transaction=True)
MIB = 1 << 20
BUFFERS = 24 * MIB
"""More than what sockets of loopback hold between a sender and a server that does not read."""


@pytest.fixture
def port() -> Iterator[int]:
    with served() as number:
        yield number


@pytest.fixture
def spooled(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Temporary files that were made."""
    made: list[object] = []
    file = tempfile.TemporaryFile
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda *args, **kwargs: made.append(args) or file(*args, **kwargs))
    return made


def code(answer: Answer) -> str:
    return str(json.loads(answer.body)["error"]["code"])


def bearer(team: Team, actor: Any, role: Role) -> dict[str, str]:
    _, secret = token_of(team, role)
    return {"Authorization": f"Bearer {secret}"}


def test_400_mib_of_nobody_cost_nothing(port: int, spooled: list[object]) -> None:
    process = psutil.Process()
    before = process.memory_info().rss
    for path, status in (
        ("/api/v1/runs", 413),
        ("/api/v1/datasets", 401),
        ("/api/v1/session", 413),
        ("/api/v1/link/runs/run_x/sync", 413),
        ("/api/v1/nothing", 413),
        ("/runs", 413),
    ):
        answer = post(port, path, 400 * MIB, {})
        # Whoever never stops sending may find the connection closed before he reads why.
        assert answer.status in (status, 0), path
        assert answer.sent < LINGER_BYTES + BUFFERS, path
    assert spooled == []
    assert process.memory_info().rss - before < 32 * MIB


@pytest.mark.parametrize(
    ("path", "size", "status", "why"),
    [
        ("/api/v1/runs", OPEN_BYTES + 1, 401, "not_authenticated"),
        ("/api/v1/runs", USUAL_BYTES + 1, 413, "too_large"),
        ("/api/v1/datasets", USUAL_BYTES + 1, 401, "not_authenticated"),
        ("/api/v1/session", OPEN_BYTES + 1, 413, "too_large"),
        ("/api/v1/link/runs/run_x/sync", OPEN_BYTES + 1, 401, "invalid_token"),
    ],
)
def test_an_honest_sender_reads_why(
    port: int, spooled: list[object], path: str, size: int, status: int, why: str
) -> None:
    answer = post(port, path, min(size, OPEN_BYTES + 1), {"Content-Length": str(size)})
    assert (answer.status, code(answer)) == (status, why)
    assert answer.headers["connection"] == "close"
    assert answer.headers["x-request-id"].startswith("req_")
    assert spooled == []


def test_roles_and_foreign_tokens(port: int, team: Team, actor: Any, spooled: list[object]) -> None:
    size = OPEN_BYTES + 1
    for headers, status, why in (
        (bearer(team, actor, Role.VIEWER), 403, "permission_denied"),
        ({"Authorization": "Bearer drs_wrong"}, 401, "invalid_token"),
        ({"Cookie": f"{django_settings.SESSION_COOKIE_NAME}=abcdefgh"}, 401, "not_authenticated"),
    ):
        answer = post(port, "/api/v1/datasets", size, headers)
        assert (answer.status, code(answer)) == (status, why)
    assert spooled == []


def test_a_session_needs_its_csrf_token_first(port: int, api: Callable[..., APIClient], spooled: list[object]) -> None:
    client = api("editor")
    name = django_settings.SESSION_COOKIE_NAME
    session = f"{name}={client.cookies[name].value}"
    refused = post(port, "/api/v1/datasets", OPEN_BYTES + 1, {"Cookie": session})
    assert (refused.status, code(refused)) == (403, "csrf_failed")
    assert spooled == []
    secret = "k" * 32
    allowed = post(
        port, "/api/v1/rewards", OPEN_BYTES + 1, {"Cookie": f"{session}; csrftoken={secret}", "X-CSRFToken": secret}
    )
    assert allowed.status == 400  # it was read, and is not JSON


def test_who_may_sends_as_much_as_the_view_takes(port: int, team: Team, actor: Any) -> None:
    editor = bearer(team, actor, Role.EDITOR)
    assert post(port, "/api/v1/rewards", 2 * MIB, editor).status == 400  # not JSON
    for path, most in (("/api/v1/rewards", USUAL_BYTES), ("/api/v1/datasets", MAX_UPLOAD_BYTES)):
        answer = post(port, path, OPEN_BYTES, {**editor, "Content-Length": str(most + 1)})
        assert (answer.status, code(answer)) == (413, "too_large")


def test_bodies_of_unknown_length_are_counted(port: int, team: Team, actor: Any, spooled: list[object]) -> None:
    editor = bearer(team, actor, Role.EDITOR)
    answer = post(port, "/api/v1/rewards", OPEN_BYTES + 1024, editor, chunked=True, piece=1024)
    assert (answer.status, code(answer)) == (411, "length_required")
    endless = post(port, "/api/v1/rewards", 400 * MIB, {}, chunked=True)
    assert endless.sent < LINGER_BYTES + BUFFERS
    assert spooled == []
    # A small one is read whole, with the length that it turned out to have.
    small = post(port, "/api/v1/rewards", 2048, editor, chunked=True, piece=1024)
    assert (small.status, "JSON" in str(json.loads(small.body)["detail"])) == (400, True)


def test_a_body_that_stalls_is_given_up(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "STALLED_S", 0.1)
    answer = post(port, "/api/v1/session", 10, {"Content-Length": "1000"})
    assert (answer.status, code(answer)) == (408, "request_timeout")


def views(patterns: list[URLPattern | URLResolver]) -> Iterator[Any]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from views(pattern.url_patterns)
        else:
            yield getattr(pattern.callback, "cls", None)


def test_no_view_but_uploads_takes_much() -> None:
    found = [view for view in views(get_resolver().url_patterns) if getattr(view, "max_body_bytes", 0) > USUAL_BYTES]
    large = {view.__name__ for view in found}
    assert large == {"DatasetsView", "DatasetVersionsView", "DatasetPreviewView"}


def test_nothing_is_stored_by_what_is_refused(port: int, team: Team, actor: Any) -> None:
    post(port, "/api/v1/runs", OPEN_BYTES + 1, bearer(team, actor, Role.VIEWER))
    assert Run.objects.count() == 0
