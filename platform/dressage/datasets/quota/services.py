"""Changes to quotas."""

from django.db import transaction

from dressage.common.actors import Actor
from dressage.datasets.models import TeamDatasetQuota
from dressage.teams.models import Team
from dressage.teams.services import record_audit


@transaction.atomic
def set_quota(team: Team, actor: Actor, *, bytes: int | None, rows: int | None) -> None:
    """Set a team's limits; None means the default. Data that is already stored stays, whatever the limit."""
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    quota, _ = TeamDatasetQuota.objects.get_or_create(team=team)
    before = {"bytes": quota.bytes, "rows": quota.rows}
    quota.bytes, quota.rows = bytes, rows
    quota.save(update_fields=["bytes", "rows"])
    record_audit(team, actor, "team.dataset_quota", "team", team.id, before, {"bytes": bytes, "rows": rows})
