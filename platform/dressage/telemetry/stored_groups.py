"""Reads of a run's newest groups for forecasts: outcomes of each prompt, and stored samples. Both are bounded."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.db.models import Count, Max, QuerySet, Sum

from dressage.telemetry.lines import Line
from dressage.telemetry.models import Rollout, RowOutcome, TraceFile
from trainer_core.steering.batch_forecast import StoredSample, Verdicts
from trainer_core.steering.fates import NOT_FILTERS

STEPS = 20
"""Number of newest steps that are read."""
MAX_OUTCOMES = 8192
MAX_SAMPLES = 8192


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Verdicts on the groups that came back in some steps, including groups that were not trained on."""

    verdicts: list[Verdicts]
    first_step: int
    last_step: int


@dataclass(frozen=True, slots=True)
class StoredGroups:
    """Samples of stored groups."""

    groups: list[list[StoredSample]]
    first_step: int
    last_step: int
    whole: bool
    """Whether each of the steps has all groups that it was trained on."""

    @property
    def samples(self) -> int:
        """Samples of all groups."""
        return sum(map(len, self.groups))


def newest_outcomes(run_id: str, line: Line) -> Outcomes | None:
    """Verdicts on the prompts of the newest steps on the line; None if nothing is stored."""
    found = RowOutcome.objects.filter(line.condition(), run_id=run_id)
    columns = _since(found, _oldest(found)).order_by("-step", "row").values_list("step", "right", "graded")
    rows = _bounded(list(columns[: MAX_OUTCOMES + 1]), MAX_OUTCOMES, lambda row: row[0])
    if not rows:
        return None
    return Outcomes([Verdicts(right, graded) for _, right, graded in rows], rows[-1][0], rows[0][0])


def newest_groups(run_id: str, line: Line) -> StoredGroups | None:
    """Stored groups of the newest steps on the line; None if none are stored.

    Steps that have all their groups are enough, if there are any: the others hold only a sample, chosen from the
    extremes.
    """
    rollouts = Rollout.objects.filter(line.condition(), run_id=run_id)
    oldest = _oldest(rollouts)
    found = _since(rollouts, oldest)
    complete = _complete(found, _since(TraceFile.objects.filter(line.condition(), run_id=run_id), oldest))
    if complete:
        found = found.filter(step__in=complete)
    columns = ("step", "group_id", "reward", "length", "finish_reason", "excluded")
    ordered = found.order_by("-step", "group_id", "sample", "id").values(*columns)
    rows = _bounded(list(ordered[: MAX_SAMPLES + 1]), MAX_SAMPLES, _group)
    if not rows:
        return None
    groups = [[_sample(row) for row in samples] for _, samples in groupby(rows, key=_group)]
    return StoredGroups(groups, rows[-1]["step"], rows[0]["step"], bool(complete))


def _oldest(found: QuerySet[Any]) -> int | None:
    """The first of the newest steps."""
    last: int | None = found.aggregate(last=Max("step"))["last"]
    return None if last is None else last - STEPS + 1


def _since(found: QuerySet[Any], oldest: int | None) -> QuerySet[Any]:
    return found.none() if oldest is None else found.filter(step__gte=oldest)


def _bounded(rows: list[Any], most: int, part: Callable[[Any], Any]) -> list[Any]:
    """The first ``most`` rows, without the part (step or group) that does not fit completely unless it comes first."""
    if len(rows) <= most:
        return rows
    cut = part(rows[most])
    return [row for row in rows[:most] if part(row) != cut] or rows[:most]


def _complete(found: QuerySet[Rollout], files: QuerySet[TraceFile]) -> list[int]:
    """Steps of which all groups are stored, compared with the number that their trace files state.

    Steps beyond those that hold ``MAX_SAMPLES`` are not counted: they would not be read.
    """
    groups: dict[int, int] = {}
    samples = 0
    for step, most, kept in files.order_by("-step").values_list("step").annotate(Max("groups"), Sum("samples")):
        groups[step] = most
        samples += kept
        if samples > MAX_SAMPLES:
            break
    # Every group has a sample 0.
    counted = (
        found.filter(step__in=groups, sample=0)
        .order_by()
        .values_list("step")
        .annotate(Count("group_id", distinct=True))
    )
    return [step for step, stored in counted if stored == groups[step]]


def _group(row: dict[str, Any]) -> tuple[int, str]:
    return row["step"], row["group_id"]


def _sample(row: dict[str, Any]) -> StoredSample:
    return StoredSample(
        reward=row["reward"],
        length=row["length"],
        truncated=row["finish_reason"] == "length",
        # A loop that the run's own filter detected in its last tokens is one, however the completion ended.
        loops=row["finish_reason"] == "repetition" or row["excluded"] == "repetition",
        out=row["excluded"] in NOT_FILTERS,
    )
