"""Sums and means over the true entries of a mask. Values outside the mask may be anything, including NaN."""

from torch import Tensor


def masked_sum(values: Tensor, mask: Tensor) -> Tensor:
    """Sum of ``values`` [N] where ``mask`` [N] is true; the gradient outside the mask is zero."""
    return values.masked_fill(~mask, 0.0).sum()


def masked_mean(values: Tensor, mask: Tensor) -> Tensor:
    """Mean of ``values`` [N] where ``mask`` [N] is true; 0 for an empty mask."""
    return masked_sum(values, mask) / mask.sum().clamp(min=1)
