"""Comparison of the held-out reward with that of training: the one falls while the other rises."""

import math
import re
from collections.abc import Mapping

from trainer_core.spec.operation.guards import HeldOutFalls

KEPT = 1000
"""Rewards of training that are kept: a run that is never evaluated would keep all of its own."""
_SCORE = re.compile(r"eval/[^/]+/score/mean")


def compare(guard: HeldOutFalls, past: list[float], metrics: Mapping[str, float]) -> tuple[float, str | None] | None:
    """(mean held-out reward, reason of the objection or None) at an evaluation; None between two.

    Args:
        guard: says how much it may fall.
        past: kept by the caller and changed here: the best held-out reward, the reward of training then, and the
            rewards of training since the last evaluation, the newest ``KEPT``.
        metrics: those of a step, with those of an evaluation where one has ended.
    """
    reward = metrics.get(guard.metric)
    if reward is not None and math.isfinite(reward):
        best, then, *rewards = past or (math.nan, math.nan)
        past[:] = [best, then, *[*rewards, reward][-KEPT:]]
    scores = [value for name, value in metrics.items() if _SCORE.fullmatch(name)]
    if not scores:
        return None
    held_out = math.fsum(scores) / len(scores)
    if math.isnan(held_out):
        return held_out, "not a number"
    best, then, *rewards = past or (math.nan, math.nan)
    now = math.fsum(rewards) / len(rewards) if rewards else math.nan
    if math.isnan(best) or held_out >= best:
        past[:] = [held_out, now]
        return held_out, None
    past[:] = [best, then]
    fell = best - held_out > guard.max_fall * abs(best)
    if not fell or not now > then:
        return held_out, None
    reason = f"more than {guard.max_fall:.0%} below its best of {best:.4g} while {guard.metric} rose to {now:.4g}"
    return held_out, reason
