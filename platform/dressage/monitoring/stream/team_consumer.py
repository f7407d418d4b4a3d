"""``/ws/v1/team``: a run of the team has changed."""

import json
from datetime import timedelta
from functools import cached_property, partial
from typing import Any

from django.db.models import Q
from django.db.models.functions import Now

from dressage.monitoring.stream.base import StreamConsumer
from dressage.monitoring.stream.shared import shared
from dressage.monitoring.stream.wakeups import wakeups
from dressage.runs.facts.documents import LiveRunDocument, live_run_document
from dressage.runs.facts.selectors import with_facts
from dressage.runs.states import ACTIVE, RunState

MAX_RUNS = 200
"""Runs that are read in one round: the most recently changed ones."""
_RECENT = timedelta(seconds=30)
"""Runs that changed this recently are read in every round, so a lost message only causes a delay."""


class LiveRun:
    """A run in its current state. All watchers of the team share the same object."""

    def __init__(self, document: LiveRunDocument) -> None:
        self.document = document
        self.id = document["id"]
        self.steady = {key: value for key, value in document.items() if key != "lease_age_s"}

    @cached_property
    def frame(self) -> str:
        """The message; it is serialized once."""
        return json.dumps({"type": "run", "run": self.document})


def live_runs(team_id: str) -> list[LiveRun]:
    """Runs of the team that are active or have changed recently."""
    alive = Q(updated_at__gt=Now() - _RECENT) | Q(state__in=[*ACTIVE, RunState.QUEUED])
    runs = with_facts().filter(alive, team_id=team_id).defer("spec", "effective_spec")
    return [LiveRun(live_run_document(run)) for run in runs.order_by("-updated_at")[:MAX_RUNS]]


class TeamConsumer(StreamConsumer):
    """Sends ``{type: "run", run}`` for each run whose document differs from the last one sent."""

    def topic(self) -> str:
        return self.watcher.team_id

    def open(self) -> int | None:
        self._sent: dict[str, dict[str, Any]] = {}
        return None

    async def frames(self) -> list[str]:
        team = self.watcher.team_id
        runs = await shared(("team", team, wakeups().round(team)), partial(live_runs, team))
        changed = [run.frame for run in runs if self._sent.get(run.id) != run.steady]
        self._sent = {run.id: run.steady for run in runs}
        return changed
