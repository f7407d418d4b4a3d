"""Each fault is planted and found; a sound installation has none."""

import contextlib
import http.server
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis
from django.conf import settings
from django.utils import timezone

from dressage.doctor import cluster, command, examine
from dressage.doctor.examine import CHECKS
from dressage.doctor.fault import Fault
from dressage.doctor.place import Place
from dressage.runs.models import Attempt
from dressage.runs.tasks import note_beat
from tests.platform.gateway.served import served
from tests.platform.runs.fixtures import Worker, launch, make_run, nouns, reachable_link, run_root
from trainer_core.link.celery_queue import BEATS, FROM_BEAT

__all__ = ["launch", "make_run", "nouns", "reachable_link", "run_root"]

Make = Callable[..., Place]
ROOT = Path(__file__).resolve().parents[3]


def found(place: Place) -> list[str]:
    """The ids of all findings."""
    return [finding.id for finding in examine.examine(place)]


@pytest.fixture
def sound(place: Make, tested_database: str) -> Iterator[Make]:
    """``sound(…)``: an installation without a fault, but for what is asked for."""
    cache = redis.Redis.from_url(settings.REDIS_URL)
    cache.delete(BEATS, "platform", "cluster")
    (dist := ROOT / "frontend" / "dist").exists() or pytest.skip(f"the console is not built in {dist}")
    yield lambda **given: place(**{"DATABASE_URL": tested_database, **given})
    cache.config_set("maxmemory-policy", "noeviction")
    cache.delete(BEATS, "platform", "cluster")


@pytest.mark.django_db(transaction=True)
def test_a_sound_installation_has_no_finding(sound: Make, settings: Any) -> None:
    with served() as port:
        note_beat("gen1@here")
        settings.WEB_ORIGINS = [f"http://127.0.0.1:{port}"]
        made = sound(DRESSAGE_PORT=str(port), DRESSAGE_URL=f"http://127.0.0.1:{port}")
        assert (examine.examine(made), len(CHECKS)) == ([], 19)


def test_python(sound: Make) -> None:
    assert found(sound(python=(3, 13))) == ["python-version"]


def test_packages_that_differ_from_the_lock(sound: Make, tmp_path: Path) -> None:
    for name in ("platform", "frontend"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "requirements").mkdir()
    lock = "django==1.0\n    # via dressage\nno-such-package==2.0\npytest==0.1 ; python_version < '3'\n"
    (tmp_path / "requirements" / "runtime.lock").write_text(lock)
    made = sound(root=tmp_path)
    [finding] = examine.examine(made)
    assert finding.id == "packages-differ"
    assert "django 5" in finding.what and "no-such-package missing instead of 2.0" in finding.what
    assert "pytest" not in finding.what


def test_the_web_tier_alone_needs_no_more_than_it_uses(sound: Make, tmp_path: Path) -> None:
    for name in ("platform", "frontend"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "runtime.lock").write_text("no-such-package==2.0\ndjango==1.0\n")
    no = (sys.executable, "-c", "raise SystemExit(1)")
    web = {"root": tmp_path, "jail": no, "shared_bytes": 2**70, "RAY_ADDRESS": "127.0.0.1:1"}
    assert found(sound(**web)) == ["packages-differ", "shared-memory-too-small", "no-jail", "ray-unreachable"]
    [finding] = examine.examine(sound(**web, computes=False))
    assert finding.id == "packages-differ" and "no-such-package" not in finding.what


def test_a_console_that_is_not_built(sound: Make, tmp_path: Path) -> None:
    for name in ("platform", "requirements"):
        (tmp_path / name).symlink_to(ROOT / name)
    assert found(sound(root=tmp_path)) == ["console-not-built"]


def test_a_folder_that_cannot_be_written(sound: Make, tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("")
    assert found(sound(DRESSAGE_HOME=str(tmp_path / "a file" / "home"))) == ["home-not-writable"]


def test_disks_and_memory_that_are_too_small(sound: Make, tmp_path: Path) -> None:
    assert found(sound(disk_bytes=2**70)) == ["disk-too-small"]
    assert found(sound(free_share=1.0)) == ["disk-nearly-full"]
    assert found(sound(shared_bytes=2**70)) == ["shared-memory-too-small"]
    assert found(sound(shared_memory=tmp_path / "none")) == ["shared-memory-too-small"]
    assert found(sound(descriptors=2**62)) == ["few-descriptors"]


def test_a_port_that_another_program_has(sound: Make) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        assert found(sound(DRESSAGE_PORT=str(other.getsockname()[1]))) == ["port-taken"]


def test_a_machine_without_a_jail(sound: Make) -> None:
    says_no = (sys.executable, "-c", "print('user namespaces are off'); raise SystemExit(1)")
    [finding] = examine.examine(sound(jail=says_no))
    assert (finding.id, finding.level) == ("no-jail", "warning") and "user namespaces are off" in finding.what


def test_secrets_that_others_may_read(sound: Make) -> None:
    made = sound()
    made.config.home.mkdir()
    for name in ("secret-key", "cluster-secret"):
        (made.config.home / name).write_text("x")
        (made.config.home / name).chmod(0o640 if name == "secret-key" else 0o600)
    [finding] = examine.examine(made)
    assert finding.id == "secret-readable" and "secret-key can be read by other users (mode 640)" in finding.what
    assert found(sound(DRESSAGE_SECRET_KEY="short", DRESSAGE_HOME=str(made.config.home / "x"))) == ["secret-key-short"]


def test_a_database_that_is_away_or_behind(sound: Make, tested_database: str, tmp_path: Path) -> None:
    away = sound(DATABASE_URL="postgresql://web:hunter22@127.0.0.1:1/x")
    [finding] = examine.examine(away)
    assert finding.id == "database-unreachable" and "hunter22" not in finding.what
    (later := tmp_path / "platform" / "dressage" / "runs" / "migrations").mkdir(parents=True)
    (later / "0099_of_tomorrow.py").write_text("")
    for name in ("requirements", "frontend"):
        (tmp_path / name).symlink_to(ROOT / name)
    [finding] = examine.examine(sound(root=tmp_path))
    assert finding.id == "database-behind" and finding.what.startswith(
        "1 migrations are not applied, starting with runs.0099_of"
    )


def test_a_redis_that_is_away_or_forgets(sound: Make) -> None:
    assert found(sound(REDIS_URL="redis://127.0.0.1:1")) == ["redis-unreachable"]
    redis.Redis.from_url(settings.REDIS_URL).config_set("maxmemory-policy", "allkeys-lru")
    assert found(sound(REDIS_URL=settings.REDIS_URL)) == ["redis-evicts"]


def test_clocks_that_differ(sound: Make) -> None:
    findings = examine.examine(sound(clock=lambda: time.time() + 60))
    assert [finding.id for finding in findings] == ["clocks-differ"] * 2
    assert findings[0].what == "This machine's clock is 60 s ahead of that of PostgreSQL."


@pytest.mark.django_db(transaction=True)
def test_runs_that_nobody_takes_up(sound: Make, launch: Callable[..., tuple[Any, Worker]]) -> None:
    run, worker = launch()
    lapsed = Attempt.objects.filter(run=run, number=worker.attempt)
    lapsed.update(lease_expires_at=timezone.now() - timezone.timedelta(seconds=30))
    redis.Redis.from_url(settings.REDIS_URL).delete("platform", "cluster")
    assert found(sound()) == []
    lapsed.update(lease_expires_at=timezone.now() - timezone.timedelta(seconds=90))
    assert found(sound()) == ["stale-leases"]


def test_queues_that_grow_and_beats(sound: Make) -> None:
    cache = redis.Redis.from_url(settings.REDIS_URL)
    cache.lpush("cluster", *range(5))
    assert found(sound(waiting=4)) == ["backlog"]
    assert found(sound(waiting=5)) == []
    cache.lpush("cluster-far", *range(7))
    [finding] = examine.examine(sound(waiting=5))
    assert finding.what == "7 messages wait in the queue `cluster-far`."
    cache.delete("cluster-far")
    note_beat("gen1@one")
    note_beat("gen2@two")
    [finding] = examine.examine(sound(waiting=5))
    assert finding.id == "several-beats" and finding.what.endswith("gen1@one, gen2@two.")
    cache.zadd(BEATS, {"gen1@one": 1.0, "gen2@two": time.time() - 30})
    assert found(sound(waiting=5)) == []
    cache.zadd(BEATS, {"gen2@two": time.time() - 90})
    assert found(sound(waiting=5)) == ["no-beat"]


def test_a_sweep_of_beat_is_noted_and_one_of_the_web_is_not(sound: Make, db: None) -> None:
    from dressage.celery import app
    from dressage.runs.tasks import reconcile

    cache = redis.Redis.from_url(settings.REDIS_URL)
    reconcile.apply()
    assert cache.zcard(BEATS) == 0
    options = app.conf.beat_schedule["reconcile"]["options"]
    reconcile.apply(headers=options["headers"])
    assert options["headers"] == {FROM_BEAT: "1"} and cache.zcard(BEATS) == 1


def ray_says(error: str) -> tuple[str, ...]:
    return (sys.executable, "-c", f"print({json.dumps({'error': error})!r})")


@pytest.mark.parametrize(
    ("error", "ids"),
    [
        ("", []),
        ("RuntimeError: Version mismatch: The cluster was started with:\n Ray: 2.50.0", ["ray-version-differs"]),
        ("AuthenticationError: Unauthenticated: Invalid or missing authentication token", ["ray-token-refused"]),
        ("ConnectionError: Could not find any running Ray instance", ["ray-unreachable"]),
    ],
)  # fmt: skip
def test_a_ray_that_does_not_take_us(error: str, ids: list[str], sound: Make) -> None:
    with socket.create_server(("127.0.0.1", 0)) as head:
        address = f"127.0.0.1:{head.getsockname()[1]}"
        assert found(sound(RAY_ADDRESS=address, ray_probe=ray_says(error))) == ids


def test_a_ray_that_is_away_and_a_token_that_is_missing(sound: Make, tmp_path: Path) -> None:
    assert found(sound(RAY_ADDRESS="127.0.0.1:1")) == ["ray-unreachable"]
    asks = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(tmp_path / "ray-token")}
    assert found(sound(RAY_ADDRESS="127.0.0.1:1", environment=asks)) == ["ray-token-missing"]


@contextmanager
def gpu(folder: Path, cuda: str) -> Iterator[dict[str, str]]:
    """An environment in which ``nvidia-smi`` tells of a card whose driver goes up to that CUDA."""
    (program := folder / "nvidia-smi").write_text(
        f"#!/bin/sh\necho '| Driver Version: 550.1   CUDA Version: {cuda} |'\n"
    )
    program.chmod(0o755)
    yield {"PATH": f"{folder}:{os.environ['PATH']}"}


def test_gpus_that_nobody_can_use(sound: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with gpu(tmp_path, "12.8") as environment:
        assert found(sound(environment=environment)) == ["gpu-not-used"]
        monkeypatch.setattr(cluster, "_torch_build", lambda: (13, 0))
        [finding] = examine.examine(sound(environment=environment))
        assert (
            finding.id == "gpu-driver-too-old" and "up to 12.8; the installed torch is built for 13.0" in finding.what
        )
        monkeypatch.setattr(cluster, "_torch_build", lambda: (12, 8))
        assert found(sound(environment=environment)) == []


class Proxy(http.server.BaseHTTPRequestHandler):
    """A proxy in front that answers as it is told."""

    protocol_version = "HTTP/1.1"
    live: tuple[int, bytes] = (200, b'{"status": "live", "scheme": "http"}')
    stream = 101

    def do_GET(self) -> None:
        status, body = self.live if self.path == "/health/live" else (self.stream, b"")
        self.send_response(status)
        if status != 101:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep the tests' output clean."""


@contextmanager
def proxy(**parts: Any) -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Told", (Proxy,), parts))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize(
    ("parts", "ids"),
    [
        ({}, []),
        ({"stream": 400}, ["websocket-blocked"]),
        ({"stream": 403}, ["origin-refused"]),
        ({"live": (200, b'{"status": "live", "scheme": "https"}')}, ["proxy-headers"]),
        ({"live": (502, b"Bad gateway")}, ["url-elsewhere"]),
        ({"live": (200, b"<html>")}, ["url-elsewhere"]),
    ],
)
def test_a_proxy_in_front(parts: dict[str, Any], ids: list[str], sound: Make) -> None:
    with proxy(**parts) as url:
        assert found(sound(DRESSAGE_URL=url)) == ids


def test_an_address_that_nobody_answers(sound: Make) -> None:
    assert found(sound(DRESSAGE_URL="http://127.0.0.1:1")) == ["url-unreachable"]
    with proxy() as url:  # no TLS there
        assert found(sound(DRESSAGE_URL=url.replace("http:", "https:"))) == ["tls-broken"]


def test_mail_that_is_refused(sound: Make) -> None:
    [finding] = examine.examine(sound(DRESSAGE_EMAIL_URL="smtp://web:hunter22@127.0.0.1:1"))
    assert finding.id == "mail-refused" and "hunter22" not in finding.what


def test_production_without_what_it_needs(sound: Make) -> None:
    ids = found(sound(DRESSAGE_MODE="production", DRESSAGE_SECRET_KEY="k" * 50))
    assert ids == ["production-E001", "production-E002", "production-W002"]


def test_a_check_that_fails_keeps_no_other_from_looking(sound: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Place) -> Iterator[Fault]:
        raise KeyError("lost")
        yield

    monkeypatch.setattr(examine, "CHECKS", (broken, *CHECKS))
    assert found(sound(python=(3, 12))) == ["check-failed", "python-version"]


@pytest.mark.parametrize(("levels", "status"), [([], 0), (["warning"], 1), (["warning", "error"], 2)])
def test_exit_status_and_json(
    levels: list[Any], status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    findings = [Fault("a", "It is at redis://:hunter22@cache.", "Mend it.", level) for level in levels]
    monkeypatch.setattr(command, "_look", lambda: findings)
    assert command.main(["--json"]) == status
    told = json.loads(capsys.readouterr().out)["findings"]
    shown = {"id": "a", "what": "It is at redis://:***@cache.", "remedy": "Mend it."}
    assert told == [{**shown, "level": level} for level in levels]
    assert command.main([]) == status
    lines = capsys.readouterr()
    assert ("No faults found." in lines.out) is not bool(levels) and "hunter22" not in lines.out
    with contextlib.suppress(IndexError):
        assert lines.out.splitlines()[-1].endswith("[a]") or not levels
