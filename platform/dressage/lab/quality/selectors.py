"""Queries for marks: rows that people mark without seeing the judge's scores, and the agreement of both."""

from typing import Any

from dressage.common.actors import Actor
from dressage.common.api.problems import Problem, conflict
from dressage.datasets.versions import notes, storage
from dressage.lab.asking.rows import AskedRow
from dressage.lab.models import LabJob, LabKind, LabState, QualityMark
from dressage.lab.quality.agreement import agreements
from dressage.lab.quality.documents import NOTES, MarksDocument, RowToMark
from dressage.lab.quality.drawing import TO_MARK, ScoredRow, shuffled

_LONGEST = 8_000
"""Maximum length of a text shown to people, in characters."""


def marks(job: LabJob, actor: Actor, *, size: int, threshold: float) -> MarksDocument:
    """The rows that a person should mark, with their own marks, and the agreement of everyone who has marked rows.

    Raises:
        Problem: 409 if the job is not a quality assessment, or its notes no longer exist.
    """
    rows = rows_to_mark(job)
    said = list(QualityMark.objects.filter(job=job))
    mine = {one.row: one.good for one in said if one.reviewer == actor.id}
    return {
        "threshold": threshold,
        "rows": _shown(job, shuffled(rows[:size], job.id), mine),
        "reviewers": agreements({one.number: one.score for one in rows}, said, threshold),
    }


def rows_to_mark(job: LabJob) -> list[ScoredRow]:
    """The rows that people may mark, in drawing order. Raises a 409 problem as ``marks``."""
    if job.kind != LabKind.QUALITY:
        raise conflict("Only rows that a judge has scored can be marked.", code="not_a_judgement")
    if not _has_scores(job):
        raise conflict("The job's scores do not exist or were deleted: judge the rows again.", code="no_scores")
    return [ScoredRow(*one) for one in job.drawn or []]


def report_for_marker(job: LabJob, actor: Actor) -> Any:
    """The job's report for a person who marks rows: without verdicts on rows that they still have to mark."""
    report = job.report
    if job.kind != LabKind.QUALITY or not report or not _has_scores(job):
        return report
    said = set(QualityMark.objects.filter(job=job, reviewer=actor.id).values_list("row", flat=True))
    open_ = {number for number, *_ in (job.drawn or [])[:TO_MARK]} - said
    quality = report["quality"]
    lowest = [one for one in quality["lowest"] if one["row"]["index"] not in open_]
    return {**report, "quality": {**quality, "lowest": lowest, "kept_back": len(quality["lowest"]) - len(lowest)}}


def _has_scores(job: LabJob) -> bool:
    found = notes.visible(job.version).filter(name=NOTES, source__id=job.id)
    return job.state == LabState.DONE and found.exists()


def _shown(job: LabJob, rows: list[ScoredRow], mine: dict[int, bool]) -> list[RowToMark]:
    numbers = [one.number for one in rows]
    names, path = ("prompt", "answer", "row"), job.version.path
    try:
        texts: dict[str, dict[int, Any]] = {name: storage.read_column_at(path, name, numbers) for name in names}
    except FileNotFoundError as error:
        raise Problem(409, "Conflict", f"A file of {job.version.ref} is missing.", code="missing_files") from error
    found: list[RowToMark] = []
    for one in rows:
        row = AskedRow(one.number, one.id, *(texts[name][one.number] for name in names))
        said = mine.get(one.number)
        found.append(
            {
                "index": one.number,
                "id": one.id,
                "columns": [{"name": name, "text": _short(row.text(name))} for name in job.operation["columns"]],
                "mine": None if said is None else ("good" if said else "bad"),
            }
        )
    return found


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
