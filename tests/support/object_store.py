"""An object store that speaks as Amazon's does."""

import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.support.installation import free_port, wait_until


@pytest.fixture(scope="module")
def store() -> Iterator[str]:
    # In a process of its own: it brings Flask, over whose proxies an engine's start in this one would stumble.
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: _answers(port), 60, lambda: "the store does not answer")
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def _answers(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0
