"""The buffer between generation and learning: whole batches in step order, with a bound on their staleness.

Staleness of a token is (learner's version before the update) − (version that sampled it). Step s is learned by version
s − 1. The bound is enforced twice: a batch is only admitted when the weights that will sample it are young enough, and
every sampled token is checked again when the batch is taken out.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from trainer_core.spec import RunSpec
from trainer_core.trajectory import Group
from worker.chunk import GenerationStats
from worker.steering import Control


class StalenessError(RuntimeError):
    """A batch would be, or is, learned from weights older than the bound allows: a defect, never to be ignored."""


@dataclass(slots=True)
class Batch:
    """The groups of one step: dispatched under one spec and revision, then generated and scored."""

    step: int
    """Training step that learns from it; 0 and above for evaluations as well."""
    spec: RunSpec
    """The spec at dispatch: sampling, thinking budget, lengths."""
    revision: int
    version: int
    """Weights that the engine serves at dispatch."""
    groups: list[Group]
    prompts: list[NDArray[np.int32]]
    """Token ids of each group's prompt, shape [P]."""
    controls: tuple[Control, ...] = ()
    """Controls that this batch is the first to be dispatched under."""
    generation: list[GenerationStats] = field(default_factory=list)
    generate_s: float = 0.0
    reward_s: float = 0.0
    """Time spent waiting for rewards after the last token."""


class TrajectoryBuffer:
    """At most ``max_staleness + 1`` batches, each in generation or ready."""

    def __init__(self, max_staleness: int) -> None:
        self.max_staleness = max_staleness
        self._batches: deque[tuple[int, Future[Batch]]] = deque()

    @property
    def overlaps(self) -> bool:
        """Whether a batch may be generated while the one before it is learned."""
        return self.max_staleness > 0

    def __contains__(self, step: int) -> bool:
        return any(step == held for held, _ in self._batches)

    def admit(self, step: int, version: int, batch: Future[Batch]) -> None:
        """Hold the batch of ``step``, sampled by ``version``.

        Raises:
            StalenessError: too stale, out of order, or no room.
        """
        if step - 1 - version > self.max_staleness:
            raise StalenessError(f"step {step} would learn from version {version}: bound {self.max_staleness}")
        if len(self._batches) > self.max_staleness or (self._batches and self._batches[-1][0] != step - 1):
            raise StalenessError(f"step {step} is out of order behind {[held for held, _ in self._batches]}")
        self._batches.append((step, batch))

    def future(self, step: int) -> Future[Batch]:
        """The oldest batch, which must be that of ``step``."""
        if not self._batches or self._batches[0][0] != step:
            raise StalenessError(f"step {step} is not next in {[held for held, _ in self._batches]}")
        return self._batches[0][1]

    def take(self, step: int) -> tuple[Batch, tuple[float, int]]:
        """Remove the finished batch of ``step``. Returns it with the mean and largest staleness of its tokens."""
        batch = self.future(step).result()
        self._batches.popleft()
        staleness = batch_staleness(batch.groups, step - 1)
        if staleness[1] > self.max_staleness:
            raise StalenessError(f"step {step} holds tokens {staleness[1]} versions old: bound {self.max_staleness}")
        return batch, staleness


def batch_staleness(groups: list[Group], version: int) -> tuple[float, int]:
    """Mean and largest distance between ``version`` and the versions that sampled the tokens; (0.0, 0) for none."""
    versions = [t.versions[t.sampled] for group in groups for t in group.trajectories]
    flat = np.concatenate(versions) if versions else np.zeros(0, np.int32)
    if not len(flat):
        return 0.0, 0
    return float(version - flat.mean()), int(version - flat.min())
