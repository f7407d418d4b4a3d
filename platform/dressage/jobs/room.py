"""Limit on the number of open jobs of a kind per team."""

from typing import Any

from django.db.models import QuerySet

from dressage.common.api.problems import Problem
from dressage.teams.models import Team


def require_room(open_jobs: "QuerySet[Any]", team: Team, most: int, *, plural: str, code: str, retry_s: int) -> None:
    """Require that the team has fewer than ``most`` open jobs. Blocks new ones until the transaction ends.

    Raises:
        Problem: 429 with ``code`` and a time to try again.
    """
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    if open_jobs.count() >= most:
        detail = f"{most} {plural} of this team are already open. Cancel one, or try again when one is done."
        raise Problem(429, "Too many requests", detail, code=code, headers={"Retry-After": str(retry_s)})
