"""A browser's end of a WebSocket, straight into the ASGI application."""

import json
from typing import Any

from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from rest_framework.test import APIClient


class Socket(ApplicationCommunicator):
    """One connection."""

    def __init__(self, application: Any, url: str, headers: list[tuple[bytes, bytes]]) -> None:
        path, _, query = url.partition("?")
        scope = {"type": "websocket", "path": path, "query_string": query.encode(), "headers": headers}
        super().__init__(application, {**scope, "subprotocols": []})

    async def connect(self) -> bool:
        """Open. False: refused before it was accepted."""
        await self.send_input({"type": "websocket.connect"})
        answer = await self.receive_output(timeout=10)
        return bool(answer["type"] == "websocket.accept")

    async def receive_json(self) -> dict[str, Any]:
        """The next frame."""
        message = await self.receive_output(timeout=10)
        assert message["type"] == "websocket.send", message
        return dict(json.loads(message["text"]))

    async def disconnect(self) -> None:
        """Close from the browser's side."""
        await self.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.wait(timeout=10)


ORIGIN = (b"origin", b"http://127.0.0.1:8600")
"""What a browser that shows the console sends."""


def cookie(client: APIClient) -> bytes:
    """The session of a signed-in client, as a header's value."""
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}".encode()
