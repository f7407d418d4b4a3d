"""What probes are told: whether the process answers, and whether it can do its work."""

import http.client
import json
from contextlib import closing
from threading import Event
from typing import Any

import pytest
from django.db import OperationalError
from django.db.migrations.recorder import MigrationRecorder

from dressage.gateway import health
from tests.platform.gateway.served import served

pytestmark = pytest.mark.django_db(transaction=True)
WELL = {"database": "ok", "migrations": "ok", "redis": "ok"}


def probe(path: str, host: str = "10.0.0.9:8600") -> tuple[int, dict[str, Any]]:
    """Status and answer; probes name the address of a container, which no setting knows."""
    with served() as port:
        return ask(port, path, host)


def ask(port: int, path: str, host: str = "10.0.0.9:8600") -> tuple[int, dict[str, Any]]:
    """Status and answer of a server that runs."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.request("GET", path, headers={"Host": host})
        response = connection.getresponse()
        return response.status, json.loads(response.read())


def test_a_process_that_answers_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_database", lambda: pytest.fail("a live process is not asked for its database"))
    assert probe("/health/live") == (200, {"status": "live", "scheme": "http"})


def test_a_process_with_all_that_it_needs_is_ready() -> None:
    assert probe("/health/ready") == (200, {"status": "ready", "checks": WELL})


def test_a_missing_migration_is_not_ready_and_one_of_the_next_release_is(monkeypatch: pytest.MonkeyPatch) -> None:
    known = health.known_migrations()
    monkeypatch.setattr(health, "known_migrations", lambda: known | {("runs", "9999_of_this_release")})
    told = "1 missing: run manage.py migrate"
    assert probe("/health/ready") == (503, {"status": "not ready", "checks": {**WELL, "migrations": told}})
    monkeypatch.setattr(health, "known_migrations", lambda: known - {max(known)})
    assert probe("/health/ready")[0] == 200


def test_servers_that_are_away_are_told_without_their_addresses(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    def away(_: object) -> None:
        raise OperationalError("connection to web:secret@db.internal failed")

    monkeypatch.setattr(MigrationRecorder, "applied_migrations", away)
    settings.REDIS_URL = "redis://127.0.0.1:1"
    away_is = {"database": "cannot be reached", "migrations": "not known", "redis": "cannot be reached"}
    assert probe("/health/ready") == (503, {"status": "not ready", "checks": away_is})


def test_a_part_that_does_not_answer_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    answered = Event()
    monkeypatch.setattr(health, "PATIENCE_S", 0.05)
    monkeypatch.setattr(health, "_redis", lambda: {"redis": "ok"} if answered.wait(20) else {})
    with served() as port:
        status, told = ask(port, "/health/ready")
        answered.set()  # before the server stops, which waits for its threads
    assert (status, told["checks"]["redis"]) == (503, "no answer within 0.05 s")
