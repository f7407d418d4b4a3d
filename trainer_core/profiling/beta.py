"""The Beta distribution: log Beta function, CDF, and log-likelihood of counts."""

import math

_TINY = 1e-300
_ACCURACY = 1e-14
_TERMS = 500


def log_beta(a: float, b: float) -> float:
    """ln B(a, b)."""
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def beta_cdf(x: float, a: float, b: float) -> float:
    """P(p ≤ x) for p ~ Beta(a, b): the regularised incomplete beta function, by its continued fraction.

    Source: DLMF 8.17.22, evaluated by the modified method of Lentz.
    """
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    front = math.exp(a * math.log(x) + b * math.log1p(-x) - log_beta(a, b))
    if x < (a + 1.0) / (a + b + 2.0):  # the fraction converges fast here
        return front * _fraction(x, a, b) / a
    return 1.0 - front * _fraction(1.0 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    c, d = 1.0, _inverse(1.0 - (a + b) * x / (a + 1.0))
    found = d
    for m in range(1, _TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d, c = _inverse(1.0 + term * d), _kept(1.0 + term / c)
            change = c * d
            found *= change
        if abs(change - 1.0) < _ACCURACY:
            break
    return found


def _kept(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def _inverse(value: float) -> float:
    return 1.0 / _kept(value)


def log_beta_binomial(count: int, trials: int, a: float, b: float) -> float:
    """ln P(``count`` of ``trials`` in a given order) if their common chance is drawn once from Beta(a, b)."""
    return log_beta(a + count, b + trials - count) - log_beta(a, b)
