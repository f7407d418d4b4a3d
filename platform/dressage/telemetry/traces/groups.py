"""Groups of a run: outcomes of each prompt's samples, one row per group, newest step first and dead groups last."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Left
from typing_extensions import TypedDict

from dressage.telemetry.models import Rollout, TraceFile
from dressage.telemetry.traces.reading import search
from dressage.telemetry.traces.upload import EXCERPT

SAMPLES_AT_ONCE = 4096
"""Maximum samples that are read together, except for a step that has more."""
LONGEST_S = 4.0
"""Seconds after which a page ends with the groups found so far."""


class GroupSampleDocument(TypedDict):
    """Summary of a sample of a group."""

    id: str
    sample: int
    reward: float | None
    right: bool | None
    """Whether it succeeds; null if unknown."""
    reward_error: bool
    advantage: float | None
    excluded: str | None
    length: int
    finish_reason: str
    budget_hit: bool
    worst_gap: float | None
    matches: bool
    """Whether it matches the filters on samples."""


class GroupDocument(TypedDict):
    """The samples of one prompt in one step."""

    step: int
    attempt: int
    group_id: str
    prompt_id: str
    source: str
    prompt: str
    """Beginning of the prompt."""
    dead: bool
    """Whether all rewards are equal, so that the group teaches nothing."""
    reward_mean: float | None
    reward_min: float | None
    reward_max: float | None
    pass_rate: float | None
    """Share of successful samples among the graded ones; null if unknown."""
    length_mean: float
    length_max: int
    worst_gap: float | None
    staleness: int | None
    """Versions between the oldest weights that sampled it and the weights that were trained on it."""
    tokens: bool
    """Whether its tokens are stored."""
    samples: list[GroupSampleDocument]


class GroupPlace(NamedTuple):
    """A group's place in the order."""

    step: int
    dead: bool
    group_id: str
    attempt: int

    def __str__(self) -> str:
        return f"{self.step}:{int(self.dead)}:{self.attempt}:{self.group_id}"

    @classmethod
    def read(cls, text: str) -> "GroupPlace":
        """Parse the place that a cursor names. Raises ValueError."""
        step, dead, attempt, group = text.split(":", 3)
        if not (step.isdigit() and attempt.isdigit() and dead in ("0", "1")):
            raise ValueError("no place of a group")
        return cls(int(step), dead == "1", group, int(attempt))

    @property
    def key(self) -> tuple[int, bool, int, str, int]:
        """Sorts groups: newest step first, dead groups last, then in dispatch order."""
        index = self.group_id.rpartition("-")[2]
        return (-self.step, self.dead, int(index) if index.isdigit() else 0, self.group_id, self.attempt)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Filters: ``samples`` are about samples, of which a group needs one match; the others are about groups."""

    samples: Q = field(default_factory=Q)
    text: str = ""
    """Text that a prompt or completion contains."""
    dead: bool | None = None


class GroupPage(NamedTuple):
    """A page of groups; ``next`` is where the next page starts, None at the end."""

    groups: list[GroupDocument]
    next: str | None


_SHORT = (
    "id", "step", "attempt", "group_id", "sample", "prompt_id", "source", "reward", "right", "reward_error",
    "advantage", "excluded", "length", "finish_reason", "budget_hit", "worst_gap", "policy_version_min", "trace_id",
)  # fmt: skip


def page(found: QuerySet[Rollout], wanted: Wanted, *, after: GroupPlace | None, limit: int) -> GroupPage:
    """A page of groups among the rollouts of a run.

    It may hold fewer than ``limit`` without being the last: a search ends when its time is up.

    Args:
        found: rollouts of one run.
        wanted: filters.
        after: place of the last group seen.
        limit: maximum number of groups.
    """
    end = time.monotonic() + LONGEST_S
    groups: list[tuple[GroupPlace, GroupDocument]] = []
    if after is not None:
        found = found.filter(step__lte=after.step)
    for steps in _stretches(found):
        for place, document in _groups(found.filter(step__in=steps), wanted):
            if after is None or place.key > after.key:
                groups.append((place, document))
        if len(groups) > limit:
            kept = groups[:limit]
            return _with_prompts([document for _, document in kept], str(kept[-1][0]))
        if time.monotonic() > end:
            # After every group of the last step that was read.
            last = GroupPlace(steps[-1], True, "-2147483647", 2**31 - 1)
            return _with_prompts([document for _, document in groups], str(last))
    return _with_prompts([document for _, document in groups], None)


def matching(found: QuerySet[Rollout], wanted: Wanted) -> Iterator[list[int]]:
    """Ids of the matching samples, newest step first, some at a time."""
    for steps in _stretches(found):
        groups = _groups(found.filter(step__in=steps), wanted)
        yield [int(sample["id"]) for _, group in groups for sample in group["samples"] if sample["matches"]]


def _stretches(found: QuerySet[Rollout]) -> Iterator[list[int]]:
    """Steps, newest first, some at a time."""
    counts = found.order_by("-step").values_list("step").annotate(Count("id"))
    steps: list[int] = []
    samples = 0
    for step, count in counts:
        if steps and samples + count > SAMPLES_AT_ONCE:
            yield steps
            steps, samples = [], 0
        steps.append(step)
        samples += count
    if steps:
        yield steps


def _groups(found: QuerySet[Rollout], wanted: Wanted) -> list[tuple[GroupPlace, GroupDocument]]:
    """Matching groups of some steps, in order."""
    fit = None
    if wanted.samples or wanted.text:
        of_samples = found.filter(wanted.samples)
        fit = set(of_samples.values_list("id", flat=True))
        if wanted.text and fit:
            fit &= _holding(found, wanted.text)
        if not fit:
            return []
    rows = found.order_by("step", "attempt", "group_id", "sample", "id").values(*_SHORT)
    groups = []
    for _, samples in groupby(rows, key=lambda row: (row["step"], row["attempt"], row["group_id"])):
        document = _document(list(samples), fit)
        if not any(sample["matches"] for sample in document["samples"]):
            continue
        if wanted.dead is None or document["dead"] == wanted.dead:
            place = GroupPlace(document["step"], document["dead"], document["group_id"], document["attempt"])
            groups.append((place, document))
    return sorted(groups, key=lambda one: one[0].key)


def _holding(found: QuerySet[Rollout], text: str) -> set[int]:
    """Ids of the samples whose texts contain ``text``."""
    whole = found.filter(Q(prompt__icontains=text) | Q(completion__icontains=text), indexed=False)
    ids = set(whole.values_list("id", flat=True))
    files = TraceFile.objects.filter(pk__in=found.filter(indexed=True).values("trace_id").distinct())
    for number, rows in search(files.order_by("-step", "number"), text):
        ids.update(found.filter(trace=number, trace_row__in=rows, indexed=True).values_list("id", flat=True))
    return ids


def _document(rows: Sequence[dict[str, Any]], fit: set[int] | None) -> GroupDocument:
    first = rows[0]
    rewards = [row["reward"] for row in rows if row["reward"] is not None]
    judged = [row["right"] for row in rows if row["right"] is not None]
    gaps = [row["worst_gap"] for row in rows if row["worst_gap"] is not None]
    versions = [row["policy_version_min"] for row in rows if row["policy_version_min"] is not None]
    return {
        "step": first["step"],
        "attempt": first["attempt"],
        "group_id": first["group_id"],
        "prompt_id": first["prompt_id"],
        "source": first["source"],
        "prompt": "",
        "dead": len(set(rewards)) < 2,
        "reward_mean": sum(rewards) / len(rewards) if rewards else None,
        "reward_min": min(rewards, default=None),
        "reward_max": max(rewards, default=None),
        "pass_rate": sum(judged) / len(judged) if judged else None,
        "length_mean": sum(row["length"] for row in rows) / len(rows),
        "length_max": max(row["length"] for row in rows),
        "worst_gap": max(gaps, default=None),
        "staleness": max(0, first["step"] - 1 - min(versions)) if versions else None,
        "tokens": any(row["trace_id"] is not None for row in rows),
        "samples": [_sample(row, fit) for row in rows],
    }


def _sample(row: dict[str, Any], fit: set[int] | None) -> GroupSampleDocument:
    gap = row["worst_gap"]
    return {
        "id": str(row["id"]),
        "sample": row["sample"],
        "reward": row["reward"],
        "right": row["right"],
        "reward_error": row["reward_error"] is not None,
        "advantage": row["advantage"],
        "excluded": row["excluded"],
        "length": row["length"],
        "finish_reason": row["finish_reason"],
        "budget_hit": row["budget_hit"],
        "worst_gap": gap,
        "matches": fit is None or row["id"] in fit,
    }


def _with_prompts(groups: list[GroupDocument], after: str | None) -> GroupPage:
    ids = [int(group["samples"][0]["id"]) for group in groups]
    found = Rollout.objects.filter(pk__in=ids).annotate(beginning=Left("prompt", EXCERPT))
    beginnings = dict(found.values_list("id", "beginning"))
    for group, number in zip(groups, ids, strict=True):
        group["prompt"] = beginnings.get(number, "")
    return GroupPage(groups, after)
