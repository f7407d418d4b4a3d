"""The quality operation: a judge's verdicts on each row, notes and report."""

from functools import partial
from typing import Any

import pyarrow as pa

from dressage.lab.arguments import AssessQuality
from dressage.lab.asking.ask_rows import ask_rows
from dressage.lab.asking.client import RowAsker
from dressage.lab.asking.outcomes import AskedOutcome
from dressage.lab.asking.reporting import asked_report
from dressage.lab.asking.rows import AskedRow, asked_rows
from dressage.lab.plan import LabWork, Result
from dressage.lab.quality.documents import NOTES
from dressage.lab.quality.drawing import MOST_MARKS, ScoredRow, drawn
from dressage.lab.quality.prompt import request
from dressage.lab.reports import JudgedRow, QualityReport
from dressage.lab.score_bins import histogram
from dressage.lab.shown_rows import shown_rows
from trainer_core.rewards.graders.model.rubric_prompt import reader

_SHOWN = 30


def assess_quality(work: LabWork, operation: AssessQuality) -> Result:
    """Have a judge score each selected row."""
    outcomes = ask_rows(work, operation, partial(_judge, operation))
    scores = {one.row: one.found["score"] for one in outcomes if one.found}
    ids = {row.number: row.id for row in asked_rows(work.version, operation.sample, operation.seed)}
    scored = [ScoredRow(number, ids[number], score) for number, score in scores.items()]
    report: QualityReport = {
        "rows": work.version.rows,
        "mean": sum(scores.values()) / len(scores),
        "histogram": histogram(list(scores.values())),
        "items": [
            {"name": item.name, "weight": item.weight, "mean": _mean(outcomes, place)}
            for place, item in enumerate(operation.items)
        ],
        "lowest": _lowest(work, operation, outcomes),
        "kept_back": 0,
        "asked": asked_report(work, outcomes),
    }
    rows = [(one.number, one.id, one.score) for one in drawn(scored, MOST_MARKS, operation.seed)]
    return Result(NOTES, _table(work, operation, outcomes), dict(report), rows)


def _judge(operation: AssessQuality, row: AskedRow, asker: RowAsker) -> dict[str, Any]:
    verdicts = asker.ask(request(row, operation), reader(operation.scale, len(operation.items)))
    possible = sum(max(item.weight, 0.0) for item in operation.items)
    won = sum(item.weight * one.score for item, one in zip(operation.items, verdicts, strict=True))
    return {
        "score": round(max(won / possible, 0.0), 9),  # 0.1 + 0.2 must not exceed 0.3
        "scores": [one.score for one in verdicts],
        "reasons": [one.reason[:1000] for one in verdicts],
    }


def _mean(outcomes: list[AskedOutcome], place: int) -> float:
    found = [one.found["scores"][place] for one in outcomes if one.found]
    return sum(found) / len(found)


def _table(work: LabWork, operation: AssessQuality, outcomes: list[AskedOutcome]) -> pa.Table:
    """Columns for the score, the reasons and the error, and one per criterion; null if nothing is known."""
    rows = work.version.rows
    columns: dict[str, list[Any]] = {name: [None] * rows for name in ("score", "reasons", "error")}
    columns |= {_column(place): [None] * rows for place in range(len(operation.items))}
    for one in outcomes:
        columns["error"][one.row] = one.error
        if one.found:
            columns["score"][one.row] = one.found["score"]
            columns["reasons"][one.row] = _reasons(operation, one.found)
            for place, score in enumerate(one.found["scores"]):
                columns[_column(place)][one.row] = score
    texts = ("reasons", "error")
    return pa.table(
        {name: pa.array(values, pa.string() if name in texts else pa.float64()) for name, values in columns.items()}
    )


def _column(place: int) -> str:
    return f"criterion_{place + 1}"


def _reasons(operation: AssessQuality, found: dict[str, Any]) -> str:
    said = zip(operation.items, found["scores"], found["reasons"], strict=True)
    return "\n".join(f"{item.name} {score:.2f}: {reason}" for item, score, reason in said)


def _lowest(work: LabWork, operation: AssessQuality, outcomes: list[AskedOutcome]) -> list[JudgedRow]:
    found = sorted(
        ((one.found["score"], one.row, one.found) for one in outcomes if one.found), key=lambda one: one[:2]
    )[:_SHOWN]
    shown = shown_rows(work.version, [row for _, row, _ in found])
    return [
        {
            "row": shown[row],
            "score": score,
            "verdicts": [
                {"name": item.name, "score": one, "reason": reason}
                for item, one, reason in zip(operation.items, judged["scores"], judged["reasons"], strict=True)
            ],
        }
        for score, row, judged in found
    ]
