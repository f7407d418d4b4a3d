"""Profiles that need rows of datasets: those whose end is awaited."""

from collections.abc import Collection, Iterator

from dressage.datasets.pins import Pin
from dressage.jobs.models import OPEN
from dressage.profiles.models import GOLDILOCKS_OPEN, Goldilocks, Profile
from dressage.teams.models import Team


def profiles_with_rows(team: Team, refs: Collection[str]) -> Iterator[Pin]:
    """The profiles of the team that sample one of the versions ``slug@number``."""
    waited = Profile.objects.for_team(team).filter(state__in=OPEN).defer(*Profile.large)
    for found in waited.select_related("version__dataset"):
        if found.version.ref in refs:
            yield {
                "kind": "profile",
                "id": found.id,
                "name": found.id,
                "state": found.state,
                "ref": found.version.ref,
            }


def goldilocks_with_rows(team: Team, refs: Collection[str]) -> Iterator[Pin]:
    """Goldilocks of the team that are not over and try the rows of one of the versions: between profiles, too."""
    waited = Goldilocks.objects.for_team(team).filter(state__in=GOLDILOCKS_OPEN).select_related("version__dataset")
    for found in waited:
        if found.version.ref in refs:
            yield {
                "kind": "goldilocks",
                "id": found.id,
                "name": found.id,
                "state": found.state,
                "ref": found.version.ref,
            }
