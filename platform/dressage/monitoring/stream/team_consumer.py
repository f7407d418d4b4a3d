"""``/ws/v1/team``: a run of the team has changed."""

from datetime import timedelta
from typing import Any

from django.db.models import Q
from django.db.models.functions import Now

from dressage.monitoring.stream.base import StreamConsumer
from dressage.runs.documents import live_run_document
from dressage.runs.models import Run
from dressage.runs.selectors import annotated
from dressage.runs.states import ACTIVE, RunState
from dressage.telemetry.wakeup import team_group

MAX_RUNS = 200
"""Runs looked at in one round: the ones that changed last."""
_RECENT = timedelta(seconds=30)
"""Runs that changed this recently are looked at in every round, so a lost message only delays."""


class TeamConsumer(StreamConsumer):
    """Sends ``{type: "run", run}`` for each run whose document differs from the one sent last."""

    def group(self) -> str:
        return team_group(self.watcher.team_id)

    def open(self) -> int | None:
        self._sent: dict[str, dict[str, Any]] = {}
        return None

    def frames(self) -> list[dict[str, Any]]:
        alive = Q(updated_at__gt=Now() - _RECENT) | Q(state__in=[*ACTIVE, RunState.QUEUED])
        runs = annotated(Run.objects.filter(alive, team_id=self.watcher.team_id)).defer("spec", "effective_spec")
        changed = []
        seen: dict[str, dict[str, Any]] = {}
        for found in runs.order_by("-updated_at")[:MAX_RUNS]:
            run = live_run_document(found)
            seen[run["id"]] = steady = {key: value for key, value in run.items() if key != "lease_age_s"}
            if self._sent.get(run["id"]) != steady:
                changed.append({"type": "run", "run": run})
        self._sent = seen
        return changed
