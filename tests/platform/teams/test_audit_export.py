"""The audit log as a file, which is checked by the lines of docs/security.md."""

import csv
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.config import ROOT
from dressage.teams.audit import export as audit_export
from dressage.teams.models import AuditEntry, Team
from dressage.teams.services import record_audit

EXPORT = "/api/v1/audit/export"
REASON = "=HYPERLINK(\"http://evil\"), 'a'\n1e20 – ü"


@pytest.fixture
def log(team: Team, other_team: Team, actor: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven entries, read three at a time."""
    monkeypatch.setattr(audit_export, "_ROWS", 3)
    for number in range(5):
        record_audit(team, actor, "thing.change", "thing", "t1", {"n": 1e20}, {"n": number}, REASON)
    record_audit(team, Actor.system("sweep"), "member.add", "member", "m1", reason="'quoted'")
    record_audit(team, Actor.system("sweep"), "members.count", "member", "m1", reason="+1")
    record_audit(other_team, actor, "thing.change", "thing", "t2")


def export(client: APIClient, **query: Any) -> bytes:
    response = client.get(EXPORT, query)
    assert response.status_code == 200, response.content
    return b"".join(response.streaming_content)


def check(path: Path, content: bytes) -> tuple[int, str]:
    """(exit status, last words) of the program in the documentation."""
    page = (ROOT / "docs" / "security.md").read_text()
    (program,) = re.findall(r"```python\n(import csv.*?)```", page, re.DOTALL)
    path.write_bytes(content)
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True)
    return done.returncode, (done.stdout + done.stderr).strip().splitlines()[-1]


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_an_export_is_checked_offline(
    api: Callable[..., APIClient], log: None, team: Team, tmp_path: Path, kind: str
) -> None:
    content, file = export(api("admin"), type=kind), tmp_path / f"log.{kind}"
    team.refresh_from_db()
    whole = f"The entries hold. Last: 7, {team.audit_head}. Places where entries are left out: 0."
    assert check(file, content) == (0, whole)
    assert check(file, content.replace(b"1e20", b"1e21", 1)) == (1, "Entry 1 has been changed.")
    records = content.decode().split("\n" if kind == "jsonl" else "\r\n")
    first = 2 if kind == "jsonl" else 3
    without = "\n".join(record for place, record in enumerate(records) if place != first).encode()
    assert check(file, without)[1].endswith("Places where entries are left out: 1.")


def test_an_entry_that_was_put_in_again_is_found(
    api: Callable[..., APIClient], log: None, team: Team, tmp_path: Path
) -> None:
    """Its own hash is right, but the next one does not follow it."""
    rows = [json.loads(line) for line in export(api("admin")).splitlines()]
    forged = AuditEntry.objects.get(team=team, number=2)
    forged.reason = "another"
    from dressage.teams.audit.chain import entry_facts, entry_hash

    rows[1] = {**entry_facts(forged), "hash": entry_hash(forged)}
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    assert check(tmp_path / "log.jsonl", content) == (1, "Entry 3 does not follow the one before it.")


def test_a_spreadsheet_calculates_nothing(api: Callable[..., APIClient], log: None) -> None:
    content = export(api("admin"), type="csv").decode()
    rows = list(csv.DictReader(io.StringIO(content, newline="")))
    assert [row["reason"] for row in rows] == [f"'{REASON}"] * 5 + ["''quoted'", "'+1"]
    assert not [cell for row in rows for cell in row.values() if cell.startswith(("=", "+", "-", "@"))]


def test_filters(api: Callable[..., APIClient], log: None, team: Team) -> None:
    admin = api("admin")

    def numbers(**query: Any) -> list[int]:
        exported = [json.loads(line)["number"] for line in export(admin, **query).splitlines()]
        listed = [row["number"] for row in admin.get("/api/v1/audit", query).json()["data"]]
        assert listed[::-1] == exported
        return exported

    assert numbers() == [1, 2, 3, 4, 5, 6, 7]
    assert numbers(actor="sweep") == [6, 7]
    assert numbers(actor="usr_test") == numbers(actor="test@example.com") == [1, 2, 3, 4, 5]
    assert numbers(action="member") == numbers(action="member.add") == [6]
    fourth = AuditEntry.objects.get(team=team, number=4).created_at
    assert numbers(since=fourth.isoformat(), action="thing") == [4, 5]
    assert numbers(until=fourth.isoformat()) == [1, 2, 3]
    assert numbers(since=(timezone.now() + timedelta(hours=1)).isoformat()) == []


@pytest.mark.parametrize(
    "text", ["yesterday", "2026-11-22", "2026-11-22T12:00:00", "2026-13-01T00:00:00Z", "20261122T000000Z"]
)
def test_times_without_sense_are_refused(api: Callable[..., APIClient], text: str) -> None:
    answer = api("admin").get(EXPORT, {"since": text})
    assert (answer.status_code, answer.json()["error"]["param"]) == (422, "since")


@pytest.mark.django_db(transaction=True)
def test_a_slow_reader_keeps_no_database_connection(api: Callable[..., APIClient], log: None) -> None:
    parts = iter(api("admin").get(EXPORT).streaming_content)
    read = []
    for part in parts:
        assert connection.connection is None
        read += part.splitlines()
    assert [json.loads(line)["number"] for line in read] == [1, 2, 3, 4, 5, 6, 7]


def test_the_file_has_a_name(api: Callable[..., APIClient], log: None) -> None:
    response = api("admin").get(EXPORT, {"type": "csv"})
    assert response["Content-Disposition"] == 'attachment; filename="audit-stable.csv"'
    assert response["Content-Type"] == "text/csv"
