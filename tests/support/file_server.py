"""A small web server of files on the loopback, with ranges, marks of versions, redirects and faults."""

import asyncio
import hashlib
import re
import threading
from dataclasses import dataclass, field

import uvloop
from aiohttp import web


@dataclass
class FileServer:
    """Runs in a thread of its own."""

    files: dict[str, bytes] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    """Paths that lead elsewhere."""
    cuts: dict[str, list[int]] = field(default_factory=dict)
    """After how many bytes the connection breaks, one number for each request until none is left."""
    status: dict[str, int] = field(default_factory=dict)
    without_mark: bool = False
    without_size: bool = False
    without_ranges: bool = False
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    """Path and range of each request."""

    def __post_init__(self) -> None:
        self._loop = uvloop.new_event_loop()
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,), daemon=True)
        self._thread.start()
        assert ready.wait(10.0)

    def begin_anew(self) -> None:
        """Serve nothing, without faults."""
        for each in (self.files, self.redirects, self.cuts, self.status, self.asked):
            each.clear()
        self.without_mark = self.without_size = self.without_ranges = False

    def close(self) -> None:
        """End."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10.0)

    def _run(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve(ready))

    async def _serve(self, ready: threading.Event) -> None:
        self._stop = asyncio.Event()
        application = web.Application()
        application.router.add_get("/{path:.*}", self._answer)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.port = runner.addresses[0][1]
        self.url = f"http://127.0.0.1:{self.port}"
        ready.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        path = request.path.removeprefix("/")
        asked = request.headers.get("Range")
        self.asked.append((path, asked))
        if path in self.redirects:
            raise web.HTTPFound(self.redirects[path])
        if path in self.status:
            return web.Response(status=self.status[path])
        if path not in self.files:
            raise web.HTTPNotFound
        content = self.files[path]
        mark = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
        begin = 0
        match = re.fullmatch(r"bytes=(\d+)-", asked or "")
        if match and not self.without_ranges and request.headers.get("If-Range") in (None, mark):
            begin = int(match[1])
        response = web.StreamResponse(status=206 if begin else 200)
        if not self.without_mark:
            response.headers["ETag"] = mark
        if self.without_size:
            response.enable_chunked_encoding()
        else:
            response.content_length = len(content) - begin
        if begin:
            response.headers["Content-Range"] = f"bytes {begin}-{len(content) - 1}/{len(content)}"
        await response.prepare(request)
        end = len(content)
        if begin < end and self.cuts.get(path):
            end = min(end, begin + self.cuts[path].pop(0))
        try:
            await response.write(content[begin:end])
        except ConnectionResetError:  # who only asked for the size
            return response
        if end < len(content):
            assert request.transport is not None
            request.transport.close()
        return response
