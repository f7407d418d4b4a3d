"""Preview of what a band of pass rates does to the next batch: its sources, its difficulty, its dead groups.

It follows ``Curriculum.draw`` under three assumptions. Pass rates stay as they are. A step's prompts are drawn in one
call. Every group has ``rollout.group_size`` samples, whose successes are independent.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from trainer_core.spec.data.curriculum import DifficultyBandCurriculum, GoldilocksCurriculum, has_one_rate
from trainer_core.spec.run import RunSpec
from trainer_core.steering.curriculum.histogram import BINS, SourceRates, bar, edges
from trainer_core.steering.curriculum.mixture import Mixture


@dataclass(frozen=True, slots=True)
class SourcePreview:
    """Part of one source in the next batch."""

    name: str
    inside: int
    """Prompts inside the band, those never tried included."""
    share: float
    """Expected share of the batch's prompts."""
    bins: tuple[float, ...]
    """Expected share of the batch by pass rate, shape [20]."""
    untried: float
    """Expected share of the batch that was never tried. With ``bins`` it adds up to ``share``."""


@dataclass(frozen=True, slots=True)
class BandPreview:
    """The next batch under a band."""

    sources: tuple[SourcePreview, ...]
    dead_share: float | None
    """Expected share of groups whose samples all succeed or all fail. None: no prompt was tried yet."""
    empty: tuple[str, ...]
    """Sources of a weight above zero that have no prompt inside the band."""


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A source's part of the batch: (cell, share of the batch), and the share that was never tried."""

    cells: list[tuple[int, float]]
    untried: float


def preview(spec: RunSpec, step: int, sources: Sequence[SourceRates]) -> BandPreview:
    """The batch of ``step`` as ``spec`` would draw it.

    A band edge inside a cell is assumed to split the cell's prompts in proportion to width; edges at hundredths split
    no cell. Untried prompts are assumed to have the dead share of the tried prompts of their source, or of all sources
    if their source has none.

    Args:
        spec: with the weights and the band of the current stage, if the data have stages (``stages.in_stage``).
        step: the step of the batch.
        sources: pass rates of each source's prompts.

    Raises:
        ValueError: the curriculum does not draw by a band of one pass rate per prompt, or no row is left to draw.
    """
    curriculum = spec.curriculum
    if isinstance(curriculum, DifficultyBandCurriculum):
        explore = curriculum.explore
    elif isinstance(curriculum, GoldilocksCurriculum) and has_one_rate(curriculum):
        explore = 0.0
    else:
        raise ValueError("only a band over one pass rate per prompt can be previewed")
    weights = Mixture(spec).weights(step)
    total = math.fsum(weights.values())
    shown, drawn, empty = [], [], []
    for source in sources:
        share = weights[source.name] / total
        held = [(cell, count, _part_inside(cell, curriculum)) for cell, count in source.cells]
        inside = source.untried + math.fsum(count * part for _, count, part in held)
        outside = source.prompts - inside
        if isinstance(curriculum, GoldilocksCurriculum):
            if inside == 0.0:
                raise ValueError(f"no prompt of the source {source.name!r} is in the band: the run would refuse it")
            within = share
        else:
            within = share * _share_inside(
                spec.schedule.prompts_per_step, share, round(inside), round(outside), explore
            )
        each, rest = (_each(within, inside), _each(share - within, outside))
        cells = [(cell, count * (part * each + (1.0 - part) * rest)) for cell, count, part in held]
        part_of = _Drawn(cells, source.untried * each)
        bins = [0.0] * BINS
        for cell, value in cells:
            bins[bar(cell)] += value
        drawn.append(part_of)
        shown.append(SourcePreview(source.name, round(inside), share, tuple(bins), part_of.untried))
        if share > 0.0 and inside == 0.0:
            empty.append(source.name)
    dead = _dead_share(sources, drawn, spec.rollout.group_size)
    return BandPreview(tuple(shown), dead, tuple(empty))


def dead_chance(low: float, high: float, samples: int) -> float:
    """Chance that ``samples`` samples all succeed or all fail: the mean of p^n + (1 − p)^n for p uniform on ``low`` ≤ p
    ≤ ``high``."""
    if low == high:
        return low**samples + (1.0 - low) ** samples
    n = samples + 1
    return (high**n - low**n + (1.0 - low) ** n - (1.0 - high) ** n) / (n * (high - low))


def _dead_share(sources: Sequence[SourceRates], drawn: Sequence[_Drawn], samples: int) -> float | None:
    tried: dict[int, int] = {}
    for source in sources:
        for cell, count in source.cells:
            tried[cell] = tried.get(cell, 0) + count
    overall, dead = _mean_dead(list(tried.items()), samples), 0.0
    for source, part in zip(sources, drawn, strict=True):
        dead += math.fsum(share * dead_chance(*edges(cell), samples) for cell, share in part.cells)
        if part.untried > 0.0:
            assumed = _mean_dead(source.cells, samples)
            assumed = overall if assumed is None else assumed
            if assumed is None:
                return None
            dead += part.untried * assumed
    return dead


def _mean_dead(cells: Sequence[tuple[int, int]], samples: int) -> float | None:
    count = sum(count for _, count in cells)
    if count == 0:
        return None
    return math.fsum(held * dead_chance(*edges(cell), samples) for cell, held in cells) / count


def _part_inside(cell: int, band: DifficultyBandCurriculum | GoldilocksCurriculum) -> float:
    """Fraction of a cell inside the band, both edges included."""
    low, high = edges(cell)
    if low == high:
        return float(band.min_pass_rate <= low <= band.max_pass_rate)
    return max(0.0, min(high, band.max_pass_rate) - max(low, band.min_pass_rate)) / (high - low)


def _each(share: float, prompts: float) -> float:
    return share / prompts if prompts > 0.0 else 0.0


def _share_inside(batch: int, share: float, inside: int, outside: int, explore: float) -> float:
    """Expected share of a source's draws that come from inside the band.

    Of n draws, a ~ Binomial(n, 1 − explore) look inside first and the others outside first. A draw that finds no prompt
    that is new to the batch takes one from the other side. Once the batch holds all prompts of the source, they repeat.

    Args:
        batch: prompts of the batch.
        share: the source's share of it; the number of its draws is binomial.
        inside: prompts inside.
        outside: prompts outside.
        explore: share of draws that look outside first.
    """
    if inside == 0 or outside == 0 or share == 0.0:
        return float(inside > 0)
    if min(inside, outside) >= batch:
        return 1.0 - explore
    most = inside + outside
    found = 0.0
    for draws, chance in zip(*_binomial(batch, share), strict=True):
        once = min(int(draws), most)
        looking, chances = _binomial(once, 1.0 - explore)
        taken = float((chances * np.clip(looking, once - outside, inside)).sum())
        found += float(chance) * (taken + (int(draws) - once) * (1.0 - explore))
    return found / (batch * share)


def _binomial(trials: int, chance: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Numbers of successes and their probabilities, except those more than eight standard deviations from the mean."""
    if chance in (0.0, 1.0):
        return np.array([round(trials * chance)]), np.ones(1)
    mean, reach = trials * chance, 8.0 * math.sqrt(trials * chance * (1.0 - chance)) + 8.0
    count = np.arange(max(0, math.floor(mean - reach)), min(trials, math.ceil(mean + reach)) + 1)
    ways = _log_factorials(trials)
    logs = ways[trials] - ways[count] - ways[trials - count]
    powers = np.exp(logs + count * math.log(chance) + (trials - count) * math.log1p(-chance))
    return count, powers


def _log_factorials(most: int) -> NDArray[np.float64]:
    """ln n! of every n up to at least ``most``. Sizes are powers of two, so that few tables are cached."""
    return _log_factorial_table(most.bit_length())


@lru_cache(maxsize=24)
def _log_factorial_table(bits: int) -> NDArray[np.float64]:
    return np.concatenate([np.zeros(1), np.cumsum(np.log(np.arange(1, 2**bits)))])
