"""Whether a judge pays for length: partial correlation of its grade with length at fixed rule reward, and its removal.

With J the judge's grade, L the completion's length in tokens and R the reward of all other parts (the rules), each over
the same samples, ρ(x) denotes what is left of x after the least-squares fit x ≈ a + c·R. Then

    correlation = Σ ρ(J)·ρ(L) / √(Σ ρ(J)² · Σ ρ(L)²)         slope = Σ ρ(J)·ρ(L) / Σ ρ(L)²

which is the slope of L in the fit J ≈ a + c·R + b·L. MiniMax-M1 (arXiv 2506.13585) watches its generative reward
model for length-seeking that raises the reward without gain in the task, and re-calibrates that model when it sees it;
beside it, shaping and normalisation of the reward make it deaf to length. Here the judge is not ours to train, so both
reactions change its grade: ``normalise`` takes the line b·(L − mean L) off it, ``recalibrate`` the mean of ρ(J) within
the sample's bin of length, which also meets a bias that is no line.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

BINS = 8
"""Bins of length for ``recalibrate``: quantiles of the window, so that each holds as many samples."""
_NOTHING = 1e-12
"""Share of a sum of squares below which what is left is rounding."""

Values = NDArray[np.float64]


def residuals(values: ArrayLike, control: ArrayLike) -> Values:
    """Residuals of ``values`` [N] after the least-squares fit by a constant and ``control`` [N]; float64 [N]."""
    x, r = _centred(values), _centred(control)
    spread = float(r @ r)
    fitted = r * (float(r @ x) / spread) if spread > 0.0 else 0.0
    left = x - fitted
    # Once more: the first pass leaves a trace of the control where values are large.
    again = r * (float(r @ left) / spread) if spread > 0.0 else 0.0
    left = left - again
    return left if float(left @ left) > _NOTHING * float(x @ x) else np.zeros_like(left)


def partial_correlation(x: ArrayLike, y: ArrayLike, control: ArrayLike) -> float | None:
    """Correlation of ``x`` and ``y`` [N] at fixed ``control``, −1 to 1; None where one of them does not vary then."""
    a, b = residuals(x, control), residuals(y, control)
    size = float(np.sqrt(float(a @ a)) * np.sqrt(float(b @ b)))
    return min(1.0, max(-1.0, float(a @ b) / size)) if size > 0.0 else None


@dataclass(frozen=True, slots=True)
class LengthFit:
    """Fit of a judge's grade against length."""

    correlation: float
    slope: float
    """Grade per token."""
    mean_length: float
    edges: tuple[float, ...]
    """Inner edges of the bins, shape [B − 1]; a length that is an edge belongs to the bin above."""
    offsets: tuple[float, ...]
    """Mean of ρ(J) in each bin, shape [B]."""

    def on_the_line(self, length: float) -> float:
        """Correction that ``normalise`` takes off the grade of a completion of ``length`` tokens."""
        return self.slope * (length - self.mean_length)

    def in_its_bin(self, length: float) -> float:
        """Correction that ``recalibrate`` takes off it."""
        return self.offsets[int(np.searchsorted(self.edges, length, side="right"))]


def fit(grades: ArrayLike, lengths: ArrayLike, rules: ArrayLike) -> LengthFit | None:
    """The fit over N samples, or None where grade or length does not vary at fixed rule reward.

    Args:
        grades: the grades of the judge, shape [N].
        lengths: completion tokens, shape [N].
        rules: reward of all other parts, shape [N].
    """
    correlation = partial_correlation(grades, lengths, rules)
    if correlation is None:
        return None
    left, along = residuals(grades, rules), residuals(lengths, rules)
    sizes = np.asarray(lengths, np.float64)
    edges = np.unique(np.quantile(sizes, np.linspace(0.0, 1.0, BINS + 1)[1:-1], method="lower"))
    edges = edges[edges > sizes.min()]  # edges are lengths of samples: no bin is empty, however many are equal
    bins = np.searchsorted(edges, sizes, side="right")
    offsets = np.bincount(bins, weights=left) / np.bincount(bins)
    return LengthFit(
        correlation=correlation,
        slope=float(left @ along) / float(along @ along),
        mean_length=float(sizes.mean()),
        edges=tuple(edges.tolist()),
        offsets=tuple(offsets.tolist()),
    )


def _centred(values: ArrayLike) -> Values:
    array = np.asarray(values, np.float64)
    centred: Values = array - array.mean()
    return centred
