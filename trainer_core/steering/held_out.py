"""Held-out scores and losses; compares held-out and training reward: the first falls while the second rises."""

import math
import re
from collections.abc import Mapping

from trainer_core.spec.operation.guards import HeldOutFalls

KEPT = 1000
"""Most training rewards that are stored: a run that is never evaluated would otherwise store all of them."""
_SCORE = re.compile(r"eval/[^/]+/score/mean")
_ERROR = re.compile(r"eval/[^/]+/score/error")
_LOSS = re.compile(r"eval/[^/]+/loss")
_BEYOND = 3.0
"""Standard errors of the difference that a fall must exceed. The best of many evaluations is partly luck, so later ones
are lower even if nothing has happened. docs/incidents.md measures how often the guard still objects then."""


def compare(guard: HeldOutFalls, past: list[float], metrics: Mapping[str, float]) -> tuple[float, str | None] | None:
    """(mean held-out reward, reason of the objection or None) at an evaluation; None between evaluations.

    Args:
        guard: says how much it may fall.
        past: owned by the caller and changed here: the best held-out reward, the training reward at that time, and the
            newest ``KEPT`` training rewards since the last evaluation.
        metrics: the metrics of a step, with those of an evaluation if one has ended.
    """
    reward = metrics.get(guard.metric)
    if reward is not None and math.isfinite(reward):
        best, then, *rewards = past or (math.nan, math.nan)
        past[:] = [best, then, *[*rewards, reward][-KEPT:]]
    score = held_out_score(metrics)
    if score is None:
        return None
    held_out, error = score
    if math.isnan(held_out):
        return held_out, "not a number"
    best, then, *rewards = past or (math.nan, math.nan)
    now = math.fsum(rewards) / len(rewards) if rewards else math.nan
    if math.isnan(best) or held_out >= best:
        past[:] = [held_out, now]
        return held_out, None
    past[:] = [best, then]
    fell = best - held_out > max(guard.max_fall * abs(best), _BEYOND * math.sqrt(2.0) * error)
    if not fell or not now > then:
        return held_out, None
    reason = f"more than {guard.max_fall:.0%} below its best of {best:.4g} while {guard.metric} rose to {now:.4g}"
    return held_out, reason


def held_out_score(metrics: Mapping[str, float]) -> tuple[float, float] | None:
    """(mean held-out reward over the sources, its standard error); None if no evaluation has ended."""
    scores = [value for name, value in metrics.items() if _SCORE.fullmatch(name)]
    return (math.fsum(scores) / len(scores), _error(metrics)) if scores else None


def held_out_losses(metrics: Mapping[str, float]) -> dict[str, float]:
    """The held-out loss of each source that reports one, by its metric, in nats per token."""
    return {name: value for name, value in metrics.items() if _LOSS.fullmatch(name)}


def _error(metrics: Mapping[str, float]) -> float:
    """Standard error of the mean held-out reward over the sources that report it; 0 if none does."""
    errors = [value for name, value in metrics.items() if _ERROR.fullmatch(name) and math.isfinite(value)]
    return math.hypot(*errors) / len(errors) if errors else 0.0
