"""The contamination operation: what each row shares with evaluation sets, notes and report."""

from dataclasses import dataclass
from typing import get_args

import numpy as np
import pyarrow as pa

from dressage.lab.arguments import FindContamination
from dressage.lab.contamination.evaluation import EvaluationRows, evaluation_rows, most_rows
from dressage.lab.contamination.meetings import Meetings, counted, keep_meetings, load
from dressage.lab.contamination.shared import same_figures, shared
from dressage.lab.plan import LabWork, Result
from dressage.lab.reports import ContaminatedRow, ContaminationReport, Match
from dressage.lab.shown_rows import shown_rows
from dressage.lab.tokens import Places

_SHOWN = 30
_NONE, _EQUAL, _NEAR, _PART, _OTHER_NUMBERS = range(5)
_MATCHES = np.array([None, *get_args(Match), "other_numbers"], object)
_MATCH: dict[int, Match] = dict(enumerate(get_args(Match), start=_EQUAL))


@dataclass(frozen=True, slots=True)
class _FoundRows:
    """Data for the notes of each row; all of shape [rows]."""

    match: np.ndarray
    share: np.ndarray
    longest: Places
    other: Places
    """Index of the row in the concatenated evaluation sets, or -1."""


def find_contamination(work: LabWork, operation: FindContamination) -> Result:
    """Find rows of the version that evaluation sets contain."""
    rows = work.version.rows
    work.told("Reading evaluation sets", 0, 0)
    evaluation = evaluation_rows(work.against, operation)
    files = keep_meetings(
        work.version.path, work.folder, evaluation, operation, lambda done: work.told("Reading rows", done, rows)
    )
    common = counted(files, evaluation, operation.run) > most_rows(rows, operation.common)
    found = _FoundRows(np.zeros(rows, np.int8), np.zeros(rows), np.zeros(rows, np.int64), np.full(rows, -1, np.int64))
    for place, file in enumerate(files):
        work.told("Comparing rows", place, len(files))
        _note(found, load(file), evaluation, common, operation)
    clean = (found.match == _NONE) | (found.match == _OTHER_NUMBERS)
    ends = np.cumsum([one.rows for one in work.against])
    sets = np.searchsorted(ends, np.maximum(found.other, 0), side="right")
    index = found.other - (ends - [one.rows for one in work.against])[sets]
    refs = np.array([one.ref for one in work.against], object)[sets]
    nowhere = found.other < 0
    table = pa.table(
        {
            "clean": pa.array(clean, pa.bool_()),
            "match": pa.array(_MATCHES[found.match], pa.string()),
            "share": pa.array(found.share.round(4), pa.float64()),
            "longest": pa.array(found.longest, pa.int64()),
            "against": pa.array(refs, pa.string(), mask=nowhere),
            "row": pa.array(index + 1, pa.int64(), mask=nowhere),
        }
    )
    report = _report(work, found, clean, sets, index, evaluation.common + int(common.sum()))
    return Result("contamination", table, dict(report))


def _note(
    found: _FoundRows,
    meetings: Meetings,
    evaluation: EvaluationRows,
    common: np.ndarray,
    operation: FindContamination,
) -> None:
    runs = shared(meetings, evaluation, common, operation.run)
    for place, row in enumerate(meetings.numbers.tolist()):
        equal, near, other = int(meetings.equal[place]), int(meetings.near[place]), int(runs.other[place])
        share = float(runs.share[place])
        match = _NONE
        if equal >= 0:
            match, other, share = _EQUAL, equal, 1.0
        elif share >= operation.threshold:
            here = slice(meetings.offsets[place], meetings.offsets[place + 1])
            tokens = meetings.hashes[here], meetings.is_figure[here]
            agrees = not operation.same_figures or same_figures(tokens, evaluation.of_row(other), operation.run)
            match = _PART if agrees else _OTHER_NUMBERS
        if match in (_NONE, _OTHER_NUMBERS) and near >= 0:
            match, other, share = _NEAR, near, float(meetings.likeness[place])
        found.match[row], found.share[row], found.other[row] = match, share, other
        longest = int(runs.longest[place]) if other == runs.other[place] else 0
        found.longest[row] = meetings.offsets[place + 1] - meetings.offsets[place] if match == _EQUAL else longest


def _report(
    work: LabWork, found: _FoundRows, clean: np.ndarray, sets: Places, index: Places, common: int
) -> ContaminationReport:
    counts = np.bincount(found.match, minlength=len(_MATCHES)).tolist()
    return {
        "rows": work.version.rows,
        "clean": int(clean.sum()),
        "equal_rows": counts[_EQUAL],
        "near_rows": counts[_NEAR],
        "part_rows": counts[_PART],
        "other_numbers": counts[_OTHER_NUMBERS],
        "common_runs": common,
        "sets": [
            {"ref": one.ref, "rows": one.rows, "found": len(np.unique(index[~clean & (sets == number)]))}
            for number, one in enumerate(work.against)
        ],
        "largest": _largest(work, found, clean, sets, index),
    }


def _largest(work: LabWork, found: _FoundRows, clean: np.ndarray, sets: Places, index: Places) -> list[ContaminatedRow]:
    rows = np.flatnonzero(~clean)
    rows = rows[np.lexsort((rows, -found.longest[rows], -found.share[rows], found.match[rows] != _EQUAL))][:_SHOWN]
    shown = shown_rows(work.version, rows.tolist())
    met = {
        (number, place): row
        for number, one in enumerate(work.against)
        for place, row in shown_rows(one, index[rows[sets[rows] == number]].tolist()).items()
    }
    return [
        {
            "row": shown[row],
            "met": met[int(sets[row]), int(index[row])],
            "match": _MATCH[int(found.match[row])],
            "share": round(float(found.share[row]), 4),
            "longest": int(found.longest[row]),
        }
        for row in rows.tolist()
    ]
