"""The memorisation operation: continuations of rows, notes and report."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from dressage.lab.arguments import FindMemorised
from dressage.lab.asking.ask_rows import ask_rows
from dressage.lab.asking.client import RowAsker
from dressage.lab.asking.outcomes import LEFT_OUT, AskedOutcome
from dressage.lab.asking.reporting import asked_report
from dressage.lab.asking.rows import AskedRow
from dressage.lab.memorisation.halves import behind, cut, likeness
from dressage.lab.plan import LabWork, Result
from dressage.lab.reports import MemorisationReport, MemorisedRow
from dressage.lab.score_bins import histogram
from dressage.lab.shown_rows import shown_rows
from dressage.lab.synthesis.grading import EQUALITY, AnswerGrading
from dressage.lab.synthesis.source import read_source
from trainer_core.link.completions import CompletionRequest
from trainer_core.profiling.interval import wilson_interval

NOTES = "memorisation"
"""Name of the row notes."""
_BYTES_A_TOKEN = 3
"""Minimum typical number of bytes of text per token."""
_SPARE = 16
_SHOWN = 20
_LONGEST = 400
"""Maximum length of a text in reports, in characters."""
_GRADING = 2
"""Number of parallel grading processes."""


def find_memorised(work: LabWork, operation: FindMemorised) -> Result:
    """Have a model continue the selected rows."""
    grading = AnswerGrading(EQUALITY, _GRADING)
    try:
        outcomes = ask_rows(work, operation, partial(_continue, operation, grading))
    finally:
        grading.close()
    return Result(NOTES, _table(work, outcomes), dict(_report(work, outcomes)))


def _continue(operation: FindMemorised, grading: AnswerGrading, row: AskedRow, asker: RowAsker) -> dict[str, Any]:
    """The outcome of a row: ``LEFT_OUT``, or the result for the model's continuation."""
    parts = cut(row.prompt, operation.shown)
    if parts.words < operation.least_rest or not parts.shown.strip():
        return LEFT_OUT
    tokens = len(parts.rest.encode()) // _BYTES_A_TOKEN + _SPARE + operation.max_tokens
    answer = asker.complete(CompletionRequest(parts.shown, tokens))
    found = likeness(parts.rest, answer.text)
    answered = None
    if row.answer and row.answer.strip():
        # Only after the words of the rest: a number in the question is not an answer to it.
        said = behind(answer.text, found.longest)
        answered = grading.grade(said, read_source(row).data).right
    return {
        **found._asdict(),
        "answered": answered,
        "shown": parts.shown[-_LONGEST:],
        "expected": parts.rest[:_LONGEST],
        "said": answer.text[: min(_LONGEST, 2 * len(parts.rest))],
    }


def _table(work: LabWork, outcomes: Sequence[AskedOutcome]) -> pa.Table:
    """The notes of rows that were tried; null if nothing is known."""
    types = {
        "completed": pa.bool_(),
        "overlap": pa.float64(),
        "longest": pa.int64(),
        "answered": pa.bool_(),
        "error": pa.string(),
    }
    columns: dict[str, list[Any]] = {name: [None] * work.version.rows for name in types}
    for one in outcomes:
        columns["error"][one.row] = one.error
        for name in ("completed", "overlap", "longest", "answered"):
            columns[name][one.row] = (one.found or {}).get(name)
    return pa.table({name: pa.array(values, types[name]) for name, values in columns.items()})


def _report(work: LabWork, outcomes: Sequence[AskedOutcome]) -> MemorisationReport:
    tried = [(one.row, one.found) for one in outcomes if one.found and not one.left_out]
    completed = sum(found["completed"] for _, found in tried)
    low, high = wilson_interval(len(tried), completed) if tried else (0.0, 1.0)
    graded = [found["answered"] for _, found in tried if found["answered"] is not None]
    overlaps = [found["overlap"] for _, found in tried]
    return {
        "rows": work.version.rows,
        "tried": len(tried),
        "left_out": sum(one.left_out for one in outcomes),
        "completed": completed,
        "share": completed / len(tried) if tried else 0.0,
        "low": low,
        "high": high,
        "with_answer": len(graded),
        "answered": sum(graded),
        "overlap": sum(overlaps) / len(overlaps) if overlaps else 0.0,
        "histogram": histogram(overlaps),
        "most": _most(work, tried),
        "asked": asked_report(work, outcomes),
    }


def _most(work: LabWork, tried: Sequence[tuple[int, dict[str, Any]]]) -> list[MemorisedRow]:
    found = sorted(tried, key=lambda one: (-one[1]["overlap"], one[0]))[:_SHOWN]
    shown = shown_rows(work.version, [row for row, _ in found])
    return [
        {
            "row": shown[row],
            "shown": one["shown"],
            "expected": one["expected"],
            "said": one["said"],
            "overlap": one["overlap"],
            "completed": one["completed"],
            "answered": one["answered"],
        }
        for row, one in found
    ]
