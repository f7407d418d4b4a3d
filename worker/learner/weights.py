"""Versioned weights on their way from the learner to a rollout engine, closed by a probe.

A checksum can tell that bytes have arrived, not that the engine computes with them. So the learner scores fixed token
sequences with the very weights it publishes, and each engine must come to the same log-probabilities before the
version may generate (``worker/learner/probe``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import ray
from numpy.typing import NDArray

from worker.learner.transport import PUBLISHED_BY, TRANSPORTS, Tensors
from worker.learner.transport.object_store import ObjectStore


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


def bundle(learner: Publisher, sequences: list[list[int]]) -> WeightBundle:
    """The learner's weights as they are now, with the probe scored by the same version."""
    tensors = TRANSPORTS[PUBLISHED_BY].pack(learner.version, learner.weights())
    return WeightBundle(learner.version, tensors, sequences, learner.score(sequences), PUBLISHED_BY)


def publish(learner: Publisher, sequences: list[list[int]]) -> "ray.ObjectRef[WeightBundle]":
    """Put the learner's weights into Ray's object store; readers map them without a copy."""
    return ray.put(bundle(learner, sequences))
