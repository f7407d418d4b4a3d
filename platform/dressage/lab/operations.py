"""The operations by kind."""

from dressage.lab.arguments import (
    AnyOperation,
    AssessQuality,
    FindContamination,
    FindDuplicates,
    FindMemorised,
    FindParaphrases,
    FindStatistics,
    SynthesiseRows,
)
from dressage.lab.contamination.find import find_contamination
from dressage.lab.duplicates.find import find_duplicates
from dressage.lab.memorisation.find import find_memorised
from dressage.lab.paraphrases.find import find_paraphrases
from dressage.lab.plan import LabWork, Result
from dressage.lab.quality.assess import assess_quality
from dressage.lab.statistics.find import find_statistics
from dressage.lab.synthesis.synthesise import synthesise


def carry_out(work: LabWork, operation: AnyOperation) -> Result:
    """Carry out an operation. Raises FileNotFoundError if a version's file no longer exists."""
    match operation:
        case FindDuplicates():
            return find_duplicates(work, operation)
        case FindContamination():
            return find_contamination(work, operation)
        case FindStatistics():
            return find_statistics(work)
        case FindParaphrases():
            return find_paraphrases(work, operation)
        case FindMemorised():
            return find_memorised(work, operation)
        case AssessQuality():
            return assess_quality(work, operation)
        case SynthesiseRows():
            return synthesise(work, operation)
