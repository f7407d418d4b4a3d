"""The audit log over REST."""

from collections.abc import Callable

from django.db import connection
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.teams.models import Team
from dressage.teams.services import record_audit


def test_list_is_newest_first_and_of_the_team(
    api: Callable[..., APIClient], team: Team, other_team: Team, actor: Actor
) -> None:
    for number in range(3):
        record_audit(team, actor, "thing.change", "thing", "t1", {"n": number}, {"n": number + 1}, "because")
    record_audit(other_team, actor, "thing.change", "thing", "t2")
    admin = api("admin")
    page = admin.get("/api/v1/audit", {"limit": 2}).json()
    assert [row["number"] for row in page["data"]] == [3, 2]
    rest = admin.get("/api/v1/audit", {"after": page["next"]}).json()["data"]
    assert [row["number"] for row in rest] == [1]
    row = rest[0]
    assert row["actor"] == {"kind": "user", "id": "usr_test", "name": "test@example.com"}
    assert (row["before"], row["after"], row["reason"]) == ({"n": 0}, {"n": 1}, "because")


def test_verification(api: Callable[..., APIClient], team: Team, actor: Actor) -> None:
    record_audit(team, actor, "thing.change", "thing", "t1")
    admin = api("admin")
    assert admin.get("/api/v1/audit/verification").json() == {"valid": True, "entries": 1, "first_broken": None}
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE teams_auditentry DISABLE TRIGGER audit_append_only")
        cursor.execute("UPDATE teams_auditentry SET reason = 'no reason'")
    assert admin.get("/api/v1/audit/verification").json() == {"valid": False, "entries": 1, "first_broken": 1}
