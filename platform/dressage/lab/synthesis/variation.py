"""Variations as represented in a job's process."""

from collections.abc import Sequence
from dataclasses import dataclass

from dressage.lab.asking.outcomes import AskedOutcome
from dressage.lab.synthesis.checks import VariationRefusal


@dataclass(slots=True)
class Variation:
    """A variation of a row."""

    row: int
    """Number of the source row, from 0."""
    text: str
    answer: str | None
    """Its gold answer; None if it is the source row's."""
    pass_rate: float | None
    refusal: VariationRefusal | None
    """Why it is not kept."""


def variations_of(outcomes: Sequence[AskedOutcome]) -> list[Variation]:
    """The variations of all rows, in the order of the rows."""
    return [
        Variation(
            row=outcome.row,
            text=one["text"],
            answer=one.get("answer"),
            pass_rate=one["pass_rate"],
            refusal=None if one["reason"] is None else VariationRefusal(one["reason"], one["detail"]),
        )
        for outcome in outcomes
        for one in (outcome.found or {"variations": []})["variations"]
    ]
