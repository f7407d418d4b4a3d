"""Refusal of WebSockets that a foreign page has opened.

Browsers send cookies with a WebSocket no matter which page opens it, and state that page's origin in a header that no
script can change. So a foreign origin is refused, whoever the caller is. Programs send no origin: they are admitted
with a token, which no browser sends by itself, and never with a cookie.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from django.conf import settings


def may_open(headers: list[tuple[bytes, bytes]]) -> bool:
    """Whether these headers of a WebSocket's request may open it."""
    origins = [value.decode("latin-1") for name, value in headers if name == b"origin"]
    if not origins:
        return any(name == b"authorization" for name, _ in headers)
    return len(origins) == 1 and origins[0] in settings.WEB_ORIGINS


class OriginCheck:
    """Answers WebSockets that may not open with 403, and passes all others on."""

    def __init__(self, application: Callable[..., Awaitable[Any]]) -> None:
        self._application = application

    async def __call__(self, scope: dict[str, Any], receive: Callable[..., Any], send: Callable[..., Any]) -> None:
        if may_open(scope["headers"]):
            await self._application(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 4403})
