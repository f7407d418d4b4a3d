"""Forecast of a step under a spec, from groups that a run stored: its dead groups, its cost, what filters drop."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from trainer_core.spec.methods.filters import OverlongFilter, RepetitionFilter, TruncatedFilter, ZeroAdvantageFilter
from trainer_core.spec.run import RunSpec
from trainer_core.steering.batch_forecast import (
    Drops,
    Estimate,
    FilterRule,
    StoredSample,
    Verdicts,
    dead_share,
    drops,
    mean_of,
    refills,
)


@dataclass(frozen=True, slots=True)
class StepForecast:
    """A step under a spec. What stored groups do not tell is None."""

    group_size: int
    filters: tuple[str, ...]
    """Types of the filters, in their order."""
    dead_share: Estimate | None
    """Share of the drawn groups whose samples all succeed or all fail."""
    live_groups: Estimate | None
    """Groups of the step's batch that are not dead."""
    refills: Estimate | None
    """Groups that dynamic sampling draws anew; None without it."""
    samples: Estimate | None
    """Samples that are generated for the step, those of groups that are drawn anew included."""
    tokens: Estimate | None
    """Their tokens. The ends multiply those of both factors: the interval is wider than one of 95 %."""
    dropped: Drops | None
    """Shares that the filters leave out of the groups as they are stored."""


def step_forecast(
    spec: RunSpec, verdicts: Sequence[Verdicts], groups: Sequence[Sequence[StoredSample]]
) -> StepForecast:
    """Forecast of a step under ``spec``.

    Args:
        spec: the spec.
        verdicts: verdicts on all returned groups, whether they were learned from or not.
        groups: stored samples of the groups that were learned from.
    """
    size, batch = spec.rollout.group_size, spec.schedule.prompts_per_step
    dynamic = spec.rollout.dynamic_sampling
    most = dynamic.max_refills if dynamic.enabled else 0
    dead = dead_share(verdicts, size) if any(one.graded for one in verdicts) else None
    redrawn = None if dead is None else _each(dead, lambda share: refills(share, batch, most))
    live = None if dead is None else _each(dead, lambda share: min(batch, batch * (1 + most) * (1.0 - share)))
    samples = _samples(size, batch, redrawn, dynamic=dynamic.enabled)
    return StepForecast(
        group_size=size,
        filters=tuple(one.type for one in spec.filters),
        dead_share=dead,
        live_groups=live,
        refills=redrawn if dynamic.enabled else None,
        samples=samples,
        tokens=_tokens(samples, groups),
        dropped=drops(groups, filter_rule(spec)) if groups else None,
    )


def filter_rule(spec: RunSpec) -> FilterRule:
    """The filters of ``spec`` that can be evaluated on stored groups; ``unanswered`` names the others."""
    limits = [one.max_tokens for one in spec.filters if isinstance(one, OverlongFilter)]
    tolerances = [one.tolerance for one in spec.filters if isinstance(one, ZeroAdvantageFilter)]
    return FilterRule(
        # If rewards are not compared within the group, the filter leaves out none (``methods.filters``).
        zero_advantage=max(tolerances) if tolerances and spec.compares == "group" else None,
        truncated=any(isinstance(one, TruncatedFilter) for one in spec.filters),
        max_tokens=min(limits, default=None),
        repetition=any(isinstance(one, RepetitionFilter) for one in spec.filters),
    )


def unanswered(spec: RunSpec) -> list[str]:
    """Types of the spec's filters that need more than is stored. They count as leaving out nothing."""
    known = (OverlongFilter, RepetitionFilter, TruncatedFilter, ZeroAdvantageFilter)
    return [
        one.type
        for one in spec.filters
        if not isinstance(one, known) or (isinstance(one, ZeroAdvantageFilter) and spec.compares == "parts")
    ]


def _each(estimate: Estimate, of: Callable[[float], float]) -> Estimate:
    """A monotone function applied to an estimate."""
    if estimate.low is None or estimate.high is None:
        return Estimate(of(estimate.value), None, None)
    low, high = sorted((of(estimate.low), of(estimate.high)))
    return Estimate(of(estimate.value), low, high)


def _samples(size: int, batch: int, redrawn: Estimate | None, *, dynamic: bool) -> Estimate | None:
    if not dynamic:
        return Estimate(float(size * batch), float(size * batch), float(size * batch))
    return None if redrawn is None else _each(redrawn, lambda groups: size * (batch + groups))


def _tokens(samples: Estimate | None, groups: Sequence[Sequence[StoredSample]]) -> Estimate | None:
    if samples is None or not groups:
        return None
    length = mean_of([math.fsum(sample.length for sample in group) / len(group) for group in groups])
    if samples.low is None or samples.high is None or length.low is None or length.high is None:
        return Estimate(samples.value * length.value, None, None)
    return Estimate(samples.value * length.value, samples.low * max(0.0, length.low), samples.high * length.high)
