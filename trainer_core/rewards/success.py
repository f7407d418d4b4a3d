"""Threshold of the reward from which an answer counts as right."""

_ROUNDING = 1e-9
"""Sums of weights miss a threshold by their rounding: 0.7 + 0.1 < 0.8."""


def least(threshold: float) -> float:
    """The smallest number that reaches ``threshold``, its rounding allowed for."""
    return threshold - _ROUNDING
