"""A judge endpoint for tests: a real HTTP server on the loopback that answers as it is told."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import uvloop
from aiohttp import web

Say = Callable[[dict[str, Any]], "str | Reply"]
"""Makes an answer's text, or a whole reply, of a request's body."""


class Reply:
    """What the server sends."""

    def __init__(self, body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        """``body``: text as it is, anything else as JSON."""
        self.status, self.headers = status, dict(headers or {})
        self.text = body if isinstance(body, str) else json.dumps(body)


def completion(text: str | None, *, prompt: int = 100, tokens: int = 10, finish: str = "stop") -> dict[str, Any]:
    """The body of a chat completion."""
    return {
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": tokens},
    }


class JudgeServer:
    """Runs in a thread of its own. ``requests`` keeps every body, ``headers`` the last request's headers."""

    def __init__(self, say: Say | str = "", latency_s: float = 0.0) -> None:
        self.say = say
        self.latency_s = latency_s
        self.requests: list[dict[str, Any]] = []
        self.headers: dict[str, str] = {}
        self.in_flight = self.most_in_flight = 0
        self.seconds: list[float] = []
        """What each request took here, in order of their answers."""
        self.together = 0
        """No request is answered before so many have been in flight at once."""
        self.hung = threading.Event()
        """Set once a request hangs, which it does while ``hang`` is true."""
        self.hang: Callable[[dict[str, Any]], bool] = lambda body: False
        self._loop = uvloop.new_event_loop()
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,), daemon=True)
        self._thread.start()
        assert ready.wait(10.0)

    def close(self) -> None:
        """End; whoever still waits is cut off."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10.0)

    def _run(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve(ready))

    async def _serve(self, ready: threading.Event) -> None:
        self._stop, self._met = asyncio.Event(), asyncio.Event()
        application = web.Application()
        application.router.add_post("/v1/chat/completions", self._answer)
        application.router.add_post("/v1/embeddings", self._answer)
        application.router.add_post("/v1/completions", self._answer)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
        await site.start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        ready.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        began = time.perf_counter()
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            body = await request.json()
            self.requests.append(body)
            self.headers = dict(request.headers)
            if self.hang(body):
                self.hung.set()
                await self._stop.wait()
            if self.in_flight >= self.together:
                self._met.set()
            if self.together:
                await self._met.wait()
            if self.latency_s:
                await asyncio.sleep(self.latency_s)
            said = self.say if isinstance(self.say, str) else self.say(body)
            reply = said if isinstance(said, Reply) else Reply(completion(said))
            return web.Response(
                text=reply.text, status=reply.status, headers=reply.headers, content_type="application/json"
            )
        finally:
            self.in_flight -= 1
            self.seconds.append(time.perf_counter() - began)
