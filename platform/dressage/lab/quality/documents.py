"""Shapes of the API's documents about rows to mark and agreement."""

from typing import Literal

from typing_extensions import TypedDict

NOTES = "quality"
"""Name of the row notes."""
Word = Literal["good", "bad"]


class AskedMark(TypedDict):
    """A person's opinion of one row."""

    row: int
    """Its number, from 0."""
    word: Word | None
    """None withdraws an earlier opinion."""


class ShownColumn(TypedDict):
    """What the judge saw of a row in one column."""

    name: str
    text: str


class RowToMark(TypedDict):
    """A row to mark. The judge's score is not included."""

    index: int
    id: str
    columns: list[ShownColumn]
    mine: Word | None
    """The caller's own mark of the row."""


class ReviewerAgreement(TypedDict):
    """Agreement between a person and the judge on the rows that the person has marked."""

    reviewer: str
    marked: int
    both_good: int
    judge_only: int
    """Number of rows that only the judge considers good."""
    person_only: int
    both_bad: int
    agreement: float
    """Share of the marked rows on which both agree."""
    low: float
    """Lower end of its 95 % interval (Wilson)."""
    high: float
    kappa: float | None
    """Cohen's kappa: agreement beyond chance; null if both gave the same mark to every row."""
    kappa_low: float | None
    """Lower end of its 95 % interval (Fleiss, Cohen and Everitt)."""
    kappa_high: float | None


class MarksDocument(TypedDict):
    """Rows to mark, and the agreement so far."""

    threshold: float
    """Score at or above which the judge considers a row good."""
    rows: list[RowToMark]
    reviewers: list[ReviewerAgreement]
