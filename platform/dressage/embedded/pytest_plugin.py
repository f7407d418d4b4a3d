"""Servers that the whole test suite shares: one PostgreSQL and one Redis, embedded, started once.

The first process starts them. The processes of pytest-xdist, and the pytest runs that tests start, inherit their
addresses. Each has its own databases; the PostgreSQL one is a copy of the first one that was migrated.

They start before anything else, whether a test uses them or not: Django's settings hold their addresses, and so do the
environments of the processes that tests start.

Named with ``-p`` in pyproject.toml, because pytest-django reads the settings before any conftest is loaded.
"""

import ctypes
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest
import redis
from django.db import connection
from psycopg import sql

from dressage.embedded.postgres import EmbeddedPostgres
from dressage.embedded.redis import EmbeddedRedis

SERVERS = "DRESSAGE_TEST_SERVERS"
"""Environment variable with the addresses of both servers, for the processes that this one starts."""
TEMPLATE = "test_template"
"""The migrated database that the others are copied from."""
NESTED = 64
"""Offset of Redis database numbers: a pytest run that a test starts uses the test's own number plus this."""

_HOME = Path(tempfile.mkdtemp(prefix="dressage-test-"))
_HOME.chmod(0o755)
_SERVERS: list[subprocess.Popen[bytes]] = []


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Start the servers before Django reads its settings, or use those of the parent process."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ["DRESSAGE_HOME"] = str(_HOME)
    postgres, cache = _inherited() if SERVERS in os.environ else _start()
    os.environ["DATABASE_URL"], os.environ["REDIS_URL"] = postgres, cache
    os.environ[SERVERS] = f"{postgres} {cache}"


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
    """Copy the template instead of creating and migrating a database; the first database becomes the template."""
    if fixturedef.argname != "django_db_setup":
        return (yield)
    usual, tested = connection.settings_dict["NAME"], connection.settings_dict["TEST"]
    if _redis_database() >= NESTED:
        tested["NAME"] = f"test_{usual}_{os.getpid()}"
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as server:
        server.execute("SELECT pg_advisory_lock(1)")  # others wait while the template is created
        if not server.execute("SELECT FROM pg_database WHERE datname = %s", [TEMPLATE]).rowcount:
            result = yield
            migrated = connection.settings_dict["NAME"]
            if migrated != usual:
                connection.close()
                cast(Any, connection).close_pool()  # specific to PostgreSQL, and not declared by the base
                copy = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
                server.execute(copy.format(sql.Identifier(TEMPLATE), sql.Identifier(migrated)))
            return result
    tested["TEMPLATE"] = TEMPLATE
    return (yield)


def pytest_unconfigure() -> None:
    """Stop the servers that this process has started, and remove its data."""
    for server in _SERVERS:
        server.send_signal(signal.SIGINT)  # PostgreSQL's fast shutdown: does not wait for clients
    for server in _SERVERS:
        server.wait(timeout=20)
    shutil.rmtree(_HOME, ignore_errors=True)


def _start() -> tuple[str, str]:
    """Start both servers; returns their addresses."""
    postgres, cache = EmbeddedPostgres(_HOME, durable=False), EmbeddedRedis(_HOME)
    postgres.prepare()
    cache.prepare()
    for command in (
        [*postgres.command, "-c", "max_connections=300"],
        [*cache.command, "--databases", str(4 * NESTED)],
    ):
        _SERVERS.append(
            subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=_die_with_parent)
        )
    _wait(lambda: psycopg.connect(postgres.url).close(), "PostgreSQL")
    _wait(lambda: redis.Redis.from_url(cache.url).ping(), "Redis")
    return postgres.url, cache.url


def _inherited() -> tuple[str, str]:
    """The addresses of the running servers, with a Redis database for this process."""
    postgres, cache = os.environ[SERVERS].split()
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    by_test = not worker or _redis_database() > 0  # processes started by a worker's test inherit the worker's name
    own = _redis_database() + NESTED if by_test else int(worker.removeprefix("gw")) + 1
    return postgres, f"{cache.rpartition('=')[0]}={own}"


def _redis_database() -> int:
    return int(os.environ[SERVERS].rpartition("=")[2])


def _die_with_parent() -> None:
    """Make a killed suite leave no server running (``PR_SET_PDEATHSIG``)."""
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
