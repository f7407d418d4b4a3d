"""How many jobs of a kind a team may have that are not over."""

from typing import Any

from django.db.models import QuerySet

from dressage.common.api.problems import Problem
from dressage.teams.models import Team


def require_room(open_jobs: "QuerySet[Any]", team: Team, most: int, *, plural: str, code: str, retry_s: int) -> None:
    """Require that the team has fewer than ``most`` open jobs. Until the transaction ends, no other is created.

    Raises:
        Problem: 429 with ``code``, which names a time to try again.
    """
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    if open_jobs.count() >= most:
        detail = f"{most} {plural} of this team are open already. Cancel one, or try again when one is done."
        raise Problem(429, "Too many requests", detail, code=code, headers={"Retry-After": str(retry_s)})
