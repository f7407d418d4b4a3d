"""The platform's web server in a thread of the test, and requests whose bodies are sent piece by piece."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse

import uvicorn

from dressage.asgi import application


@contextmanager
def served() -> Iterator[int]:
    """Serve the platform; the port."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(application, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield int(listener.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


@dataclass
class Answer:
    """What came back, and how much of the body went before it."""

    status: int
    """0 where the connection was closed before it could be read."""
    headers: dict[str, str]
    body: bytes
    sent: int


def post(
    port: int, path: str, size: int, headers: dict[str, str], *, chunked: bool = False, piece: int = 1 << 16
) -> Answer:
    """POST ``size`` bytes; stop as soon as the server closes, and read its answer."""
    length = {"Transfer-Encoding": "chunked"} if chunked else {"Content-Length": str(size)}
    lines = {"Host": "127.0.0.1", "Content-Type": "application/json", **length, **headers}
    head = f"POST {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items()) + "\r\n"
    sent, part = 0, b"x" * piece
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(head.encode())
        with suppress(OSError):
            while sent < size:
                connection.sendall(b"%x\r\n%s\r\n" % (piece, part) if chunked else part[: size - sent])
                sent += piece
            connection.sendall(b"0\r\n\r\n" if chunked else b"")
        response = HTTPResponse(connection)
        try:
            response.begin()
            found = {name.lower(): value.lower() for name, value in response.getheaders()}
            return Answer(response.status, found, response.read(), sent)
        except (OSError, HTTPException):
            return Answer(0, {}, b"", sent)
