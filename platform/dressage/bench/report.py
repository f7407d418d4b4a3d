"""Report on a bench job: a summary for each definition, verdicts that change between two, and probes that score
high."""

import math
import statistics
from typing import Any, Literal

from typing_extensions import TypedDict

from dressage.bench.models import BenchJob
from dressage.bench.rescored import RescoredDocument, rescored
from trainer_core.link.bench import BenchScore
from trainer_core.rewards.errors import grouped
from trainer_core.rewards.probes import ProbeKind, meaning

_CAN_BE_RIGHT = ("gold_echoed",)
"""Probes that a reward for only the final answer may rightly accept."""


class BenchScoreDocument(BenchScore):
    """One sample's score, and whether it counts as a success."""

    success: bool | None
    """Whether the reward reaches the threshold."""


class BenchErrorKindDocument(TypedDict):
    """Errors that only differ in their details."""

    message: str
    count: int


class BenchSummaryDocument(TypedDict):
    """One definition over all samples except probes."""

    label: str
    samples: int
    mean: float | None
    std: float | None
    """Population standard deviation."""
    success_share: float | None
    """Share of successes among the samples with a reward."""
    errors: int
    error_kinds: list[BenchErrorKindDocument]
    parts: dict[str, float]
    """Mean grade of each part."""
    seconds_p50: float | None
    seconds_p95: float | None


class BenchFlipDocument(TypedDict):
    """A sample whose verdict changes: it succeeds by only one of the two definitions."""

    sample: str
    before: bool | None
    after: bool | None
    reward_before: float | None
    reward_after: float | None


class BenchFlagDocument(TypedDict):
    """A probe that counts as a success."""

    sample: str
    definition: int
    """Index of the definition, from 0."""
    label: str
    probe: ProbeKind
    reward: float
    severity: Literal["info", "warn"]
    detail: str


class ReportDocument(TypedDict):
    """Report on the results of a job."""

    results: list[list[BenchScoreDocument]] | None
    """``[definition][sample]``; None until the job is done."""
    summary: list[BenchSummaryDocument]
    """One per definition; empty until the job is done."""
    flips: list[BenchFlipDocument]
    flags: list[BenchFlagDocument]
    rescored: list[RescoredDocument]
    """Changes to stored rollouts, one per definition; empty for other samples, and until the job is done."""


def report(job: BenchJob) -> ReportDocument:
    """Report on the job's results; None and empty lists while there are none."""
    if job.results is None:
        return {"results": None, "summary": [], "flips": [], "flags": [], "rescored": []}
    rows: list[list[Any]] = [
        [{"explanation": {}, **score, "success": _succeeded(score, definition)} for score in scores]
        for definition, scores in zip(job.definitions, job.results, strict=True)
    ]
    return {
        "results": rows,
        "summary": [_summary(job, definition, row) for definition, row in zip(job.definitions, rows, strict=True)],
        "flips": _flips(job, rows),
        "flags": _flags(job, rows),
        "rescored": rescored(job),
    }


def _succeeded(score: dict[str, Any], definition: dict[str, Any]) -> bool | None:
    """Whether the reward reaches the definition's own threshold; None if there is no reward."""
    if score["reward"] is None:
        return None
    return bool(score["reward"] >= definition["definition"]["success_threshold"])


def _summary(job: BenchJob, definition: dict[str, Any], row: list[Any]) -> BenchSummaryDocument:
    """Summarise the samples without probes, which would distort every mean."""
    own = [score for score, sample in zip(row, job.samples, strict=True) if sample["probe"] is None]
    rewards = [score["reward"] for score in own if score["reward"] is not None]
    seconds = sorted(score["seconds"] for score in own)
    parts: dict[str, list[float]] = {}
    for score in own:
        for name, grade in score["parts"].items():
            parts.setdefault(name, []).append(grade)
    errors = [score["error"] for score in own if score["error"]]
    return {
        "label": definition["label"],
        "samples": len(own),
        "mean": statistics.fmean(rewards) if rewards else None,
        "std": statistics.pstdev(rewards) if rewards else None,
        "success_share": sum(bool(score["success"]) for score in own) / len(rewards) if rewards else None,
        "errors": len(errors),
        "error_kinds": [{"message": message, "count": count} for message, count in grouped(errors)],
        "parts": {name: statistics.fmean(grades) for name, grades in parts.items()},
        "seconds_p50": _quantile(seconds, 0.5),
        "seconds_p95": _quantile(seconds, 0.95),
    }


def _flips(job: BenchJob, rows: list[list[Any]]) -> list[BenchFlipDocument]:
    """Samples that succeed by one definition but not by the other, each by its own threshold."""
    if len(rows) != 2:
        return []
    return [
        {
            "sample": sample["id"],
            "before": before["success"],
            "after": after["success"],
            "reward_before": before["reward"],
            "reward_after": after["reward"],
        }
        for sample, before, after in zip(job.samples, *rows, strict=True)
        if sample["probe"] is None and before["success"] != after["success"]
    ]


def _flags(job: BenchJob, rows: list[list[Any]]) -> list[BenchFlagDocument]:
    """Probes whose reward reaches the threshold."""
    flags: list[BenchFlagDocument] = []
    for index, (definition, row) in enumerate(zip(job.definitions, rows, strict=True)):
        for sample, score in zip(job.samples, row, strict=True):
            if sample["probe"] is None or not score["success"]:
                continue
            threshold = definition["definition"]["success_threshold"]
            says = (
                f"{meaning(sample['probe']).capitalize()} earns {score['reward']:.4g}, and {threshold:g} counts as"
                " success."
            )
            fine = sample["probe"] in _CAN_BE_RIGHT
            advice = " That is right if only the final answer counts." if fine else " A policy will exploit this."
            flags.append(
                {
                    "sample": sample["id"],
                    "definition": index,
                    "label": definition["label"],
                    "probe": sample["probe"],
                    "reward": score["reward"],
                    "severity": "info" if fine else "warn",
                    "detail": says + advice,
                }
            )
    return flags


def _quantile(ordered: list[float], share: float) -> float | None:
    """The nearest-rank quantile: the smallest value such that at least ``share`` of all values do not exceed it."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None
