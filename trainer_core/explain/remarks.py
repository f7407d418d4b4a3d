"""Remarks on what a spec asks for and does not get."""

from trainer_core.spec import RunSpec
from trainer_core.spec.methods.proximal import EWMAProximal, InterpolatedProximal, RecomputedProximal

IDLE_CLIP = "the clip never acts"
"""Words by which a recipe says so, too."""


def remarks(spec: RunSpec) -> tuple[str, ...]:
    """Remarks, one sentence or more each; empty where there is nothing to say."""
    return () if (found := idle_clip(spec)) is None else (found,)


def idle_clip(spec: RunSpec) -> str | None:
    """Reason why every ratio of the loss is 1, whatever its band; None where it is not, or there is no ratio."""
    reason = _unmoved(spec) if spec.loss.anchor == "proximal" else None
    if reason is None:
        return None
    bound = next((one.type for one in spec.corrections if one.weighs_ratio), None)
    staleness = f" What bounds stale samples is the correction {bound}." if bound else ""
    return (
        f"{reason} π_old is π_θ: every ratio of {spec.loss.type} is 1, and {IDLE_CLIP}. Several updates or epochs per "
        f"step would move the policy away from π_old, and proximal: sampler would compare with what generated the "
        f"token.{staleness}"
    )


def _unmoved(spec: RunSpec) -> str | None:
    """Reason why the proximal policy is always the present one; None where it is not."""
    proximal = spec.proximal
    if isinstance(proximal, RecomputedProximal) and spec.schedule.updates == 1:
        return "With one update per step,"
    if isinstance(proximal, InterpolatedProximal) and spec.rollout.max_staleness == 0 and not spec.batching.replay:
        return "All samples are fresh, and for these the interpolated"
    if isinstance(proximal, EWMAProximal) and proximal.decay == 0.0:
        return "A moving average with decay 0 is the newest weights:"
    return None
