"""Versioned weights on their way from the learner to a rollout engine, closed by a probe.

A checksum can tell that bytes have arrived, not that the engine computes with them. So the learner scores fixed token
sequences with the very weights it publishes, and each engine must come to the same log-probabilities before the
version may generate.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import ray
from numpy.typing import NDArray

from worker.learner.transport import PUBLISHED_BY, TRANSPORTS, Tensors
from worker.learner.transport.object_store import ObjectStore

PROBE_SEQUENCES = 4
PROBE_TOKENS = 16


class ProbeFailed(RuntimeError):
    """The engine does not compute with the weights it was given. It must not generate until a version passes."""

    def __init__(self, version: int, max_abs_diff: float, tolerance: float, where: str) -> None:
        super().__init__(
            f"weights {version}: engine and learner differ by {max_abs_diff:.4g} nats at {where}; "
            f"the tolerance is {tolerance:.4g}"
        )
        self.version, self.max_abs_diff, self.tolerance, self.where = version, max_abs_diff, tolerance, where

    def __reduce__(self) -> tuple[type["ProbeFailed"], tuple[int, float, float, str]]:
        """Rebuilt from its figures where Ray hands it to the caller: an exception keeps its message alone."""
        return type(self), (self.version, self.max_abs_diff, self.tolerance, self.where)


@dataclass(frozen=True, slots=True)
class WeightBundle:
    """One version of the weights with the evidence to check them by. Arrays stay shared memory in Ray's store."""

    version: int
    tensors: Any
    """The weights as their transport has packed them; ``unpacked`` answers them by name."""
    probe_sequences: list[list[int]]
    probe_logprobs: list[list[float]]
    """Learner's natural-log probability of each probe token but the first, at temperature 1."""
    transport: str = ObjectStore.name
    """Name of the transport that packed the tensors."""

    def unpacked(self) -> Tensors:
        """The weights by Hugging Face name. Raises RuntimeError where the transport cannot hand them over."""
        return TRANSPORTS[self.transport].unpack(self.tensors)


class Publisher(Protocol):
    """Interface that ``publish`` needs of a learner."""

    version: int

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """All weights."""

    def score(self, sequences: Sequence[Sequence[int]]) -> list[list[float]]:
        """Log-probability of each token but the first."""


class Receiver(Protocol):
    """Interface that ``apply_and_probe`` needs of an engine."""

    def load_weights(
        self, version: int, tensors: Mapping[str, NDArray[np.float32]], *, kv: Literal["keep", "recompute"]
    ) -> None:
        """Serve these weights from now on."""

    def score(self, sequences: list[list[int]]) -> list[list[float]]:
        """Log-probability of each token but the first."""


def probe_sequences(vocab_size: int, max_model_len: int, seed: int = 0) -> list[list[int]]:
    """Fixed token sequences for the probe: drawn over the whole vocabulary, so that every part of the policy speaks."""
    rng = np.random.default_rng(seed)
    length = max(2, min(PROBE_TOKENS, max_model_len - 1))
    drawn: list[list[int]] = rng.integers(0, vocab_size, (PROBE_SEQUENCES, length)).tolist()
    return drawn


def bundle(learner: Publisher, sequences: list[list[int]]) -> WeightBundle:
    """The learner's weights as they are now, with the probe scored by the same version."""
    tensors = TRANSPORTS[PUBLISHED_BY].pack(learner.version, learner.weights())
    return WeightBundle(learner.version, tensors, sequences, learner.score(sequences), PUBLISHED_BY)


def publish(learner: Publisher, sequences: list[list[int]]) -> "ray.ObjectRef[WeightBundle]":
    """Put the learner's weights into Ray's object store; readers map them without a copy."""
    return ray.put(bundle(learner, sequences))


def apply_and_probe(
    engine: Receiver, weights: WeightBundle, tolerance: float, *, kv: Literal["keep", "recompute"] = "recompute"
) -> float:
    """Load a version into the engine and prove that it is what the engine computes with.

    Args:
        engine: the rollout engine.
        weights: the version.
        tolerance: largest accepted difference of log-probabilities, in nats.
        kv: what becomes of the keys and values of running sequences.

    Returns:
        The largest absolute difference found.

    Raises:
        ProbeFailed: a difference is above the tolerance or not a number. The engine then holds weights that nobody
            vouches for: apply the last good bundle again, or drain the worker.
    """
    engine.load_weights(weights.version, weights.unpacked(), kv=kv)
    scored = engine.score(weights.probe_sequences)
    worst, where = 0.0, ""
    for number, (mine, theirs) in enumerate(zip(scored, weights.probe_logprobs, strict=True)):
        difference = np.abs(np.asarray(mine, dtype=np.float64) - np.asarray(theirs, dtype=np.float64))
        token = int(np.argmax(np.nan_to_num(difference, nan=np.inf)))
        found = float(difference[token])
        if math.isnan(found) or found > worst:
            worst, where = found, f"token {token + 1} of probe {number}"
        if math.isnan(worst):
            break
    if not worst <= tolerance:
        raise ProbeFailed(weights.version, worst, tolerance, where)
    return worst
