"""Forecast of a step's groups under another group size or other filters, from groups that a run has stored.

Dead groups, whose samples all succeed or all fail, at G samples of a prompt with k successes among n: up to n by
subsampling without replacement, ``[C(k, G) + C(n − k, G)] / C(n, G)``, an unbiased estimate of ``p^G + (1 − p)^G``;
above n by the mean of the same under the posterior Beta(k + 1/2, n − k + 1/2) of Jeffreys' prior. Intervals are 95 %
normal intervals over groups, which are taken as independent.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

_Z = 1.959963984540054
"""Quantile of the normal distribution for 95 % intervals."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its interval; ``low`` and ``high`` are None where too little is known for one."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Successes among the graded samples of one group."""

    right: int
    graded: int


@dataclass(frozen=True, slots=True)
class StoredSample:
    """The parts of a stored sample that filters look at."""

    reward: float | None
    length: int
    truncated: bool = False
    """Whether it was cut off at the completion limit."""
    loops: bool = False
    """Whether it is known to have ended in a loop."""
    out: bool = False
    """Whether it was excluded by something other than a filter."""


@dataclass(frozen=True, slots=True)
class Drops:
    """Shares of stored groups that filters leave out."""

    groups: Estimate
    """Share of groups of which no sample stays."""
    samples: Estimate
    """Share of samples that are left out."""
    tokens: Estimate
    """Share of tokens that are left out."""


@dataclass(frozen=True, slots=True)
class FilterRule:
    """The filters that can be evaluated on stored groups."""

    zero_advantage: float | None = None
    """Tolerance; None: no such filter."""
    truncated: bool = False
    max_tokens: int | None = None
    repetition: bool = False

    def drops(self, group: Sequence[StoredSample]) -> list[bool]:
        """Whether each sample of the group is left out. Every run leaves out samples whose reward failed, and samples
        that something else has excluded."""
        known = [sample.reward for sample in group if sample.reward is not None]
        tolerance = self.zero_advantage
        silent = tolerance is not None and bool(known) and max(known) - min(known) <= tolerance
        return [silent or sample.out or sample.reward is None or self._cuts(sample) for sample in group]

    def _cuts(self, sample: StoredSample) -> bool:
        return (
            (self.truncated and sample.truncated)
            or (self.max_tokens is not None and sample.length > self.max_tokens)
            or (self.repetition and sample.loops)
        )


def dead_chance(verdicts: Verdicts, size: int) -> float:
    """Chance that ``size`` samples of the group's prompt all succeed or all fail.

    Raises:
        ValueError: no sample was graded, or ``size`` is below 1.
    """
    right, graded = verdicts.right, verdicts.graded
    if graded < 1 or size < 1 or not 0 <= right <= graded:
        raise ValueError(f"{right} of {graded} right cannot predict groups of {size}")
    if size <= graded:
        return (math.comb(right, size) + math.comb(graded - right, size)) / math.comb(graded, size)
    a, b = right + 0.5, graded - right + 0.5
    # B(a + G, b) / B(a, b), and the same with both swapped, in logarithms: G may be large.
    whole = math.lgamma(a + b) - math.lgamma(a + b + size)
    return math.exp(math.lgamma(a + size) - math.lgamma(a) + whole) + math.exp(
        math.lgamma(b + size) - math.lgamma(b) + whole
    )


def dead_share(groups: Sequence[Verdicts], size: int) -> Estimate:
    """Expected share of dead groups at ``size``. Raises ValueError if no group was graded."""
    # Many groups share the same verdicts.
    chances = {group: dead_chance(group, size) for group in set(groups) if group.graded > 0}
    return mean_of([chances[group] for group in groups if group.graded > 0], share=True)


def drops(groups: Sequence[Sequence[StoredSample]], rule: FilterRule) -> Drops:
    """Shares of the groups that ``rule`` would have left out. Raises ValueError for no groups."""
    whole, samples, tokens = [], [], []
    for group in groups:
        left_out = rule.drops(group)
        lengths = [sample.length for sample in group]
        whole.append(float(all(left_out)))
        samples.append(sum(left_out) / len(left_out))
        lost = sum(length for length, out in zip(lengths, left_out, strict=True) if out)
        tokens.append(lost / sum(lengths) if sum(lengths) else samples[-1])
    return Drops(*(mean_of(values, share=True) for values in (whole, samples, tokens)))


def refills(dead: float, prompts: int, max_refills: int) -> float:
    """Mean number of groups that dynamic sampling redraws: ``B·d / (1 − d)``, at most ``max_refills · B`` a
    step."""
    return min(max_refills * prompts, prompts * dead / (1.0 - dead)) if dead < 1.0 else float(max_refills * prompts)


def mean_of(values: Sequence[float], *, share: bool = False) -> Estimate:
    """Mean of one value per group, with its interval; a ``share`` stays within 0 and 1.

    If all values are 0, or all are 1, a normal interval would have no width. Its far end is then 3/m, the 95 % bound on
    an event that was never seen among m groups.

    Raises:
        ValueError: there are no values.
    """
    if not values:
        raise ValueError("no group is stored")
    count = len(values)
    mean = math.fsum(values) / count
    if count < 2:
        return Estimate(mean, None, None)
    half = _Z * math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1) / count)
    low, high = mean - half, mean + half
    if share:
        if mean in (0.0, 1.0):
            low, high = mean - 3.0 / count, mean + 3.0 / count
        low, high = max(0.0, low), min(1.0, high)
    return Estimate(mean, low, high)
