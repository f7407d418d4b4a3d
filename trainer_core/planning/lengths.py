"""Distribution of completion lengths: lognormal, or empirical."""

import math
from itertools import pairwise
from statistics import NormalDist
from typing import Annotated, Literal

from pydantic import Field, model_validator

from trainer_core.spec.base import SpecModel, field

_EULER = 0.5772156649015329
_UNIT = NormalDist()


class LognormalLengths(SpecModel):
    """Lengths whose logarithm is normal: the long tail of reasoning."""

    type: Literal["lognormal"] = "lognormal"
    median: float = field(ge=1.0, le=1e7, unit="tokens")
    """Half of the completions are shorter."""
    sigma: float = field(1.0, ge=0.0, le=5.0)
    """Standard deviation of the natural logarithm."""

    def quantile(self, share: float) -> float:
        """Tokens that ``share`` of the completions do not exceed, for 0 < share < 1."""
        return self.median * math.exp(self.sigma * _UNIT.inv_cdf(share))


class EmpiricalLengths(SpecModel):
    """Lengths that were seen, in ascending order; between two of them the quantile is linear."""

    type: Literal["empirical"] = "empirical"
    tokens: tuple[float, ...] = field(min_length=1, max_length=100_000, unit="tokens")
    """Ascending, each at least 1."""

    @model_validator(mode="after")
    def _ascends(self) -> "EmpiricalLengths":
        if self.tokens[0] < 1 or any(low > high for low, high in pairwise(self.tokens)):
            raise ValueError("lengths must increase and be at least 1")
        return self

    def quantile(self, share: float) -> float:
        """Tokens that ``share`` of the completions do not exceed, for 0 < share < 1."""
        place = min(max(share * len(self.tokens) - 0.5, 0.0), len(self.tokens) - 1.0)
        low = int(place)
        high = min(low + 1, len(self.tokens) - 1)
        return self.tokens[low] + (place - low) * (self.tokens[high] - self.tokens[low])


Lengths = Annotated[LognormalLengths | EmpiricalLengths, Field(discriminator="type")]


def strata(lengths: Lengths, count: int, limit: int) -> list[float]:
    """``count`` lengths that represent equal shares of the distribution, ascending, truncated at ``limit``.

    The last one is the expected longest of ``count`` draws, since batches wait for it.
    """
    inner = [lengths.quantile((index + 0.5) / count) for index in range(count - 1)]
    return [_cut(value, limit) for value in inner] + [longest(lengths, count, limit)]


def longest(lengths: Lengths, count: float, limit: int) -> float:
    """Typical longest of ``count`` draws, truncated at ``limit``.

    The largest of n draws exceeds the quantile 1 − x/n with probability 1 − e^(−x); its mean is near x = e^(−γ), where
    γ is Euler's constant (Gumbel distribution).
    """
    return _cut(lengths.quantile(1.0 - math.exp(-_EULER) / max(count, 1.2)), limit)


def _cut(value: float, limit: int) -> float:
    return min(max(value, 1.0), float(limit))
