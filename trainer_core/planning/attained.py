"""Times from a device's peak and bandwidth, and the shares of them that well-tuned software reaches."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from trainer_core.planning.rates import DecodePoint

GENERATED, LEARNED = 2, 6
"""Operations per parameter: a multiplication and an addition in the forward pass, twice that in the backward pass
(arXiv 2001.08361, §2.1)."""
RUNNING = (1, 4, 16, 64, 256, 1024)
"""Numbers of running sequences with a row in a table of decode times."""


@dataclass(frozen=True, slots=True)
class Attained:
    """Shares of the vendors' figures. Nothing here is specific to one system or one model."""

    learner: float = 0.35
    """Share of the peak that an update reaches (MFU); recomputed activations do not count as work."""
    compute: float = 0.5
    """Share of the peak that an engine's matrix products reach."""
    bandwidth: float = 0.6
    """Share of the memory's bandwidth that decoding reaches."""


USUAL = Attained()
"""Shares that well-tuned software reaches on one host."""
MEASURED = Attained(learner=0.6)
"""Shares of a peak measured by matrix products, which is below the vendors' figure: docs/benchmarks.md has 0.86 of it
in float32 and 0.6 in bfloat16."""


def decode_seconds(
    read: float, parameters: float, running: float, peak: float, bandwidth: float, at: Attained
) -> float:
    """Time in which each running sequence grows by one token: the longer of memory reads and arithmetic.

    Args:
        read: bytes of weights and of the sequences' keys and values.
        parameters: active parameters.
        running: running sequences.
        peak: operations per second of all the engine's devices.
        bandwidth: bytes per second of their combined memory.
        at: shares of both that are attained.
    """
    return max(read / (bandwidth * at.bandwidth), GENERATED * parameters * running / (peak * at.compute))


def decode_table(most: int, seconds: Callable[[float], float]) -> tuple[DecodePoint, ...]:
    """Throughput by running sequences, up to ``most`` of them; ``seconds`` returns the time of one step."""
    loads: Iterable[int] = [load for load in RUNNING if load < most] + [most]
    return tuple(DecodePoint(running=load, tokens_per_s=load / seconds(load)) for load in loads)


def prefill_tokens_per_s(parameters: float, peak: float, at: Attained) -> float:
    """Context tokens per second that devices of ``peak`` operations per second prefill."""
    return peak * at.compute / (GENERATED * parameters)


def learner_tokens_per_s(parameters: float, peak: float, at: Attained) -> float:
    """Update tokens per second that devices of ``peak`` operations per second learn from: forward, backward, and the
    forward pass for the ratio's denominator."""
    return peak * at.learner / ((LEARNED + GENERATED) * parameters)
