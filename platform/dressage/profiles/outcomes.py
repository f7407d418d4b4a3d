"""Outcomes of all rows of a profile. They remain when a later profile replaces its notes."""

from collections.abc import Sequence

from typing_extensions import TypedDict

from dressage.datasets.versions import notes
from dressage.profiles.models import Profile
from trainer_core.profiling import RowTally, Suspicion


class RowOutcomes(TypedDict):
    """Counts of each row, in row order, and the numbers of the rows whose gold is suspect."""

    samples: list[int]
    """Number of graded samples of each row."""
    correct: list[int]
    suspects: list[int]


def row_outcomes(tallies: Sequence[RowTally], found: Sequence[Suspicion]) -> RowOutcomes:
    """The outcomes of a profile, from its tallies and the suspicions about golds."""
    return {
        "samples": [tally.samples for tally in tallies],
        "correct": [tally.correct for tally in tallies],
        "suspects": sorted(one.row for one in found if one.is_suspect),
    }


def outcomes_of(profile: Profile) -> RowOutcomes | None:
    """The outcomes of a finished profile. Older ones are read from its notes; None if these were replaced."""
    if profile.outcomes is not None:
        kept: RowOutcomes = profile.outcomes
        return kept
    if not notes_are_of(profile):
        return None
    table = notes.read(profile.version, "difficulty", ["samples", "correct"])
    samples, correct = (table.column(name).to_pylist() for name in ("samples", "correct"))
    suspects: list[int] = []
    if any(one.name == "suspect" and one.source["id"] == profile.id for one in notes.of(profile.version)):
        flags = notes.read(profile.version, "suspect", ["suspect"]).column("suspect").to_pylist()
        suspects = [row for row, flag in enumerate(flags) if flag]
    return {"samples": [one or 0 for one in samples], "correct": [one or 0 for one in correct], "suspects": suspects}


def notes_are_of(profile: Profile) -> bool:
    """Whether the notes on difficulty of its version come from this profile."""
    found = notes.difficulty(profile.version)
    return found is not None and found.source["id"] == profile.id
