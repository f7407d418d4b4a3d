"""Loads a version into an engine and proves that the engine computes with it."""

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from worker.learner.probe.errors import ProbeFailed
from worker.learner.probe.evidence import trimmed_mean
from worker.learner.probe.readback import Held, compare, sentence
from worker.learner.probe.verdict import differences, floor_of, grown, place, quantile, text_findings
from worker.learner.transport import Tensors
from worker.messages.probe import Floor, ProbeFigures

if TYPE_CHECKING:
    from worker.learner.weights import WeightBundle


class Receiver(Protocol):
    """Interface of an engine that ``apply_and_probe`` needs."""

    @property
    def read_share(self) -> float:
        """Share of the weights that can be read back."""

    def load_weights(self, version: int, tensors: Tensors, *, kv: Literal["keep", "recompute"]) -> None:
        """Serve these weights from now on."""

    def score(self, sequences: list[list[int]]) -> list[list[float]]:
        """Log-probability of each token but the first."""

    def read_weights(self, columns: Mapping[int, NDArray[np.int64]]) -> Sequence[Held]:
        """Values of the serving weights."""


def apply_and_probe(
    engine: Receiver,
    weights: "WeightBundle",
    tolerance: float,
    floor: Floor | None = None,
    *,
    kv: Literal["keep", "recompute"] = "recompute",
    whole: bool = False,
) -> ProbeFigures:
    """Load a version into the engine and prove that the engine computes with it.

    Args:
        engine: the rollout engine.
        weights: the version.
        tolerance: largest mean difference that may count as noise, in nats.
        floor: the noise measured at the start; None measures it now.
        kv: what happens to the keys and values of running sequences.
        whole: whether to load all weights even if the changes would do.

    Raises:
        ProbeFailed: a tensor is not as published, or the scores differ by more than noise or are not numbers. The
            engine then holds unverified weights: apply the bundle again, or do not let it generate.
    """
    weights.load_into(engine, kv=kv, whole=whole)
    return probe(engine, weights, tolerance, floor)


def probe(engine: Receiver, weights: "WeightBundle", tolerance: float, floor: Floor | None) -> ProbeFigures:
    """Prove that the engine computes with a version that it has loaded; see ``apply_and_probe``."""
    started = time.perf_counter()
    evidence, expected = weights.evidence, weights.probe_logprobs
    held = [one for one in engine.read_weights(evidence.sample.columns) if one.name in evidence.sample.values]
    faults = compare(held, evidence)
    findings = [sentence(faults, len(held))] if faults else []
    if faults and floor is None:
        raise ProbeFailed(weights.version, (*findings, "noise can be measured only over the learner's weights"))
    found = differences(engine.score(weights.probe_sequences), expected)
    if not np.isfinite(found).all():
        where = place(int(np.argmin(np.isfinite(found))), expected)
        raise ProbeFailed(weights.version, (*findings, f"a score is not a number, at {where}"))
    if floor is None:
        noise = _measured(engine, weights, found)
        if noise.mean > tolerance:
            findings.append(
                f"engine and learner differ by {noise.mean:.3g} nats on average at the start, more than the"
                f" {tolerance:g} that counts as noise"
            )
    else:
        noise = grown(floor, evidence.rounding)
        proved = bool(held) and not faults and engine.read_share == 1.0
        findings += text_findings(found, noise, evidence, expected, proved=proved)
    if findings:
        raise ProbeFailed(weights.version, tuple(findings), by_noise=floor is not None and not faults)
    sizes = np.abs(found)
    largest = float(sizes.max()) if len(sizes) else 0.0
    read_share = engine.read_share if held else 0.0
    seconds = time.perf_counter() - started
    return ProbeFigures(trimmed_mean(sizes), quantile(sizes), largest, noise, read_share, seconds)


def _measured(engine: Receiver, weights: "WeightBundle", found: NDArray[np.float64]) -> Floor:
    """Noise at the same weights over three shapes of the engine's batches: all together, one by one, and halves."""
    sequences, rounding = weights.probe_sequences, weights.evidence.rounding
    noise = floor_of(found, rounding)
    half = len(sequences) // 2
    cuts = [[[one] for one in sequences], [sequences[half:], sequences[:half]] if half else []]
    for number, cut in enumerate(cuts):
        if not cut:
            continue
        scored = [score for part in cut for score in engine.score(part)]
        if number:
            scored = scored[len(sequences) - half :] + scored[: len(sequences) - half]
        noise = noise.at_least(floor_of(differences(scored, weights.probe_logprobs), rounding))
    return noise
