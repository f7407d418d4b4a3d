"""The report of a profile, and the row notes that it writes."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from typing_extensions import TypedDict

from dressage.datasets.models import DatasetVersion
from dressage.datasets.versions import storage
from trainer_core.link.profile import ProfilePlan
from trainer_core.profiling import (
    BetaPrior,
    PassBand,
    RowTally,
    Suspicion,
    count_states,
    dead_share,
    fit_prior,
    suspicions,
    wilson_interval,
)
from trainer_core.profiling.allocation import mean_error

GROUP_SIZES = (2, 4, 8, 16, 32, 64)
MAX_SUSPECTS = 1000
"""Maximum number of suspects in the report; the notes contain all."""
_SHOWN = 500
"""Maximum number of characters of a prompt and of a gold in the list of suspects."""


class RowsOfState(TypedDict):
    """Rows with the same counts."""

    samples: int
    """Graded samples."""
    correct: int
    rows: int


class DeadShare(TypedDict):
    """Expected share of groups that yield no learning signal."""

    group_size: int
    share: float


class AnswerVotes(TypedDict):
    """One wrong answer of a suspect."""

    text: str
    votes: int


class SuspectRow(TypedDict):
    """A row whose gold the policy contradicts."""

    row: int
    """Row number, starting at 0."""
    id: str
    prompt: str
    gold: str
    answer: str
    """The answer that most samples give instead."""
    votes: int
    samples: int
    correct: int
    """Samples that agree with the gold."""
    agreement: float
    """Share of the samples that give this answer."""
    chance: float
    """Probability that the gold is wrong, given the counts of all rows."""
    answers: list[AnswerVotes]


class ProfileReport(TypedDict):
    """Result of a profile."""

    stopped: str
    """Reason sampling ended: ``settled``, ``most``, ``budget``, ``time``, ``errors``, or ``lost`` if no worker could
    continue."""
    asked: int
    """Total number of samples."""
    graded: int
    rows: int
    """Number of rows with a graded sample."""
    states: list[RowsOfState]
    """Rows by their counts: the data for all histograms and bands."""
    prior_a: float
    """Pass rates of the version, fitted as Beta(a, b)."""
    prior_b: float
    error: float
    """Mean probability that a row is on the wrong side of the plan's band."""
    dead_shares: list[DeadShare]
    suspects: list[SuspectRow]
    number_of_suspects: int
    reads_answers: bool
    """Whether the reward reads a part of the answer. If not, no gold can be suspected."""
    warnings: list[str]


def make_report(
    version: DatasetVersion,
    plan: ProfilePlan,
    tallies: Sequence[RowTally],
    *,
    stopped: str,
    reads_answers: bool,
    reference: str,
    warnings: Sequence[str],
) -> tuple[ProfileReport, list[Suspicion]]:
    """(Report, suspicions about golds), from the version, the plan and the worker's data.

    ``reference`` is the field of the rows that holds their golds.
    """
    states = count_states(tallies)
    prior = fit_prior(states)
    found = suspicions(tallies, prior)
    suspects = sorted((one for one in found if one.is_suspect), key=lambda one: (-one.chance, one.row))
    report: ProfileReport = {
        "stopped": stopped,
        "asked": sum(tally.asked for tally in tallies),
        "graded": sum(tally.samples for tally in tallies),
        "rows": sum(states.values()),
        "states": [{"samples": n, "correct": c, "rows": rows} for (n, c), rows in sorted(states.items())],
        "prior_a": prior.a,
        "prior_b": prior.b,
        "error": mean_error(tallies, PassBand(plan.min_pass_rate, plan.max_pass_rate), prior),
        "dead_shares": _dead_shares(states, prior),
        "suspects": _listed(version, suspects[:MAX_SUSPECTS], tallies, reference),
        "number_of_suspects": len(suspects),
        "reads_answers": reads_answers,
        "warnings": list(warnings),
    }
    return report, found


def difficulty_notes(tallies: Sequence[RowTally]) -> pa.Table:
    """Columns of the notes ``difficulty``: pass rate, counts, and the 95 % interval; null without a graded sample."""
    known = [tally if tally.samples else None for tally in tallies]
    bounds = [tally and wilson_interval(tally.samples, tally.correct) for tally in known]
    return pa.table(
        {
            "pass_rate": pa.array([tally and tally.correct / tally.samples for tally in known], pa.float64()),
            "samples": pa.array([tally and tally.samples for tally in known], pa.int64()),
            "correct": pa.array([tally and tally.correct for tally in known], pa.int64()),
            "low": pa.array([bound and bound[0] for bound in bounds], pa.float64()),
            "high": pa.array([bound and bound[1] for bound in bounds], pa.float64()),
        }
    )


def suspect_notes(tallies: Sequence[RowTally], found: Sequence[Suspicion]) -> pa.Table:
    """Columns of the notes ``suspect``: whether the gold is suspect, and the leading answer against it."""
    by_row = {one.row: one for one in found}
    ones = [by_row.get(row) for row in range(len(tallies))]
    sampled = zip(ones, tallies, strict=True)
    return pa.table(
        {
            "suspect": pa.array(
                [one.is_suspect if one else (False if tally.samples else None) for one, tally in sampled], pa.bool_()
            ),
            "answer": pa.array([one and one.answer for one in ones], pa.string()),
            "votes": pa.array([one and one.votes for one in ones], pa.int64()),
            "agreement": pa.array([one and one.agreement for one in ones], pa.float64()),
        }
    )


def _dead_shares(states: Any, prior: BetaPrior) -> list[DeadShare]:
    if not states:
        return []
    return [{"group_size": size, "share": dead_share(states, prior, size)} for size in GROUP_SIZES]


def _listed(
    version: DatasetVersion, suspects: Sequence[Suspicion], tallies: Sequence[RowTally], reference: str
) -> list[SuspectRow]:
    numbers = [one.row for one in suspects]
    rows = {number: (row_id, row) for number, row_id, row in storage.read_identified(version.path, numbers)}
    return [_suspect(one, tallies[one.row], *rows[one.row], reference) for one in suspects]


def _suspect(one: Suspicion, tally: RowTally, row_id: str, row: dict[str, Any], reference: str) -> SuspectRow:
    return {
        "row": one.row,
        "id": row_id,
        "prompt": _prompt(row)[:_SHOWN],
        "gold": str(row.get(reference, ""))[:_SHOWN],
        "answer": one.answer,
        "votes": one.votes,
        "samples": tally.samples,
        "correct": tally.correct,
        "agreement": one.agreement,
        "chance": one.chance,
        "answers": [{"text": answer.text, "votes": answer.votes} for answer in tally.answers],
    }


def _prompt(row: dict[str, Any]) -> str:
    messages = row.get("messages")
    if isinstance(messages, list) and messages:
        return str(messages[-1].get("content", ""))
    return str(row.get("prompt", ""))
