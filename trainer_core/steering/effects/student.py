"""Quantiles of Student's t distribution, for degrees of freedom that need not be whole."""

import math

import numpy as np

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)
_HALVINGS = 60


def quantile(upper: float, freedom: float) -> float:
    """The value that a t-distributed number exceeds with probability ``upper``, to six digits.

    With t = √ν·tan θ the density is proportional to cos^(ν−1) θ, which is integrated by Gauss-Legendre quadrature.

    Args:
        upper: probability above the value, in (0, 0.5).
        freedom: degrees of freedom ν, at least 1.
    """
    half = math.exp(math.lgamma(freedom / 2) - math.lgamma((freedom + 1) / 2)) * math.sqrt(math.pi) / 2
    low, high = 0.0, math.pi / 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _tail(middle, freedom) > upper * 2 * half:
            low = middle
        else:
            high = middle
    return math.sqrt(freedom) * math.tan((low + high) / 2)


def _tail(angle: float, freedom: float) -> float:
    """∫ cos^(ν−1) θ dθ from ``angle`` to π/2."""
    reach = (math.pi / 2 - angle) / 2
    # The sine of the distance to π/2 keeps digits that the cosine of the angle loses.
    left = reach * (_NODES + 1)
    return float(reach * (_WEIGHTS * np.sin(left) ** (freedom - 1)).sum())
