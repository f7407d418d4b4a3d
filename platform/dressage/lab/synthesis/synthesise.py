"""The synthesis operation: variations of rows, checked, verified, and without those that repeat other rows."""

import json
from collections import Counter
from functools import partial
from typing import Any

import pyarrow as pa

from dressage.lab.arguments import SynthesiseRows
from dressage.lab.asking.ask_rows import ask_rows
from dressage.lab.asking.client import RowAsker
from dressage.lab.asking.outcomes import AskedOutcome
from dressage.lab.asking.reporting import asked_report
from dressage.lab.asking.rows import AskedRow, asked_rows
from dressage.lab.plan import LabWork, Result
from dressage.lab.reports import SynthesisReport
from dressage.lab.shown_rows import shown_rows
from dressage.lab.synthesis.checks import VariationRefusal, refusal_of
from dressage.lab.synthesis.grading import EQUALITY, AnswerGrading
from dressage.lab.synthesis.likeness import alike_among, alike_in_version
from dressage.lab.synthesis.prompts import reader, writing
from dressage.lab.synthesis.source import read_source
from dressage.lab.synthesis.variation import Variation, variations_of
from dressage.lab.synthesis.verify import unanswered, verify
from dressage.lab.texts import text_of
from trainer_core.rewards.graders.model.judge import JudgeError

NOTES = "synthesis"
"""Name of the row notes."""
_SHOWN_KEPT = 50
_SHOWN_REFUSED = 200
_GRADING = 2
"""Number of parallel grading processes."""


def synthesise(work: LabWork, operation: SynthesiseRows) -> Result:
    """Have a model write variations, and verify them."""
    grading = AnswerGrading(work.reward or EQUALITY, _GRADING)
    try:
        outcomes = ask_rows(work, operation, partial(_vary, operation, grading))
    finally:
        grading.close()
    found = variations_of(outcomes)
    rows = _verified(work, operation, found)
    return Result(NOTES, _table(work, outcomes, found), dict(_report(work, outcomes, found)), made=rows)


def _vary(operation: SynthesiseRows, grading: AnswerGrading, row: AskedRow, asker: RowAsker) -> dict[str, Any]:
    """The outcome of a row: ``{variations: [{text, answer, reason, detail, pass_rate}]}``."""
    source = read_source(row)
    found = asker.ask(writing(source, operation), reader(operation))
    made: list[dict[str, Any]] = []
    failure: JudgeError | None = None
    answered = 0
    for written in found:
        before = [one["text"] for one in made if one["reason"] is None]
        refusal = refusal_of(source, written, before, same_numbers=operation.same_numbers, near=operation.near)
        rate = None
        if refusal is None:
            try:
                verdict = verify(source, written, operation, asker, grading)
                rate, refusal, answered = verdict.pass_rate, verdict.refusal, answered + 1
            except JudgeError as error:
                failure, refusal = error, unanswered(error)
        reason, detail = refusal or (None, None)
        fields = {"text": written.text, "answer": written.answer}
        made.append({**fields, "reason": reason, "detail": detail, "pass_rate": rate})
    if failure is not None and not answered:
        raise failure  # this concerns the model, not the row
    return {"variations": made}


def _verified(work: LabWork, operation: SynthesiseRows, found: list[Variation]) -> list[tuple[str, dict[str, Any]]]:
    """The new rows. Variations that repeat another row are marked as refused in ``found``."""
    kept = [one for one in found if one.refusal is None]
    wanted = {one.row for one in kept}
    work.told("Comparing with all rows", 0, len(kept))
    sources = {
        row.number: read_source(row)
        for row in asked_rows(work.version, operation.sample, operation.seed, work.chosen)
        if row.number in wanted
    }
    made = [sources[one.row].variation(one.text, one.answer, one.pass_rate or 0.0) for one in kept]
    texts = [text_of(one.text, None, json.dumps(row), ("prompt",)) for one, (_, row) in zip(kept, made, strict=True)]
    for place, number in alike_in_version(work.version.path, texts, operation.near).items():
        if number == kept[place].row and kept[place].answer is not None:
            continue  # it has already been compared with its source, and asks for something else
        kept[place].refusal = VariationRefusal("alike", f"Row {number + 1:,} is nearly identical.")
    left = [place for place, one in enumerate(kept) if one.refusal is None]
    for place in alike_among([texts[one] for one in left], operation.near):
        detail = "A variation of another row is nearly identical."
        kept[left[place]].refusal = VariationRefusal("alike", detail)
    work.told("Comparing with all rows", len(kept), len(kept))
    return [row for one, row in zip(kept, made, strict=True) if one.refusal is None]


def _table(work: LabWork, outcomes: list[AskedOutcome], found: list[Variation]) -> pa.Table:
    """The notes of the selected rows: variations kept and refused, reasons, and the error; otherwise null."""
    rows = work.version.rows
    columns: dict[str, list[Any]] = {name: [None] * rows for name in ("kept", "refused", "reasons", "error")}
    for outcome in outcomes:
        columns["error"][outcome.row] = outcome.error
        if outcome.found:
            columns["kept"][outcome.row] = columns["refused"][outcome.row] = 0
    for one in found:
        columns["kept" if one.refusal is None else "refused"][one.row] += 1
        if one.refusal is not None:
            before = columns["reasons"][one.row]
            reason = f"{one.refusal.reason}: {one.refusal.detail} {one.text}"
            columns["reasons"][one.row] = reason if before is None else f"{before}\n{reason}"
    types = {"kept": pa.int64(), "refused": pa.int64()}
    return pa.table({name: pa.array(values, types.get(name, pa.string())) for name, values in columns.items()})


def _report(work: LabWork, outcomes: list[AskedOutcome], found: list[Variation]) -> SynthesisReport:
    kept = [one for one in found if one.refusal is None]
    refused = [(one, one.refusal) for one in found if one.refusal is not None]
    shown = shown_rows(
        work.version, [one.row for one in kept[:_SHOWN_KEPT]] + [one.row for one, _ in refused[:_SHOWN_REFUSED]]
    )
    counts = Counter(refusal.reason for _, refusal in refused)
    return {
        "rows": work.version.rows,
        "written": len(found),
        "kept": len(kept),
        "refused": len(refused),
        "reasons": [{"reason": reason, "variations": count} for reason, count in counts.most_common()],
        "kept_ones": [
            {"row": shown[one.row], "text": one.text, "answer": one.answer, "pass_rate": one.pass_rate or 0.0}
            for one in kept[:_SHOWN_KEPT]
        ],
        "refused_ones": [
            {"row": shown[one.row], "text": one.text, "reason": refusal.reason, "detail": refusal.detail}
            for one, refusal in refused[:_SHOWN_REFUSED]
        ],
        "asked": asked_report(work, outcomes),
    }
