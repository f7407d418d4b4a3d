"""Histograms of row scores."""

from collections.abc import Sequence

from dressage.lab.reports import ScoreBin

_BINS = 20


def histogram(scores: Sequence[float]) -> list[ScoreBin]:
    """Counts in bins of equal width from 0 to 1. The last bin includes 1."""
    counts = [0] * _BINS
    for score in scores:
        counts[min(int(score * _BINS), _BINS - 1)] += 1
    return [{"least": place / _BINS, "most": (place + 1) / _BINS, "rows": count} for place, count in enumerate(counts)]
