"""The best split of a number of GPUs between rollout engines and learner ranks."""

from collections.abc import Callable
from dataclasses import dataclass

from trainer_core.planning.simulate import SimulatedStep, most_engines, simulate
from trainer_core.planning.workload import LoopMode, PlanError, Workload

EXHAUSTIVE = 8
"""Most possible splits for which all are tried."""
_COARSE = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98)
"""Shares of the GPUs for the engines that are tried first."""
_CLOSE = 0.002
"""Splits whose step times differ by less than this share count as equal: the one with fewer GPUs is taken."""


@dataclass(frozen=True, slots=True)
class Split:
    """A number of engines and ranks, and the resulting step."""

    engines: int
    ranks: int
    gpus: int
    """GPUs in use."""
    timeline: SimulatedStep


def best_split(work: Workload, mode: LoopMode, gpus: int) -> Split:
    """The fastest split of ``gpus`` devices.

    Raises:
        PlanError: they are too few for one engine and one rank.
    """
    # Ranks that share the tokens of a micro-batch are added and removed together.
    per_engine, together = work.rates.engine.gpus, work.context_ranks
    per_group = work.rates.learner.gpus * together
    most = min((gpus - per_group) // per_engine, most_engines(work, mode))
    if most < 1:
        ranks = "one learner rank" if together == 1 else f"{together} context-parallel learner ranks"
        raise PlanError(
            f"{gpus} GPU{'' if gpus == 1 else 's'} cannot hold one rollout engine ({per_engine}) "
            f"and {ranks} ({per_group})."
        )
    tried: dict[int, Split] = {}

    def attempt(engines: int) -> None:
        engines = min(max(engines, 1), most)
        if engines not in tried:
            ranks = min((gpus - engines * per_engine) // per_group * together, work.max_ranks())
            used = engines * per_engine + ranks * work.rates.learner.gpus
            tried[engines] = Split(engines, ranks, used, simulate(work, mode, engines, ranks, steps=4))

    if most <= EXHAUSTIVE:
        for engines in range(1, most + 1):
            attempt(engines)
    else:
        for share in _COARSE:
            attempt(round(share * gpus / per_engine))
        attempt(most)
        _refine(tried, attempt)
    fastest = min(split.timeline.step_seconds for split in tried.values())
    equal = [split for split in tried.values() if split.timeline.step_seconds <= fastest * (1 + _CLOSE)]
    return _trim(work, mode, min(equal, key=lambda split: (split.gpus, split.timeline.step_seconds)))


def _trim(work: Workload, mode: LoopMode, split: Split) -> Split:
    """Halve the ranks as long as the step stays as short: a learner that waits gains nothing from more ranks."""
    while split.ranks > work.context_ranks:
        ranks = split.ranks // work.context_ranks // 2 * work.context_ranks
        timeline = simulate(work, mode, split.engines, ranks, steps=4)
        if timeline.step_seconds > split.timeline.step_seconds * (1 + _CLOSE):
            break
        saved = (split.ranks - ranks) * work.rates.learner.gpus
        split = Split(split.engines, ranks, split.gpus - saved, timeline)
    return split


def _refine(tried: dict[int, Split], attempt: Callable[[int], None]) -> None:
    """Try values between the best and its neighbours, twice."""
    for _ in range(2):
        ordered = sorted(tried)
        best = min(ordered, key=lambda engines: tried[engines].timeline.step_seconds)
        place = ordered.index(best)
        for neighbour in ordered[max(0, place - 1) : place + 2]:
            for share in (1 / 3, 2 / 3):
                attempt(round(best + share * (neighbour - best)))
