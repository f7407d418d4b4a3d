"""The ratio band as a picture: how strongly a token is pushed, by the ratio of its probabilities and the sign of A.

The weight is what multiplies ``A · ∇log π`` in the gradient: 1 on policy, 0 where a token no longer teaches.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from trainer_core.spec import RunSpec
from trainer_core.spec.methods.corrections import Correction
from trainer_core.spec.methods.proximal import SamplerProximal

POINTS = 25
"""Odd, so that the ratio 1 is one of them; the edges of the band come on top."""
EDGE = 1e-6
"""Distance from an edge at which its sides are drawn."""


@dataclass(frozen=True, slots=True)
class Band:
    """One picture: the weight over the ratio."""

    path: str
    ratio: str
    """The quotient whose values ``ratios`` holds, in symbols."""
    ratio_min: float | None
    """Lower edge; None where there is none."""
    ratio_max: float | None
    ratios: tuple[float, ...]
    positive: tuple[float, ...]
    """Weight of a token with A > 0 at each ratio."""
    negative: tuple[float, ...]
    """Weight of a token with A < 0."""


def bands(spec: RunSpec) -> tuple[Band, ...]:
    """The loss's band, then those of the corrections; a method whose weight does not follow from a ratio has none.

    Nor has a run that learns from rows.
    """
    if spec.examples is not None:
        return ()
    loss = spec.loss
    sampled = loss.anchor == "behaviour" or isinstance(spec.proximal, SamplerProximal)
    over = f"π_θ / {'π_behaviour' if sampled else 'π_old'}{loss.ratio_note}"
    found = [_band("loss", over, loss, loss.gradient_weight)]
    found += [_correction(f"corrections.{index}", correction) for index, correction in enumerate(spec.corrections)]
    return tuple(band for band in found if band is not None)


def _correction(path: str, correction: Correction) -> Band | None:
    level = " of the completion" if getattr(correction, "level", "token") == "sequence" else ""
    return _band(path, f"π_old / π_behaviour{level}", correction, lambda ratio, _: correction.gradient_weight(ratio))


def _band(path: str, over: str, method: object, weight: Callable[[float, int], float | None]) -> Band | None:
    lowest, highest = _edge(method, "ratio_min"), _edge(method, "ratio_max")
    ratios = _grid(lowest, highest)
    curves = [[value for ratio in ratios if (value := weight(ratio, sign)) is not None] for sign in (1, -1)]
    if any(len(curve) < len(ratios) for curve in curves):
        return None
    positive, negative = map(tuple, curves)
    return Band(path, over, lowest, highest, ratios, positive, negative)


def _edge(method: object, name: str) -> float | None:
    value = getattr(method, name, None)
    return None if value is None else float(value)


def _grid(lowest: float | None, highest: float | None) -> tuple[float, ...]:
    """Ratios on both sides of 1, evenly spaced by their logarithm, reaching beyond both edges."""
    reach = max(abs(math.log(edge)) for edge in (lowest or 0.5, highest or 2.0)) * 1.6 or math.log(2.0)
    half = POINTS // 2
    even = [math.exp(reach * (index - half) / half) for index in range(POINTS)]
    # Both sides of an edge are drawn, so that a weight which falls there falls steeply in the picture.
    edges = [side * edge for edge in (lowest, highest) if edge for side in (1.0 - EDGE, 1.0, 1.0 + EDGE)]
    return tuple(sorted({*even, *edges}))
