"""Who may open a WebSocket: our own pages, and programs with a token; never the page of somebody else."""

from collections.abc import Callable
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_thread
from rest_framework.test import APIClient

from dressage.asgi import application
from dressage.common.roles import Role
from dressage.teams.models import Team
from tests.platform.telemetry.socket import Socket, cookie
from tests.platform.tokens import token_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]

OURS = ("http://127.0.0.1:8600", "http://localhost:8600", "http://[::1]:8600")
FOREIGN = (
    "http://localhost:3000",
    "http://127.0.0.1",
    "https://127.0.0.1:8600",
    "http://127.0.0.1:8600.evil.example",
    "http://evil.example@127.0.0.1:8600",
    "http://127.0.0.1:8600/",
    "http://evil.example",
    "null",
    "",
)


async def answer(path: str, origins: list[str], *headers: tuple[bytes, bytes]) -> str | int:
    """The type of the first frame, or the code with which it closes; 403 where the WebSocket never opened."""
    sent = [(b"origin", origin.encode()) for origin in origins]
    socket = Socket(application, path, [*sent, *headers])
    if not await socket.connect():
        return 403
    message = await socket.receive_output(timeout=10)
    await socket.disconnect()
    return int(message["code"]) if message["type"] == "websocket.close" else "frame"


async def test_every_combination(api: Callable[..., APIClient], team: Team, actor: Any, make_run: Any) -> None:
    await in_thread(make_run)()
    _, secret = await in_thread(token_of)(team, Role.VIEWER)
    token = (b"authorization", f"Bearer {secret}".encode())
    session = (b"cookie", cookie(await in_thread(api)("viewer")))
    wrong = (b"authorization", b"Bearer drs_wrong")
    # (headers, without an origin, with one of ours); a foreign origin is refused always.
    for headers, bare, ours in (
        ([token], "frame", "frame"),
        ([session], 403, "frame"),
        ([session, token], "frame", "frame"),
        ([wrong], 4401, 4401),
        ([], 403, 4401),
    ):
        assert await answer("/ws/v1/team", [], *headers) == bare
        for origin in OURS:
            assert await answer("/ws/v1/team", [origin], *headers) == ours
        for origin in FOREIGN:
            assert await answer("/ws/v1/team", [origin], *headers) == 403, origin
        assert await answer("/ws/v1/team", [OURS[0], OURS[1]], *headers) == 403


async def test_further_origins_are_a_setting(api: Callable[..., APIClient], settings: Any, make_run: Any) -> None:
    await in_thread(make_run)()
    session = (b"cookie", cookie(await in_thread(api)("viewer")))
    assert await answer("/ws/v1/team", ["https://tools.example.com"], session) == 403
    settings.WEB_ORIGINS = [*settings.WEB_ORIGINS, "https://tools.example.com"]
    assert await answer("/ws/v1/team", ["https://tools.example.com"], session) == "frame"
    assert await answer("/ws/v1/team", ["http://tools.example.com"], session) == 403
