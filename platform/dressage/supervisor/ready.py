"""Waits until a server answers."""

import time
import urllib.error
import urllib.request
from collections.abc import Callable

import psycopg
import redis


def wait_for_database(url: str, seconds: float = 60.0) -> None:
    """Return when PostgreSQL accepts connections; raise TimeoutError after ``seconds``."""
    _wait(lambda: psycopg.connect(url, connect_timeout=5).close(), psycopg.OperationalError, "PostgreSQL", seconds)


def wait_for_redis(url: str, seconds: float = 30.0) -> None:
    """Return when Redis answers; raise TimeoutError after ``seconds``."""
    _wait(lambda: redis.Redis.from_url(url).ping(), redis.RedisError, "Redis", seconds)


def wait_for_web(url: str, seconds: float = 60.0) -> None:
    """Return when the web server answers; raise TimeoutError after ``seconds``."""
    _wait(
        lambda: urllib.request.urlopen(f"{url}/api/v1/session", timeout=5).close(),  # nosec B310
        OSError,
        "the web server",
        seconds,
    )


def _wait(probe: Callable[[], object], failure: type[Exception], name: str, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            probe()
            return
        except urllib.error.HTTPError:
            return  # it answers
        except failure as error:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{name} did not answer within {seconds:.0f} s: {error}") from error
            time.sleep(0.1)
