"""The live stream over real Redis: no gaps, no doubles, only for those who may read."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_thread
from django.contrib.sessions.models import Session
from django.db import OperationalError, transaction
from django.utils import timezone
from rest_framework.test import APIClient

from dressage.asgi import application
from dressage.common.roles import Role
from dressage.common.scopes import Scope
from dressage.monitoring.stream import base
from dressage.monitoring.stream.run_consumer import RunConsumer
from dressage.runs.life.lifecycle import locked
from dressage.runs.models import Run
from dressage.teams.models import ApiToken, Membership, Team, User
from dressage.telemetry import wakeup
from dressage.telemetry.events import append_event
from dressage.telemetry.models import Event
from tests.platform.telemetry.socket import ORIGIN, Socket, cookie
from tests.platform.tokens import token_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]


def emit(run: Run, count: int = 1, kind: str = "log") -> None:
    """Append events as the link does, one transaction each."""
    for number in range(count):
        with transaction.atomic():
            append_event(locked(run.id), kind, {"level": "info", "message": str(number)})


@asynccontextmanager
async def watch(path: str, *headers: tuple[bytes, bytes]) -> AsyncIterator[Socket]:
    socket = Socket(application, path, [ORIGIN, *headers])
    assert await socket.connect()
    try:
        yield socket
    finally:
        await socket.disconnect()


async def close_code(socket: Socket) -> int:
    """The code with which the server ends the connection."""
    while True:
        message = await socket.receive_output(timeout=10)
        if message["type"] == "websocket.close":
            return int(message["code"])


async def until(socket: Socket, seq: int) -> list[dict[str, Any]]:
    """Frames up to the event ``seq``."""
    frames = []
    while not frames or (frames[-1].get("seq") or 0) < seq:
        frames.append(await socket.receive_json())
    return frames


def sequence(frames: list[dict[str, Any]]) -> list[int]:
    return [event["seq"] for frame in frames for event in frame.get("events", ())]


async def test_events_arrive_once_and_in_order(make_run: Any, api: Callable[..., APIClient]) -> None:
    run = await in_thread(make_run)()
    session = (b"cookie", cookie(await in_thread(api)("viewer")))
    async with watch(f"/ws/v1/runs/{run.id}", session) as socket:
        hello = await socket.receive_json()
        assert (hello["type"], hello["seq"], hello["events"]) == ("events", 1, [])
        assert hello["run"]["id"] == run.id
        assert "spec" not in hello["run"]
        writing = asyncio.create_task(in_thread(emit, thread_sensitive=False)(run, 30))
        frames = await until(socket, 31)
        await writing
    assert sequence(frames) == list(range(2, 32))
    async with watch(f"/ws/v1/runs/{run.id}?after=12", session) as socket:
        frames = await until(socket, 31)
    assert sequence(frames) == list(range(13, 32))
    assert frames[-1]["events"][-1]["data"] == {"level": "info", "message": "29"}


async def test_a_long_history_comes_in_bounded_frames(make_run: Any, api: Callable[..., APIClient], team: Team) -> None:
    run = await in_thread(make_run)()

    def fill() -> None:
        rows = [
            Event(run=run, seq=seq, attempt=0, kind="log", at=run.created_at, data={"n": seq}) for seq in range(2, 502)
        ]
        Event.objects.bulk_create(rows)
        Run.objects.filter(pk=run.pk).update(event_seq=501)

    await in_thread(fill)()
    session = (b"cookie", cookie(await in_thread(api)("viewer")))
    async with watch(f"/ws/v1/runs/{run.id}?after=0", session) as socket:
        frames = await until(socket, 501)
    assert sequence(frames) == list(range(1, 502))
    assert [len(frame["events"]) for frame in frames] == [200, 200, 101]


@pytest.mark.timed
async def test_frames_are_coalesced(make_run: Any, api: Callable[..., APIClient]) -> None:
    run = await in_thread(make_run)()
    session = (b"cookie", cookie(await in_thread(api)("viewer")))
    async with watch(f"/ws/v1/runs/{run.id}", session) as socket:
        await socket.receive_json()
        began = time.monotonic()
        writing = asyncio.create_task(in_thread(emit, thread_sensitive=False)(run, 100))
        frames = await until(socket, 101)
        seconds = time.monotonic() - began
        await writing
    assert sequence(frames) == list(range(2, 102))
    assert len(frames) <= 4 * seconds + 2


async def test_a_lost_wake_up_only_delays(
    make_run: Any, api: Callable[..., APIClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wakeup, "_wake", lambda *_: None)
    run = await in_thread(make_run)()
    session = (b"cookie", cookie(await in_thread(api)("viewer")))
    async with watch(f"/ws/v1/runs/{run.id}", session) as socket:
        await socket.receive_json()
        await in_thread(emit)(run)
        assert sequence(await until(socket, 2)) == [2]


async def test_phases_come_without_a_number(make_run: Any, api: Callable[..., APIClient]) -> None:
    run = await in_thread(make_run)()
    session = (b"cookie", cookie(await in_thread(api)("viewer")))
    async with watch(f"/ws/v1/runs/{run.id}", session) as socket:
        await socket.receive_json()
        progress = {"phase": "generate", "done": 1, "total": 2, "step": 1, "at": "x"}
        await in_thread(Run.objects.filter(pk=run.pk).update)(progress=progress)
        frame = await socket.receive_json()
        # Workers of before say no time at which the phase began.
        told = {**progress, "since": None}
        assert (frame["seq"], frame["events"], frame["run"]["progress"]) == (None, [], told)


async def test_pings(make_run: Any, api: Callable[..., APIClient], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "PING_S", 0.1)
    monkeypatch.setattr(base, "POLL_S", 0.3)
    run = await in_thread(make_run)()
    session = (b"cookie", cookie(await in_thread(api)("viewer")))
    async with watch(f"/ws/v1/runs/{run.id}", session) as socket:
        await socket.receive_json()
        assert await socket.receive_json() == {"type": "ping"}
        await socket.send_input({"type": "websocket.receive", "text": "not json: nothing travels up"})
        assert await socket.receive_json() == {"type": "ping"}


async def test_tokens_in_the_header(make_run: Any, team: Team, actor: Any) -> None:
    run = await in_thread(make_run)()
    token, secret = await in_thread(token_of)(team, Role.VIEWER)
    bearer = (b"authorization", f"Bearer {secret}".encode())
    async with watch(f"/ws/v1/runs/{run.id}", bearer) as socket:
        assert (await socket.receive_json())["run"]["id"] == run.id
        await in_thread(ApiToken.objects.filter(pk=token.pk).update)(revoked_at=token.created_at)
        await in_thread(emit)(run)
        assert await close_code(socket) == 4403
    async with watch(f"/ws/v1/runs/{run.id}?token={secret}") as socket:
        assert await close_code(socket) == 4401


@pytest.mark.parametrize("how", ["left", "inactive", "expired"])
async def test_a_token_that_ends_is_cut_off(make_run: Any, api: Callable[..., APIClient], team: Team, how: str) -> None:
    run = await in_thread(make_run)()
    client = await in_thread(api)("admin")
    _, secret = await in_thread(token_of)(team, Role.VIEWER, owner=client.user)

    def end() -> None:
        if how == "left":
            Membership.objects.filter(user=client.user).delete()
        elif how == "inactive":
            User.objects.filter(pk=client.user.pk).update(is_active=False)
        else:
            ApiToken.objects.update(expires_at=timezone.now())

    async with watch("/ws/v1/team", (b"authorization", f"Bearer {secret}".encode())) as socket:
        await in_thread(emit)(run)
        await socket.receive_json()
        await in_thread(end)()
        await in_thread(emit)(run)
        assert await close_code(socket) == 4403


async def test_a_token_without_the_scope_sees_no_stream(make_run: Any, team: Team) -> None:
    run = await in_thread(make_run)()
    for scopes, code in (([Scope.DATASETS_WRITE], 4401), ([Scope.RUNS_READ], None)):
        _, secret = await in_thread(token_of)(team, Role.VIEWER, scopes=scopes)
        async with watch(f"/ws/v1/runs/{run.id}", (b"authorization", f"Bearer {secret}".encode())) as socket:
            if code is None:
                assert (await socket.receive_json())["run"]["id"] == run.id
            else:
                assert await close_code(socket) == code


@pytest.mark.parametrize(
    "how", ["membership", "temporary password", "logout", "ended", "idle", "password", "deactivated"]
)
async def test_who_loses_the_right_is_cut_off(make_run: Any, api: Callable[..., APIClient], how: str) -> None:
    run = await in_thread(make_run)()
    client = await in_thread(api)("viewer")
    session = (b"cookie", cookie(client))

    def revoke() -> None:
        if how == "membership":
            Membership.objects.filter(user=client.user).delete()
        elif how == "logout":
            client.logout()
        elif how == "ended":
            elsewhere = APIClient()
            elsewhere.force_login(client.user)
            client.get("/api/v1/session")
            assert elsewhere.delete("/api/v1/account/sessions").status_code == 204
        elif how == "idle":
            Session.objects.update(expire_date=timezone.now())
        elif how == "password":
            client.user.set_password("another one entirely")
            client.user.save()
        elif how == "temporary password":
            type(client.user).objects.filter(pk=client.user.pk).update(password_is_temporary=True)
        else:
            type(client.user).objects.filter(pk=client.user.pk).update(is_active=False)

    async with watch(f"/ws/v1/runs/{run.id}", session) as socket:
        await socket.receive_json()
        await in_thread(revoke)()
        await in_thread(emit)(run)
        assert await close_code(socket) == 4403


async def test_a_temporary_password_watches_nothing(make_run: Any, api: Callable[..., APIClient]) -> None:
    run = await in_thread(make_run)()
    client = await in_thread(api)("viewer")
    await in_thread(User.objects.update)(password_is_temporary=True)
    for path in (f"/ws/v1/runs/{run.id}", "/ws/v1/team"):
        async with watch(path, (b"cookie", cookie(client))) as socket:
            message = await socket.receive_output(timeout=10)
        assert (message["type"], message["code"]) == ("websocket.close", 4403)
        assert "Choose a new one" in message["reason"]


async def test_refusals(make_run: Any, api: Callable[..., APIClient], other_team: Team) -> None:
    run = await in_thread(make_run)()
    stranger = (b"cookie", cookie(await in_thread(api)("admin", team=other_team)))
    ours = (b"cookie", cookie(await in_thread(api)("viewer")))
    for headers, path, code in (
        ([], f"/ws/v1/runs/{run.id}", 4401),
        ([], "/ws/v1/team", 4401),
        ([stranger], f"/ws/v1/runs/{run.id}", 4404),
        ([ours], "/ws/v1/runs/run_nothing", 4404),
        ([ours], f"/ws/v1/runs/{run.id}?after=x", 4400),
    ):
        async with watch(path, *headers) as socket:
            assert await close_code(socket) == code


@pytest.mark.parametrize("what", ["still_allowed", "frames"])
async def test_a_read_that_fails_closes_the_stream(
    make_run: Any, api: Callable[..., APIClient], monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    run = await in_thread(make_run)()
    session = (b"cookie", cookie(await in_thread(api)("viewer")))

    def fail(*_: Any) -> Any:
        raise OperationalError("the database is away")

    async with watch(f"/ws/v1/runs/{run.id}", session) as socket:
        await socket.receive_json()
        monkeypatch.setattr(*((base, "still_allowed") if what == "still_allowed" else (RunConsumer, "frames")), fail)
        await in_thread(emit)(run)
        assert await close_code(socket) == 1011
    monkeypatch.undo()
    async with watch(f"/ws/v1/runs/{run.id}?after=1", session) as socket:  # as the console does after any code
        assert sequence(await until(socket, 2)) == [2]


async def test_the_teams_runs(make_run: Any, api: Callable[..., APIClient], other_team: Team) -> None:
    run = await in_thread(make_run)()
    session = (b"cookie", cookie(await in_thread(api)("viewer")))
    stranger = (b"cookie", cookie(await in_thread(api)("viewer", team=other_team)))
    async with watch("/ws/v1/team", session) as socket, watch("/ws/v1/team", stranger) as other:
        first = await socket.receive_json()
        assert (first["type"], first["run"]["id"], first["run"]["state"]) == ("run", run.id, "draft")
        fresh = await in_thread(make_run)("second")
        assert (await socket.receive_json())["run"]["id"] == fresh.id
        theirs = await in_thread(make_run)("third")
        await in_thread(Run.objects.filter(pk=theirs.pk).update)(team=other_team)
        await in_thread(emit)(theirs)
        assert (await other.receive_json())["run"]["id"] == theirs.id, "the first that it is told of"


async def test_messages_of_one_transaction_are_one(make_run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    woken: list[Any] = []
    monkeypatch.setattr(wakeup, "_wake", lambda *args: woken.append(args))
    run = await in_thread(make_run)()
    woken.clear()

    def write() -> None:
        with transaction.atomic():
            for _ in range(5):
                append_event(locked(run.id), "log", {})

    await in_thread(write)()
    assert woken == [(run.id, run.team_id)]
