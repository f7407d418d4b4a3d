"""Runs that need rows of datasets: those that have not ended, and those that have ever read them."""

from collections.abc import Collection, Iterator
from typing import Any

from django.db.models import Q, QuerySet

from dressage.datasets.versions.pins import Pin
from dressage.runs.models import Run
from dressage.runs.states import FINISHED
from dressage.teams.models import Team


def runs_with_rows(team: Team, refs: Collection[str]) -> Iterator[Pin]:
    """The runs of the team, oldest first, that read one of the versions ``slug@number`` to train or to evaluate."""
    for run in _runs_that_name(team, refs).exclude(state__in=FINISHED).order_by("created_at"):
        for ref in _read_by(run, refs):
            yield {"kind": "run", "id": run.id, "name": run.name, "state": run.state, "ref": ref}


def read_by_runs(team: Team, refs: Collection[str]) -> Iterator[str]:
    """The versions that any run of the team reads or has read, however the run ended."""
    for run in _runs_that_name(team, refs) if refs else ():
        yield from _read_by(run, refs)


def _runs_that_name(team: Team, refs: Collection[str]) -> QuerySet[Run]:
    named = Q()
    for ref in refs:
        for column in ("spec", "effective_spec"):
            named |= names_dataset(column, ref)
    return Run.objects.for_team(team).filter(named)


def _read_by(run: Run, refs: Collection[str]) -> list[str]:
    found = (ref for spec in (run.spec, run.effective_spec) for ref in _named_by(spec))
    return list(dict.fromkeys(ref for ref in found if ref in refs))


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
