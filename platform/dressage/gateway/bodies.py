"""Refusal of bodies that are too large, or that come from unknown senders, before they are read.

Django stores a request's body on disk before it looks at anything else. So a client that sends more than ``OPEN_BYTES``
must identify itself first: the view's own authentication and permissions run with an empty body. No client may send
more than the view accepts: its ``max_body_bytes``, or ``USUAL_BYTES``.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from io import BytesIO
from typing import Any

from channels.db import database_sync_to_async
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import SuspiciousOperation
from django.core.handlers.asgi import ASGIRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import resolve
from rest_framework.views import APIView

from dressage.common.api.middleware import REFUSAL
from dressage.common.api.problem_responses import as_problem
from dressage.common.api.problems import Problem

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

OPEN_BYTES = 64 << 10
"""Bytes of a body that anyone may send."""
USUAL_BYTES = 16 << 20
"""Bytes of a body that a view accepts, unless it says otherwise."""
STALLED_S = 60.0
"""Time without a byte after which reading a body is aborted."""
LINGER_BYTES, LINGER_S = 1 << 20, 1.0
"""Limits for reading and discarding the rest of a refused body, so that its sender reads the response."""


class BodyRefused(Exception):
    """Signals that the rest of the body is not wanted."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


class BodyGate:
    """Wraps Django's ASGI application."""

    def __init__(self, application: Callable[..., Awaitable[Any]]) -> None:
        self._application = application

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        declared = headers.get(b"content-length", b"")
        if not declared.isdigit() and b"transfer-encoding" not in headers:
            await self._application(scope, receive, send)
            return
        body = Body(receive, int(declared) if declared.isdigit() and len(declared) < 19 else None)
        try:
            if body.length is None:
                scope = {**scope, "headers": [*scope["headers"], (b"content-length", b"%d" % await body.gather())]}
            elif body.length > OPEN_BYTES:
                body.limit = await allowance(scope, body.length)
            await self._application(scope, body.receive, send)
        except BodyRefused as refusal:
            waiting = headers.get(b"expect", b"").lower() == b"100-continue" and not body.begun
            await self._refuse(scope, refusal.problem, send, None if waiting else body)

    async def _refuse(self, scope: dict[str, Any], problem: Problem, send: Send, body: "Body | None") -> None:
        """Have Django answer, like any other response, and close the connection."""

        async def send_and_close(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"connection", b"close")]
            elif not message.get("more_body", False) and body is not None:
                await send({**message, "more_body": True})
                await body.discard()
                message = {"type": "http.response.body", "body": b""}
            await send(message)

        headers = [(name, value) for name, value in scope["headers"] if not name.startswith(b"content-")]
        await self._application({**scope, "headers": headers, REFUSAL: problem}, _empty(), send_and_close)


class Body:
    """A request's body as it arrives."""

    def __init__(self, receive: Receive, length: int | None) -> None:
        self._receive = receive
        self._early: list[Message] = []
        self.length = length
        self.limit = OPEN_BYTES
        self.bytes = 0
        """Bytes that have been read."""
        self.begun = self._ended = False

    async def receive(self) -> Message:
        """The application's next message. Raises BodyRefused for a body that stalls or exceeds the limit."""
        if self._early:
            return self._early.pop(0)
        return await self._next()

    async def gather(self) -> int:
        """Read a body of unknown length, which is small, and return its length."""
        messages = [await self._next()]
        while not self._ended and messages[-1]["type"] == "http.request":
            messages.append(await self._next())
        self._early = messages
        return self.bytes

    async def discard(self) -> None:
        """Continue reading for a moment, and discard the data."""
        self.limit = self.bytes + LINGER_BYTES
        with contextlib.suppress(TimeoutError, BodyRefused):
            async with asyncio.timeout(LINGER_S):
                while not self._ended and (await self._next())["type"] == "http.request":
                    pass

    async def _next(self) -> Message:
        if self._ended:
            return await self._receive()  # the client has disconnected
        self.begun = True
        try:
            async with asyncio.timeout(STALLED_S):
                message = await self._receive()
        except TimeoutError:
            raise BodyRefused(Problem(408, "Request timeout", f"No byte arrived for {STALLED_S:.0f} s.")) from None
        self.bytes += len(message.get("body", b""))
        self._ended = message["type"] != "http.request" or not message.get("more_body", False)
        if self.bytes > self.limit:
            raise BodyRefused(_too_large(self.limit) if self.length is not None else _length_required())
        return message


async def allowance(scope: dict[str, Any], length: int) -> int:
    """Bytes that this caller may send to this address. Raises BodyRefused if they are fewer than ``length``."""
    request = _without_body(scope)
    view, most = _view(request)
    if length > most:
        raise BodyRefused(_too_large(most))
    if view is not None and not await database_sync_to_async(_is_known, thread_sensitive=False)(view, request):
        most = OPEN_BYTES
    if length > most:
        raise BodyRefused(_too_large(most))
    return most


def _without_body(scope: dict[str, Any]) -> ASGIRequest:
    headers = [(name, value) for name, value in scope["headers"] if not name.startswith((b"content-", b"transfer-"))]
    return ASGIRequest({**scope, "headers": headers}, BytesIO())


def _view(request: HttpRequest) -> tuple[APIView | None, int]:
    """The API's view at this address, and the largest body that it accepts."""
    try:
        match = resolve(request.path_info)
    except Http404:
        return None, OPEN_BYTES
    made = getattr(match.func, "cls", None)
    if made is None:
        return None, OPEN_BYTES
    view: APIView = made(**getattr(match.func, "initkwargs", {}))
    view.setup(request, *match.args, **match.kwargs)
    return view, getattr(view, "max_body_bytes", USUAL_BYTES)


def _is_known(view: APIView, http: HttpRequest) -> bool:
    """Whether the caller has identified itself. Raises BodyRefused if the view would not admit it."""
    SessionMiddleware(_no_view).process_request(http)
    AuthenticationMiddleware(_no_view).process_request(http)
    request = view.request = view.initialize_request(http, *view.args, **view.kwargs)
    try:
        view.perform_authentication(request)
        view.check_permissions(request)
    except SuspiciousOperation as error:
        raise BodyRefused(Problem(400, "Bad request", "The request could not be understood.")) from error
    except Exception as error:
        error.auth_header = view.get_authenticate_header(request)  # type: ignore[attr-defined]
        problem = as_problem(error)
        if problem is None:
            raise
        raise BodyRefused(problem) from error
    return bool(request.auth or getattr(request.user, "is_authenticated", False))


def _no_view(request: HttpRequest) -> HttpResponse:
    """Stand-in for the next layer, which a middleware requires but never calls."""
    return HttpResponse()


def _empty() -> Receive:
    """Create the ``receive`` of a request without a body, whose client stays connected."""
    first = True

    async def receive() -> Message:
        nonlocal first
        if not first:
            await asyncio.Event().wait()
        first = False
        return {"type": "http.request", "body": b""}

    return receive


def _too_large(most: int) -> Problem:
    size = f"{most >> 20} MiB" if most >= 1 << 20 else f"{most >> 10} KiB"
    detail = f"The body of this request may have at most {size}."
    return Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "Request too large", detail, code="too_large")


def _length_required() -> Problem:
    detail = f"A body of more than {OPEN_BYTES >> 10} KiB needs a Content-Length."
    return Problem(HTTPStatus.LENGTH_REQUIRED, "Length required", detail)
