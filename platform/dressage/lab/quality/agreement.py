"""Agreement of a judge with people on the same rows."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from dressage.lab.models import QualityMark
from dressage.lab.quality.documents import ReviewerAgreement
from trainer_core.profiling.agreement import cohen_kappa
from trainer_core.profiling.interval import wilson_interval


def agreements(scores: Mapping[int, float], said: Sequence[QualityMark], threshold: float) -> list[ReviewerAgreement]:
    """The agreement of each person who has marked rows, by name.

    Args:
        scores: the judge's scores by row number.
        said: all marks.
        threshold: score at or above which the judge considers a row good.
    """
    found = []
    for _, group in groupby(sorted(said, key=lambda one: one.reviewer), key=lambda one: one.reviewer):
        own = list(group)
        pairs = [(scores[one.row] >= threshold, one.good) for one in own]
        found.append(agreement_of(max(own, key=lambda one: one.created_at).created_by, pairs))
    return sorted(found, key=lambda one: one["reviewer"])


def agreement_of(reviewer: str, pairs: Sequence[tuple[bool, bool]]) -> ReviewerAgreement:
    """The agreement of one person. ``pairs`` has (judge says good, person says good) for at least one row."""
    both_good, both_bad = pairs.count((True, True)), pairs.count((False, False))
    judge_only, person_only = pairs.count((True, False)), pairs.count((False, True))
    low, high = wilson_interval(len(pairs), both_good + both_bad)
    kappa = cohen_kappa(both_good, judge_only, person_only, both_bad)
    return {
        "reviewer": reviewer,
        "marked": len(pairs),
        "both_good": both_good,
        "judge_only": judge_only,
        "person_only": person_only,
        "both_bad": both_bad,
        "agreement": (both_good + both_bad) / len(pairs),
        "low": low,
        "high": high,
        "kappa": None if kappa is None else kappa.value,
        "kappa_low": None if kappa is None else kappa.low,
        "kappa_high": None if kappa is None else kappa.high,
    }
