"""Waits until a server responds."""

import time
from collections.abc import Callable
from contextlib import closing
from http.client import HTTPConnection, HTTPException

import psycopg
import redis

_Failure = type[Exception] | tuple[type[Exception], ...]


def wait_for_database(url: str, seconds: float = 60.0) -> None:
    """Return when PostgreSQL accepts connections; raise TimeoutError after ``seconds``."""
    _wait(lambda: psycopg.connect(url, connect_timeout=5).close(), psycopg.OperationalError, "PostgreSQL", seconds)


def wait_for_redis(url: str, seconds: float = 30.0) -> None:
    """Return when Redis responds; raise TimeoutError after ``seconds``."""
    _wait(lambda: redis.Redis.from_url(url).ping(), redis.RedisError, "Redis", seconds)


def wait_for_web(address: tuple[str, int], seconds: float = 60.0) -> None:
    """Return when the web server at (host, port) of this machine responds, with any status.

    An installation behind TLS redirects plain requests to its public address, which may not be reachable yet, so no
    redirect is followed.
    """
    _wait(lambda: _ask(*address), (OSError, HTTPException), "the web server", seconds)


def _ask(host: str, port: int) -> None:
    with closing(HTTPConnection(host, port, timeout=5)) as connection:
        connection.request("GET", "/api/v1/session")
        connection.getresponse().read()


def _wait(
    probe: Callable[[], object], failure: type[Exception] | tuple[type[Exception], ...], name: str, seconds: float
) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            probe()
            return
        except failure as error:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{name} did not answer within {seconds:.0f} s: {error}") from error
            time.sleep(0.1)
