"""A client that costs little: its own processor time is taken from those it measures."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Self


class Connection:
    """One connection to a server that keeps it open, for one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def open(cls, port: int) -> Self:
        """Connect to a port of this machine."""
        return cls(*await asyncio.open_connection("127.0.0.1", port, limit=2**22))

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        """Status and body of the answer. The server must tell the body's length."""
        self._writer.write(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if line)
        return int(head[9:12]), await self._reader.readexactly(int(fields[b"content-length"]))

    def close(self) -> None:
        """End it."""
        self._writer.close()


def request(method: str, path: str, headers: dict[str, str], body: bytes = b"") -> bytes:
    """The bytes of a request."""
    given = {"Host": "127.0.0.1", "Content-Length": str(len(body)), **headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in given.items())
    return f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + body


async def timed(asking: Callable[[], Awaitable[None]]) -> float:
    """Seconds until the answer was there."""
    began = time.perf_counter()
    await asking()
    return time.perf_counter() - began


def percentile(values: list[float], share: float) -> float:
    """The value below which ``share`` of them lie."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]
