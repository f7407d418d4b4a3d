"""The audit log: a chain that shows every change to it."""

import pytest
from django.db import connection, transaction
from django.db.utils import IntegrityError

from dressage.common.actors import Actor
from dressage.teams.models import AuditEntry, Team
from dressage.teams.selectors import first_broken_audit_number
from dressage.teams.services import record_audit


@pytest.fixture
def chain(team: Team, actor: Actor) -> list[AuditEntry]:
    values = [{"rate": 1e20}, {"rate": -0.0, "name": "Ärger 🐎"}, None]
    return [record_audit(team, actor, "thing.change", "thing", f"t{n}", None, value) for n, value in enumerate(values)]


def tamper(statement: str, *values: object) -> None:
    """What someone with the database's password could do."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # PostgreSQL alters no table that still has checks to do
        cursor.execute("ALTER TABLE teams_auditentry DISABLE TRIGGER audit_append_only")
        cursor.execute(statement, values)


def test_numbers_and_hashes_link_up(team: Team, chain: list[AuditEntry]) -> None:
    rows = list(AuditEntry.objects.order_by("number"))
    assert [row.number for row in rows] == [1, 2, 3]
    assert [row.previous_hash for row in rows] == ["", rows[0].hash, rows[1].hash]
    assert rows[1].after == {"rate": -0.0, "name": "Ärger 🐎"}
    assert first_broken_audit_number(team) is None


def test_empty_chain_holds(team: Team) -> None:
    assert first_broken_audit_number(team) is None


def test_chains_of_teams_are_apart(team: Team, other_team: Team, chain: list[AuditEntry], actor: Actor) -> None:
    assert record_audit(other_team, actor, "a.b", "a", "1").number == 1
    assert first_broken_audit_number(team) is None
    assert first_broken_audit_number(other_team) is None


@pytest.mark.parametrize(
    ("statement", "broken"),
    [
        ("UPDATE teams_auditentry SET after_json = '{}' WHERE number = 2", 2),
        ("UPDATE teams_auditentry SET actor_name = 'someone@else.org' WHERE number = 1", 1),
        ("UPDATE teams_auditentry SET created_at = created_at - interval '1 second' WHERE number = 3", 3),
        ("DELETE FROM teams_auditentry WHERE number = 2", 2),
        ("DELETE FROM teams_auditentry WHERE number = 3", 3),
        ("DELETE FROM teams_auditentry", 1),
        ("UPDATE teams_auditentry SET number = number + 10 WHERE number = 3", 3),
    ],
)
def test_tampering_is_found(team: Team, chain: list[AuditEntry], statement: str, broken: int) -> None:
    tamper(statement)
    assert first_broken_audit_number(team) == broken


def test_forged_entry_with_right_hash_is_found(team: Team, chain: list[AuditEntry]) -> None:
    from dressage.teams.audit.chain import entry_hash

    forged = chain[1]
    forged.after_json = '{"rate": 0}'
    tamper(
        "UPDATE teams_auditentry SET after_json = %s, hash = %s WHERE number = 2", forged.after_json, entry_hash(forged)
    )
    assert first_broken_audit_number(team) == 3


@pytest.mark.parametrize(
    "statement", ["UPDATE teams_auditentry SET action = 'x'", "DELETE FROM teams_auditentry WHERE number = 3"]
)
def test_database_refuses_changes(chain: list[AuditEntry], statement: str) -> None:
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert AuditEntry.objects.count() == 3
    assert not AuditEntry.objects.filter(action="x").exists()
