"""Comparison of stored rewards with those of a definition: the changes, sample by sample and group by group.

Two things may flip: a verdict (whether the reward is a success, by the definition's own threshold for both rewards),
and the sign of an advantage. A verdict can change without the sign, as for a whole group, and the sign without a
verdict.

Both sides leave out the run's shaping terms. An advantage is a reward minus the mean of its group's compared samples,
so its sign is that of any advantage that compares within the group. Samples without both rewards are left out.
"""

import statistics
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from typing_extensions import TypedDict

from dressage.bench.models import BenchJob

EQUAL = 1e-8
"""Rewards that differ by less than this count as equal, as in the filter of zero-advantage groups."""


class RescoredSampleDocument(TypedDict):
    """A sample under both rewards."""

    sample: str
    """Its id in the job."""
    group: str
    before: float | None
    """The stored reward, without the run's shaping; null if it had failed."""
    after: float | None
    """The reward by the definition; null if it fails."""
    change: float | None
    advantage_before: float | None
    advantage_after: float | None
    flips: bool
    """Whether the advantage changes from positive to negative, or vice versa."""
    success_before: bool | None
    success_after: bool | None
    verdict_changes: bool
    """Whether only one of the two rewards is a success."""


class RescoredGroupDocument(TypedDict):
    """A group under both rewards, counting only the samples that have both."""

    group: str
    samples: int
    mean_before: float
    mean_after: float
    dead_before: bool
    dead_after: bool
    flips: int
    """Samples whose advantage changes its sign."""
    verdicts_changed: int


class RescoredDocument(TypedDict):
    """Stored rollouts under one definition of a job."""

    label: str
    compared: int
    """Samples that have both rewards."""
    failed: int
    """Samples for which one of the two could not be computed."""
    changed: int
    mean_before: float | None
    mean_after: float | None
    flips: int
    """Samples whose advantage changes its sign."""
    verdicts_changed: int
    """Samples that are a success by only one of the two rewards."""
    dead_before: int
    """Groups whose compared rewards are all equal. Groups with only one compared sample are not counted."""
    dead_after: int
    groups: list[RescoredGroupDocument]
    """Groups with at least two compared samples, in the job's order."""
    samples: list[RescoredSampleDocument]
    """The samples with the largest change first; those that cannot be compared last."""


def rescored(job: BenchJob) -> list[RescoredDocument]:
    """One comparison per definition. Empty if the samples are not stored rollouts, and for old jobs without groups."""
    if job.results is None or job.source["type"] != "run":
        return []
    own = [(place, one) for place, one in enumerate(job.samples) if one["probe"] is None]
    if not all("group" in (one["stored"] or {}) for _, one in own):
        return []
    return [
        _compared(
            definition["label"],
            definition["definition"]["success_threshold"],
            [(one, scores[place]["reward"]) for place, one in own],
        )
        for definition, scores in zip(job.definitions, job.results, strict=True)
    ]


def _compared(label: str, threshold: float, rewards: Sequence[tuple[dict[str, Any], float | None]]) -> RescoredDocument:
    by_group: dict[str, list[RescoredSampleDocument]] = defaultdict(list)
    for sample, after in rewards:
        before = sample["stored"]["graded"]
        change = None if before is None or after is None else after - before
        verdicts = [None if reward is None else reward >= threshold for reward in (before, after)]
        by_group[sample["stored"]["group"]].append(
            {
                "sample": sample["id"],
                "group": sample["stored"]["group"],
                "before": before,
                "after": after,
                "change": change,
                "advantage_before": None,
                "advantage_after": None,
                "flips": False,
                "success_before": verdicts[0],
                "success_after": verdicts[1],
                "verdict_changes": change is not None and verdicts[0] != verdicts[1],
            }
        )
    groups = [told for name, rows in by_group.items() if (told := _group(name, rows)) is not None]
    rows = [row for group in by_group.values() for row in group]
    changes = [row["change"] for row in rows if row["change"] is not None]
    return {
        "label": label,
        "compared": len(changes),
        "failed": len(rows) - len(changes),
        "changed": sum(abs(change) > EQUAL for change in changes),
        "mean_before": _mean([row["before"] for row in rows if row["change"] is not None]),
        "mean_after": _mean([row["after"] for row in rows if row["change"] is not None]),
        "flips": sum(row["flips"] for row in rows),
        "verdicts_changed": sum(row["verdict_changes"] for row in rows),
        "dead_before": sum(group["dead_before"] for group in groups),
        "dead_after": sum(group["dead_after"] for group in groups),
        "groups": groups,
        "samples": sorted(rows, key=lambda row: -1.0 if row["change"] is None else abs(row["change"]), reverse=True),
    }


def _group(name: str, rows: list[RescoredSampleDocument]) -> RescoredGroupDocument | None:
    """The group, after writing the advantages into its samples; None if fewer than two samples can be compared."""
    both = [row for row in rows if row["change"] is not None]
    if len(both) < 2:
        return None
    before, after = ([float(row[side] or 0.0) for row in both] for side in ("before", "after"))
    means = statistics.fmean(before), statistics.fmean(after)
    for row, old, new in zip(both, before, after, strict=True):
        row["advantage_before"], row["advantage_after"] = old - means[0], new - means[1]
        row["flips"] = _sign(old - means[0]) * _sign(new - means[1]) < 0
    return {
        "group": name,
        "samples": len(both),
        "mean_before": means[0],
        "mean_after": means[1],
        "dead_before": max(before) - min(before) <= EQUAL,
        "dead_after": max(after) - min(after) <= EQUAL,
        "flips": sum(row["flips"] for row in both),
        "verdicts_changed": sum(row["verdict_changes"] for row in both),
    }


def _sign(advantage: float) -> int:
    return (advantage > EQUAL) - (advantage < -EQUAL)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None
