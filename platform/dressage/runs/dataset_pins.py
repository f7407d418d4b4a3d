"""Runs that need rows of datasets: those that have not ended."""

from collections.abc import Collection, Iterator
from typing import Any

from django.db.models import Q

from dressage.datasets.pins import Pin
from dressage.runs.models import Run
from dressage.runs.states import FINISHED
from dressage.teams.models import Team


def runs_with_rows(team: Team, refs: Collection[str]) -> Iterator[Pin]:
    """The runs of the team, oldest first, that read one of the versions ``slug@number`` to train or to evaluate."""
    named = Q()
    for ref in refs:
        for column in ("spec", "effective_spec"):
            named |= names_dataset(column, ref)
    for run in Run.objects.for_team(team).filter(named).exclude(state__in=FINISHED).order_by("created_at"):
        specs = (run.spec, run.effective_spec)
        for ref in dict.fromkeys(ref for spec in specs for ref in _named_by(spec) if ref in refs):
            yield {"kind": "run", "id": run.id, "name": run.name, "state": run.state, "ref": ref}


def names_dataset(column: str, ref: str) -> Q:
    """Condition that the spec in a column of JSON names the version among its sources."""
    wanted = [{"dataset": ref}]
    return Q(**{f"{column}__data__sources__contains": wanted}) | Q(
        **{f"{column}__evaluation__sources__contains": wanted}
    )


def _named_by(spec: dict[str, Any]) -> Iterator[str]:
    for part in ("data", "evaluation"):
        for source in spec.get(part, {}).get("sources", ()):
            yield source["dataset"]
