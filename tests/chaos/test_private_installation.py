"""A real installation in whose folder another user can read nothing, and whose queue holds no secret."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

import pytest
from django.test import override_settings

from dressage.embedded.sockets import socket_dir
from dressage.runs.tokens import link_token
from tests.support.installation import Installation, wait_until
from tests.support.live_run import LiveRun, small_spec
from tests.support.other_user import reachable_by_nobody
from tests.support.rows import rows

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.live,
    pytest.mark.timeout(420),
    pytest.mark.expensive(
        4,
        "reads all files of an installation, or the memory of a process of it",
        about=(
            "platform/dressage/clusters",
            "platform/dressage/embedded",
            "platform/dressage/runs",
            "platform/dressage/supervisor",
            "worker",
        ),
    ),
]
KEY = "sk-a-judge-of-the-test-0123456789"


@pytest.fixture(scope="module")
def running(installation: Installation) -> Iterator[Installation]:
    """The installation, in a folder that was open to all, with a live run; it has a judge with a key."""
    api = installation.api
    body = {"name": f"Strict {token_hex(3)}", "base_url": "http://127.0.0.1:9/v1", "model": "m", "api_key": KEY}
    judge = api.post("/judge-endpoints", body)
    run = LiveRun.start(installation, "private", small_spec(api, 2000))
    wait_until(lambda: run.now()["last_checkpoint"], 180, run.story)
    run.pause()
    yield installation
    run.end()
    api.delete(f"/judge-endpoints/{judge['id']}")


@pytest.fixture(scope="module")
def tokens(running: Installation) -> list[str]:
    """What the workers of all runs have proven themselves with."""
    attempts = rows(running, "SELECT run_id, number, token_sha256 FROM runs_attempt")
    with override_settings(SECRET_KEY=(running.home / "secret-key").read_text().strip()):
        found = [link_token(run, number) for run, number, _ in attempts]
    assert found and [sha256(token.encode()).hexdigest() for token in found] == [stored for *_, stored in attempts]
    return found


def folders(up: Installation) -> list[Path]:
    """The data folder, and that of the sockets and of Ray's session."""
    return [up.home, socket_dir(up.home, "redis").parent]


def everything(up: Installation) -> list[Path]:
    return [path for top in folders(up) for path in (top, *top.rglob("*")) if not path.is_symlink()]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user and look")
def test_another_user_can_read_and_list_nothing(running: Installation) -> None:
    paths = everything(running)
    names = {path.name for path in paths}
    assert {"appendonly.aof", "PG_VERSION", "postgres-password", "cluster-secret", "redis.sock"} <= names
    assert any(path.suffix == ".parquet" for path in paths) and any(path.suffix == ".jsonl" for path in paths)
    # The log of this test lies there too, and pytest has opened it.
    assert reachable_by_nobody(path for path in paths if path != running.log) == []


def is_open(path: Path) -> bool:
    """Whether others may do anything with it. What a run that goes on has removed meanwhile is not."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return False
    return bool(mode & 0o077) and not stat.S_ISSOCK(mode)


def test_nothing_new_is_open_even_without_the_folders_around_it(running: Installation) -> None:
    session = socket_dir(running.home, "r") / "t"  # Ray opens it, and what is in it, to all that get there
    ours = [path for path in everything(running) if not path.is_relative_to(session)]
    ours = [path for path in ours if path not in (running.log, running.home)]
    assert session.parent in ours and session.is_dir()
    assert [str(path) for path in ours if is_open(path)] == []


def test_what_was_open_is_told_in_one_line(running: Installation) -> None:
    [line] = [line for line in running.log.read_text().splitlines() if "Closed to other users" in line]
    assert line == f"Closed to other users of this machine, in {running.home}: the folder itself."


def test_redis_holds_no_link_token_and_no_key(running: Installation, tokens: list[str]) -> None:
    assert all(token.startswith("lnk_") for token in tokens)
    files = [path for path in (running.home / "redis").rglob("*") if path.is_file()]
    held = b"".join(path.read_bytes() for path in files)
    assert b"worker.tasks.start" in held, "the message that started the run is in the file"
    for secret in (*tokens, "lnk_", "bnc_", KEY):
        assert secret.encode() not in held


def test_no_secret_is_in_a_log_or_in_rays_session(running: Installation, tokens: list[str]) -> None:
    secrets = [*tokens, KEY, (running.home / "cluster-secret").read_text()]
    own = {"cluster-secret"}
    for path in everything(running):
        if path.is_file() and path.name not in own and "postgres" not in path.parts:
            held = path.read_bytes()
            assert not [secret for secret in secrets if secret.encode() in held], path
    assert KEY not in running.log.read_text()


@pytest.mark.skipif(os.getuid() != 0, reason="only root is sure to be let look into another process")
def test_no_secret_is_in_the_memory_of_rays_head(running: Installation, tokens: list[str]) -> None:
    """It keeps what the constructors of live actors were given."""
    held = memory(running.process("gcs_server").pid)
    assert b"RunController" in held
    assert not [token for token in tokens if token.encode() in held]


def memory(pid: int) -> bytes:
    """What a process can write, as it is now."""
    found = []
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as held:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            place, rights, *_ = line.split()
            if rights.startswith("rw"):
                start, end = (int(number, 16) for number in place.split("-"))
                with suppress(OSError, ValueError):
                    held.seek(start)
                    found.append(held.read(end - start))
    return b"".join(found)
