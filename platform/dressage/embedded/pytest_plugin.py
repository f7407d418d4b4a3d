"""Servers that the whole test suite shares: one PostgreSQL and one Redis, embedded, started once.

Named with ``-p`` in pyproject.toml, because pytest-django reads the settings before any conftest is loaded.
"""

import ctypes
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
import redis

from dressage.embedded.postgres import EmbeddedPostgres
from dressage.embedded.redis import EmbeddedRedis

_HOME = Path(tempfile.mkdtemp(prefix="dressage-test-"))
_HOME.chmod(0o755)
_SERVERS: list[subprocess.Popen[bytes]] = []


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Start the servers before Django reads its settings."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ["DRESSAGE_HOME"] = str(_HOME)
    postgres, cache = EmbeddedPostgres(_HOME, durable=False), EmbeddedRedis(_HOME)
    postgres.prepare()
    cache.prepare()
    for server in (postgres, cache):
        _SERVERS.append(
            subprocess.Popen(
                server.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=_die_with_parent
            )
        )
    os.environ["DATABASE_URL"], os.environ["REDIS_URL"] = postgres.url, cache.url
    _wait(lambda: psycopg.connect(postgres.url).close(), "PostgreSQL")
    _wait(lambda: redis.Redis.from_url(cache.url).ping(), "Redis")


def pytest_unconfigure() -> None:
    """Stop the servers and remove their data."""
    for server in _SERVERS:
        server.send_signal(signal.SIGINT)  # PostgreSQL's fast shutdown: does not wait for clients
    for server in _SERVERS:
        server.wait(timeout=20)
    shutil.rmtree(_HOME, ignore_errors=True)


def _die_with_parent() -> None:
    """A suite that is killed leaves no server behind (``PR_SET_PDEATHSIG``)."""
    ctypes.CDLL(None).prctl(1, signal.SIGINT)


def _wait(probe: Callable[[], object], name: str) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            probe()
            return
        except (psycopg.OperationalError, redis.ConnectionError) as error:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{name} did not start") from error
            time.sleep(0.05)
