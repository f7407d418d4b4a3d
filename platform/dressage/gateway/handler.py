"""HTTP under ASGI, each request in one thread from the first middleware to the last.

Views and middleware here are plain functions. Django's own handler moves each of them to a thread and back, with a new
thread and a new database connection per request, which cost more than most responses. It also reads a whole file into
memory before sending it.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from asgiref.sync import sync_to_async
from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.db import close_old_connections
from django.http import FileResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix

from dressage.common.api.client import watch_client

Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]
THREADS = 36
"""Concurrent requests of a process; others wait. Streamed responses have a thread of their own.

Long requests have lower limits: see ``dressage.common.lengthy`` and ``dressage.rewards.grading``.
"""


class ThreadedHandler(ASGIHandler):
    """Handler that reuses its threads, and with them what Django stores per thread."""

    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self.load_middleware(is_async=False)
        threads = ThreadPoolExecutor(THREADS, thread_name_prefix="http")
        # Through asgiref, which carries context variables, such as those of the log, into the thread and back.
        self._in_thread = sync_to_async(self._answer, thread_sensitive=False, executor=threads)

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request."""
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        told = threading.Event()
        gone = asyncio.ensure_future(_leaves(receive, told))
        try:
            watch_client(told)
            response = await self._in_thread(scope, body)
            if isinstance(response, StreamingHttpResponse) and not response.is_async:
                await self._stream(response, gone, send)
            else:
                await self.send_response(response, send)
        finally:
            gone.cancel()
            body.close()

    def _answer(self, scope: Mapping[str, Any], body: Any) -> HttpResponseBase:
        """The response, from a thread. Unless it is streamed, it is complete, and all its resources are released."""
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=self.__class__, scope=scope)
        request, refusal = self.create_request(scope, body)
        response: Any = refusal if request is None else self.get_response(request)
        if not response.streaming:
            response.close()  # Django releases the thread's database connection
            return response
        close_old_connections()
        if isinstance(response, FileResponse):
            response.block_size = self.chunk_size
        return response

    async def _stream(self, response: StreamingHttpResponse, gone: "asyncio.Future[None]", send: Send) -> None:
        """Send part by part, at the reader's pace, until it has everything or has disconnected.

        A separate thread produces the parts, so that slow readers do not block other requests, and so that a part can
        use what the previous one has opened.
        """
        with ThreadPoolExecutor(1, thread_name_prefix="stream") as thread:
            in_thread: dict[str, Any] = {"thread_sensitive": False, "executor": thread}
            try:
                await send(_start(response))
                parts = iter(response)
                following = sync_to_async(lambda: next(parts, None), **in_thread)
                while not gone.done() and (part := await following()) is not None:
                    for chunk, _ in self.chunk_bytes(part):
                        await send({"type": "http.response.body", "body": chunk, "more_body": True})
                if not gone.done():
                    await send({"type": "http.response.body"})
            finally:
                await sync_to_async(response.close, **in_thread)()


async def _leaves(receive: Receive, told: threading.Event) -> None:
    """Wait for the client to disconnect, and notify the thread that works for it."""
    if (await receive())["type"] == "http.disconnect":
        told.set()


def _start(response: HttpResponseBase) -> Mapping[str, Any]:
    """The message that starts a response."""
    headers = [(name.encode("ascii"), value.encode("latin-1")) for name, value in response.items()]
    cookies = [(b"Set-Cookie", one.output(header="").strip().encode("ascii")) for one in response.cookies.values()]
    return {"type": "http.response.start", "status": response.status_code, "headers": [*headers, *cookies]}
