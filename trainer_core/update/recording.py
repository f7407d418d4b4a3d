"""Records of a forward pass: the learner's view in the trajectories, and the entropy among the metrics."""

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from trainer_core.episodes import Trajectory
from trainer_core.update.packed.packing import TokenBatch
from trainer_core.update.totals import Totals


def add_entropy(totals: Totals, batch: TokenBatch, entropies: Tensor) -> None:
    """Add the mean entropy of a micro-batch, or nothing if no token counts."""
    if bool(batch.mask.any()):
        totals.add_metrics({"actor/entropy": entropies.mean()}, len(entropies))


def record(mine: list[Trajectory], batch: TokenBatch, logprobs: Tensor, entropies: Tensor) -> None:
    """Write the learner's view of a micro-batch into its trajectories."""
    if not bool(batch.mask.any()):
        return
    columns = (batch.sequence, batch.offset, logprobs, entropies)
    sequence, offset, logprob, entropy = (column.cpu().numpy() for column in columns)
    starts = np.flatnonzero(np.diff(sequence, prepend=-1))
    for start, stop in zip(starts, [*starts[1:], len(sequence)], strict=True):
        trajectory = mine[int(sequence[start])]
        trajectory.learner_logprobs = np.zeros(trajectory.length, dtype=np.float32)
        trajectory.entropy = np.zeros(trajectory.length, dtype=np.float32)
        trajectory.learner_logprobs[offset[start:stop]] = logprob[start:stop]
        trajectory.entropy[offset[start:stop]] = entropy[start:stop]


def as_trajectory(sequence: Sequence[int]) -> Trajectory:
    """A fixed sequence in the form that packing accepts: its first token is the prompt."""
    ids = np.asarray(sequence, dtype=np.int32)
    length = len(ids) - 1
    return Trajectory(
        trajectory_id="probe",
        prompt_ids=ids[:1],
        token_ids=ids[1:],
        behaviour_logprobs=np.zeros(length, dtype=np.float32),
        versions=np.zeros(length, dtype=np.int32),
        sampled=np.ones(length, dtype=np.bool_),
        finish_reason="stop",
        temperature=1.0,
    )
