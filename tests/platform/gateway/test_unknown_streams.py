"""Addresses at which there is no stream: each is told so, and none is a fault of ours."""

from collections.abc import Callable
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_thread
from hypothesis import HealthCheck, given
from hypothesis import settings as bounds
from hypothesis import strategies as st
from rest_framework.test import APIClient

from dressage.asgi import application
from tests.platform.telemetry.socket import ORIGIN, Socket, cookie

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]
ODD = ["a\0b", "\0", "run_\0", "a\nb", "é", "\ufffd", "a" * 5000, "run_x'--", "..", " "]


async def code_of(path: str, *headers: tuple[bytes, bytes]) -> int:
    """The code with which the server closes; the application's exceptions end the test."""
    socket = Socket(application, path, [ORIGIN, *headers])
    assert await socket.connect()
    message = await socket.receive_output(timeout=10)
    assert message["type"] == "websocket.close", message
    await socket.disconnect()
    return int(message["code"])


async def test_odd_addresses(api: Callable[..., APIClient]) -> None:
    session = (b"cookie", cookie(await in_thread(api)("viewer")))
    for odd in ODD:
        for path in (f"/ws/v1/runs/{odd}", f"/ws/v1/{odd}", f"/{odd}", f"/ws/v1/runs/{odd}/more"):
            assert await code_of(path, session) == 4404
    for path in ("/ws/v1/runs/", "/ws/v1/runs", "/ws", "/", "", "/api/v1/runs", "/ws/v1/team/", "/ws/v2/team"):
        assert await code_of(path, session) == 4404
        assert await code_of(path) == 4404


@bounds(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.text(st.characters(exclude_categories=["Cs"]), max_size=40), run=st.booleans())
async def test_any_address(path: str, run: bool) -> None:
    assert await code_of(f"/ws/v1/runs/{path}" if run else f"/{path}") in (4401, 4404, 4400)


@pytest.mark.parametrize(
    ("value", "status"), [('"abcdefgh\\000ijkl"', 400), ("a" * 5000, 200), ('"\\303\\251\\303\\251"', 200), ("?", 200)]
)
async def test_odd_cookies(value: str, status: int, anonymous: APIClient, settings: Any) -> None:
    header = f"{settings.SESSION_COOKIE_NAME}={value}"
    assert await code_of("/ws/v1/team", (b"cookie", header.encode())) == 4401
    answer = await in_thread(anonymous.get)("/api/v1/session", HTTP_COOKIE=header)
    assert answer.status_code == status
    assert status == 400 or answer.json()["authenticated"] is False
