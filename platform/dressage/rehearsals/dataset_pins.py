"""Rehearsals that need rows of datasets: those whose end is awaited."""

from collections.abc import Collection, Iterator

from django.db.models import Q

from dressage.datasets.pins import Pin
from dressage.jobs.models import OPEN
from dressage.rehearsals.models import Rehearsal
from dressage.runs.dataset_pins import names_dataset
from dressage.teams.models import Team


def rehearsals_with_rows(team: Team, refs: Collection[str]) -> Iterator[Pin]:
    """The rehearsals of the team that read one of the versions ``slug@number``."""
    for ref in refs:
        for found in Rehearsal.objects.for_team(team).filter(names_dataset("spec", ref), Q(state__in=OPEN)):
            yield {"kind": "rehearsal", "id": found.id, "name": found.id, "state": found.state, "ref": ref}
