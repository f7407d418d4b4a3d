"""The embedded servers: reachable by their owner alone, and their data survive a kill."""

import os
import signal
import subprocess
import time
from pathlib import Path

import psycopg
import pytest

from dressage.embedded.postgres import EmbeddedPostgres


@pytest.fixture
def home(tmp_path: Path) -> Path:
    tmp_path.chmod(0o755)
    return tmp_path


def _connect(url: str) -> psycopg.Connection:
    deadline = time.monotonic() + 20
    while True:
        try:
            return psycopg.connect(url, autocommit=True)
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _start_again(postgres: EmbeddedPostgres) -> subprocess.Popen[bytes]:
    """As the supervisor does it: again while what is left of a killed server still holds its memory."""
    deadline = time.monotonic() + 20
    while True:
        server = subprocess.Popen(postgres.command, stderr=subprocess.DEVNULL, start_new_session=True)
        while server.poll() is None:
            try:
                psycopg.connect(postgres.url).close()
                return server
            except psycopg.OperationalError:
                time.sleep(0.05)
        assert time.monotonic() < deadline, f"PostgreSQL ended with {server.returncode}"


def test_acknowledged_rows_survive_kill_and_password_is_needed(home: Path) -> None:
    postgres = EmbeddedPostgres(home)
    postgres.prepare()
    postgres.prepare()  # a second call changes nothing
    server = subprocess.Popen(postgres.command, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        with _connect(postgres.url) as connection:
            connection.execute("create table kept (id int)")
            connection.execute("insert into kept values (7)")
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
        server = _start_again(postgres)
        with _connect(postgres.url) as connection:
            assert connection.execute("select id from kept").fetchall() == [(7,)]
            assert connection.execute("show listen_addresses").fetchone() == ("",)
        wrong = postgres.url.replace(postgres.url.split(":")[2].split("@")[0], "wrong")
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(wrong)
    finally:
        server.terminate()
        server.wait(timeout=20)
    assert (home / "postgres-password").stat().st_mode & 0o077 == 0
    assert postgres.sockets.stat().st_mode & 0o077 == 0


@pytest.mark.skipif(os.getuid() != 0, reason="only root runs PostgreSQL as another user")
def test_a_cluster_that_nobody_owned_is_taken_back(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in home.parents[:3]:
        folder.chmod(0o755)
    postgres = EmbeddedPostgres(home)
    with monkeypatch.context() as before:
        before.setattr("dressage.embedded.postgres._runs_as_nobody", lambda: True)
        postgres.prepare()
    assert postgres.data.stat().st_uid == 65534
    postgres.take_back()
    assert {path.lstat().st_uid for path in (postgres.data, *postgres.data.rglob("*"), postgres.sockets)} == {0}
    home.chmod(0o700)
    server = subprocess.Popen(postgres.command, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        with _connect(postgres.url) as connection:
            assert connection.execute("select 1").fetchone() == (1,)
    finally:
        server.terminate()
        server.wait(timeout=20)


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_taking_back_goes_on_where_it_was_interrupted(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dressage.embedded.postgres._runs_as_nobody", lambda: False)
    postgres, chown = EmbeddedPostgres(home), os.chown
    (postgres.data / "base").mkdir(parents=True)
    for name in ("PG_VERSION", "base/1", "base/2"):
        (postgres.data / name).touch()
    every = [postgres.data, *postgres.data.rglob("*"), postgres.sockets]
    for path in every:
        chown(path, 65534, 65534)
    left = [3]

    def interrupted(*arguments: object, **options: object) -> None:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        chown(*arguments, **options)  # type: ignore[call-overload]

    with monkeypatch.context() as during:
        during.setattr(os, "chown", interrupted)
        with pytest.raises(KeyboardInterrupt):
            postgres.take_back()
    postgres.take_back()
    assert {path.lstat().st_uid for path in every} == {0}
