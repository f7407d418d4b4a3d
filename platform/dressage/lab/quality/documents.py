"""Rows to mark and agreement, as the API tells them."""

from typing import Literal

from typing_extensions import TypedDict

NOTES = "quality"
"""Name of the row notes."""
Word = Literal["good", "bad"]


class AskedMark(TypedDict):
    """What a person says of one row."""

    row: int
    """Its number, from 0."""
    word: Word | None
    """None takes back what was said."""


class ShownColumn(TypedDict):
    """What the judge saw of a row under one name."""

    name: str
    text: str


class RowToMark(TypedDict):
    """A row that is to be marked. The judge's score is not told."""

    index: int
    id: str
    columns: list[ShownColumn]
    mine: Word | None
    """What the caller has said of it."""


class ReviewerAgreement(TypedDict):
    """How far a person and the judge say the same of the rows that the person has marked."""

    reviewer: str
    marked: int
    both_good: int
    judge_only: int
    """Rows that are good for the judge alone."""
    person_only: int
    both_bad: int
    agreement: float
    """Share of the marked rows of which both say the same."""
    low: float
    """Lower end of its 95 % interval (Wilson)."""
    high: float
    kappa: float | None
    """Cohen's kappa: agreement beyond chance; null where both said the same word of every row."""
    kappa_low: float | None
    """Lower end of its 95 % interval (Fleiss, Cohen and Everitt)."""
    kappa_high: float | None


class MarksDocument(TypedDict):
    """Rows to mark, and the agreement so far."""

    threshold: float
    """Score from which a row is good for the judge."""
    rows: list[RowToMark]
    reviewers: list[ReviewerAgreement]
