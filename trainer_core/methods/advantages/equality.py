"""Tolerance below which numbers count as equal before a division by their deviation.

Sums of weights are rounded: 0.1 + 0.2 is above 0.3. A rounding error, divided by a deviation of the same size, would
become an advantage of ±1.
"""

import math

import torch
from torch import Tensor

RELATIVE = 1e-9
"""Largest difference of equal numbers, as a share of the largest magnitude among them; 4 ε of narrower formats."""
ABSOLUTE = 1e-12
"""Largest difference of equal numbers next to zero, where parts of a reward have cancelled out."""


def differ(lowest: Tensor, highest: Tensor) -> Tensor:
    """Whether numbers between ``lowest`` and ``highest`` differ by more than rounding: any shape → bool."""
    share = max(RELATIVE, 4 * torch.finfo(highest.dtype).eps)
    scale = torch.maximum(lowest.abs(), highest.abs())
    return highest - lowest > (share * scale).clamp(min=ABSOLUTE)


def are_equal(one: float, other: float) -> bool:
    """Whether two float64 numbers differ by no more than rounding, as in ``differ``."""
    return math.isclose(one, other, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
