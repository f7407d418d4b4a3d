"""Digests of tables, by which the walks see whether a request has changed anything."""

from dressage.teams.models import AuditEntry, Team
from tests.platform.rows import digests


def test_each_change_is_seen_but_that_of_a_hidden_column(team: Team) -> None:
    def of_teams(*hidden: str) -> object:
        [audit, teams] = digests([Team, AuditEntry], hidden)
        assert audit == digests([AuditEntry])[0]
        return teams

    first, without_name = of_teams(), of_teams("name")
    assert first == of_teams() and first != without_name
    Team.objects.update(name="Renamed")
    assert of_teams() != first and of_teams("name") == without_name
    Team.objects.update(name=team.name)
    assert of_teams() == first
    Team.objects.create(name="Another", slug="another")
    assert of_teams("name") != without_name
