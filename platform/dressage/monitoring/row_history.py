"""The history of one row of a dataset: its outcomes in the team's runs."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, cast

from django.db.models import Q
from typing_extensions import TypedDict

from dressage.common.api.problems import not_found
from dressage.datasets.models import DatasetVersion
from dressage.datasets.versions import storage
from dressage.runs.facts.selectors import line_of
from dressage.runs.models import Run
from dressage.teams.models import Team
from dressage.telemetry.models import Rollout, RowOutcome
from trainer_core.steering.fates import FateKind

MAX_NAMING = 500
"""Number of newest runs that are checked, among those that draw from the dataset."""
MAX_RUNS = 20
"""Number of newest runs that are returned."""
MAX_TRIES = 500
"""Number of newest tries of a run that are returned one by one."""
MAX_VERSIONS = 8
"""Number of newest other versions in which the row is searched by its id."""
MAX_SEARCHED = 1_000_000
"""Maximum rows of another version that is searched."""


class RowTry(TypedDict):
    """A group of completions of the row."""

    step: int
    right: int
    """Successful samples."""
    graded: int
    """Samples whose reward could be computed."""
    reward: float | None
    """Their mean reward."""
    ordinal: int | None
    """Number of the prompt among all that the run has drawn, from 0; null, like `fate`, from workers of earlier
    releases."""
    fate: FateKind | None
    """Whether the group was trained on, rejected by a filter, or dropped for another reason."""
    reason: str | None
    """The filter that rejected it, or why it was dropped."""


class RowRun(TypedDict):
    """A run that has sampled the row."""

    run_id: str
    name: str
    state: str
    ref: str
    """The version that the run draws from."""
    prompt_id: str
    """The row in the run: `<source>:<position in that version, from 0>`."""
    groups: int
    """How often it was sampled."""
    right: int
    graded: int
    tries: list[RowTry]
    """The newest groups, in the order of their steps."""
    rollouts: int
    """Stored completions of it."""


class RowHistory(TypedDict):
    """Outcomes of a row in the team's runs."""

    runs: list[RowRun]
    """Newest first."""
    has_more: bool
    """Whether older runs have sampled it, too."""
    unsearched: list[str]
    """Other versions that runs draw from, but that were too many or too large to search for the row."""


def row_history(team: Team, version: DatasetVersion, number: int) -> RowHistory:
    """Outcomes of a row in the runs that draw from its version, or from another version with the same id.

    Args:
        team: the team of the runs.
        version: the version of the row, the team's or shared with it.
        number: position of the row, from 0.

    Raises a 404 problem, or FileNotFoundError.
    """
    found = storage.read_identified(version.path, [number])
    if not found:
        raise not_found("row")
    naming = _runs_of(team, version.dataset.slug)
    places, unsearched = _places(version, number, found[0][1], naming)
    wanted: dict[str, list[tuple[str, int, str]]] = defaultdict(list)
    for ref, place in places.items():
        for run_id, source in naming.get(ref, ()):
            wanted[run_id].append((source, place, ref))
    sampled = set(_sampled(wanted))
    newest = list(Run.objects.for_team(team).filter(id__in=sampled).order_by("-created_at", "-id")[: MAX_RUNS + 1])
    told = [one for run in newest[:MAX_RUNS] for one in _told(run, wanted[run.id])]
    return {"runs": told, "has_more": len(newest) > MAX_RUNS, "unsearched": unsearched}


def _runs_of(team: Team, slug: str) -> dict[str, list[tuple[str, str]]]:
    """(run, source) of the newest runs that draw from versions of a dataset, by ``slug@number``."""
    runs = Run.objects.for_team(team).order_by("-created_at", "-id").values_list("id", "spec__data__sources")
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for run_id, sources in runs.filter(spec__data__sources__icontains=f'"{slug}@')[:MAX_NAMING]:
        for source in sources or ():
            if source["dataset"].startswith(f"{slug}@"):
                found[source["dataset"]].append((run_id, source["name"]))
    return found


def _places(
    version: DatasetVersion, number: int, row_id: str, naming: dict[str, Any]
) -> tuple[dict[str, int], list[str]]:
    """Position of the row in each version that runs draw from, and the versions that were not searched."""
    places, unsearched, searched = {version.ref: number}, [], 0
    others = DatasetVersion.objects.filter(dataset=version.dataset_id, deleted_at=None).exclude(pk=version.pk)
    for other in others.order_by("-number"):
        ref = f"{version.dataset.slug}@{other.number}"
        if ref not in naming:
            continue
        if searched == MAX_VERSIONS or other.rows > MAX_SEARCHED:
            unsearched.append(ref)
            continue
        searched += 1
        place = storage.number_of(other.path, row_id)
        if place is not None:
            places[ref] = place
    return places, unsearched


def _sampled(wanted: dict[str, list[tuple[str, int, str]]]) -> Iterator[str]:
    """Runs that have sampled the row."""
    condition = Q(pk__in=[])
    for run_id, at in wanted.items():
        for source, place, _ in at:
            condition |= Q(run_id=run_id, source=source, row=place)
    yield from RowOutcome.objects.filter(condition).values_list("run_id", flat=True).distinct()


def _told(run: Run, at: list[tuple[str, int, str]]) -> Iterator[RowRun]:
    line = line_of(run)
    for source, place, ref in at:
        tries = RowOutcome.objects.filter(line.condition(), run=run, source=source, row=place)
        columns = list(tries.order_by("step", "id").values(*RowTry.__annotations__))
        if not columns:
            continue
        prompt_id = f"{source}:{place}"
        yield {
            "run_id": run.id,
            "name": run.name,
            "state": run.state,
            "ref": ref,
            "prompt_id": prompt_id,
            "groups": len(columns),
            "right": sum(one["right"] for one in columns),
            "graded": sum(one["graded"] for one in columns),
            "tries": [cast(RowTry, one) for one in columns[-MAX_TRIES:]],
            "rollouts": Rollout.objects.filter(line.condition(), run=run, prompt_id=prompt_id).count(),
        }
