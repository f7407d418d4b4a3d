"""Prompts that have come back in a run, those included whose groups were rejected: their rows, outcomes and fates."""

from django.db.models import QuerySet
from typing_extensions import TypedDict

from dressage.telemetry.lines import Line
from dressage.telemetry.models import RowOutcome
from trainer_core.steering.fates import FateKind


class PromptDocument(TypedDict):
    """One prompt of a step."""

    id: str
    step: int
    attempt: int
    prompt_id: str
    """`<source>:<row, from 0>`."""
    ordinal: int | None
    """Its number among all that the run has drawn, from 0; null, like `fate`, from workers of earlier releases."""
    fate: FateKind | None
    """Whether the group was trained on, rejected by a filter, or dropped for another reason."""
    reason: str | None
    """The filter that rejected it, or why it was dropped."""
    right: int
    """Successful samples."""
    graded: int
    """Samples whose reward could be computed."""
    reward: float | None
    """Their mean reward."""


def prompts(run_id: str, line: Line) -> "QuerySet[RowOutcome]":
    """Prompts of the steps that count."""
    return RowOutcome.objects.filter(line.condition(), run_id=run_id)


def prompt_document(found: RowOutcome) -> PromptDocument:
    """A prompt as the API shows it."""
    return {
        "id": str(found.id),
        "step": found.step,
        "attempt": found.attempt,
        "prompt_id": f"{found.source}:{found.row}",
        "ordinal": found.ordinal,
        "fate": found.fate,  # type: ignore[typeddict-item]  # the column is as wide as the type
        "reason": found.reason,
        "right": found.right,
        "graded": found.graded,
        "reward": found.reward,
    }
