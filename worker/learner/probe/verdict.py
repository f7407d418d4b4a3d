"""Compares the engine's and the learner's scores of the same text, judged by the noise at the start.

The noise is heavy-tailed: most tokens differ by the rounding of their logits, a few by much more, and which ones do
changes with every bit of the weights. So no single token decides. The mean without the largest two of a hundred and the
95 % quantile are compared with the same figures at the start, when both sides certainly had the same weights. They may
be a few times as large. The noise follows the policy: as it becomes sharper, rounding moves its log-probabilities more.
The learner measures this without the engine, as the difference that other roundings make to its own scores
(``Learner.score_rounded_otherwise``), and the floor grows with it. No engine's answer enters the floor after the start.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from worker.learner.probe.evidence import Evidence, flat, trimmed_mean
from worker.messages.probe import Floor

MEAN_TIMES, QUANTILE_TIMES = 4.0, 6.0
"""Multiples of the floor's mean and quantile that pass."""
LEAST = 1e-4
"""Difference in nats that always passes: float32's noise is so small that a tenfold increase means nothing."""
ROUNDED_TIMES = 2.0
"""Multiple of a token's noise by which an update must have moved a token if the learner rounds too."""
PROVED_TIMES = 2.0
"""Factor on both if every tensor was read back as published. The scores then only reveal kernels that compute
differently, and a token that only one side routes to other experts differs by more than rounding."""
STALE_SHARE, STALE_SIGMAS = 0.5, 8.0
"""Share of the last update that must be missing, and its size in standard errors, for an engine to be called stale."""


def differences(scored: Sequence[Sequence[float]], expected: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """Engine minus learner, for all tokens in one array."""
    return flat([list(one) for one in scored]) - flat([list(one) for one in expected])


def floor_of(found: NDArray[np.float64], rounding: float) -> Floor:
    """Noise of one comparison at the same weights."""
    size = np.abs(found)
    return Floor(trimmed_mean(size), quantile(size), float(np.sqrt(trimmed_mean(size**2))), rounding)


def quantile(sizes: NDArray[np.float64]) -> float:
    """The 95 % quantile."""
    return float(np.quantile(sizes, 0.95)) if len(sizes) else 0.0


def grown(floor: Floor, rounding: float) -> Floor:
    """The initial floor scaled to the rounding that the learner measures now; it never falls."""
    times = max(1.0, rounding / floor.rounding) if floor.rounding > 0.0 else 1.0
    return Floor(floor.mean * times, floor.quantile * times, floor.spread * times, max(rounding, floor.rounding))


def text_findings(
    found: NDArray[np.float64],
    floor: Floor,
    evidence: Evidence,
    expected: Sequence[Sequence[float]],
    *,
    proved: bool = False,
) -> list[str]:
    """Sentences about differences that are more than noise; none if all is well.

    Args:
        found: engine minus learner, for all tokens.
        floor: the noise.
        evidence: what the learner knows of the previous version.
        expected: the learner's scores.
        proved: whether every tensor was read back as published. Such an engine is not stale: a token that the learner
            now routes to other experts only looks like an update that the engine lacks.
    """
    sizes, findings = np.abs(found), []
    times = PROVED_TIMES if proved else 1.0
    mean, high = trimmed_mean(sizes), quantile(sizes)
    where = place(int(np.argmax(sizes)), expected) if len(sizes) else ""
    if mean > times * MEAN_TIMES * floor.mean + LEAST:
        findings.append(
            f"engine and learner differ by {mean:.3g} nats on average, where the noise is {floor.mean:.3g}, most at "
            f"{where}"
        )
    elif high > times * QUANTILE_TIMES * floor.quantile + LEAST:
        findings.append(
            f"one token in twenty differs by {high:.3g} nats or more between engine and learner, where the noise is "
            f"{floor.quantile:.3g}, most at {where}"
        )
    share = None if proved else stale_share(found, floor, evidence, expected)
    if share is not None and evidence.before is not None:
        findings.append(f"the engine's answers lack {share:.0%} of what version {evidence.before[0]} did not yet have")
    return findings


def stale_share(
    found: NDArray[np.float64], floor: Floor, evidence: Evidence, expected: Sequence[Sequence[float]]
) -> float | None:
    """Share of the last update that an engine's answers lack, if it is beyond the noise; else None.

    The update has moved the learner's own scores by ``s``. An engine that still has the previous version differs by
    ``−s``. The projection finds this in the sum over all tokens; in a single token it would be lost in the noise.

    With 16 bits or fewer, ``s`` also contains the learner's own rounding, which the engine rightly lacks. ``s`` must
    then be larger than that rounding, and the largest of each fifty, which are the rounding's tail, do not count.
    """
    if evidence.before is None:
        return None
    moved = flat([list(one) for one in expected]) - flat(evidence.before[2])
    noise, least = max(floor.spread, LEAST), STALE_SIGMAS
    if evidence.rounding > 0.0:
        counted = np.argsort(np.abs(moved))[: len(moved) - len(moved) // 50]
        moved, found = moved[counted], found[counted]
        least = max(least, ROUNDED_TIMES * len(moved) ** 0.5)
    size = float(np.linalg.norm(moved))
    if size <= least * noise:
        return None
    share = float(-(found @ moved) / size**2)
    return share if share > STALE_SHARE and share * size / noise > STALE_SIGMAS else None


def place(index: int, expected: Sequence[Sequence[float]]) -> str:
    """Name of a token by its index in the array of all tokens."""
    for number, scores in enumerate(expected):
        if index < len(scores):
            return f"token {index + 1} of probe {number}"
        index -= len(scores)
    raise IndexError(index)
