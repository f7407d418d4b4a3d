"""The tokens of many trajectories as flat arrays: tokens that the policy sampled and the learner scored."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trainer_core.episodes import Trajectory


@dataclass(frozen=True, slots=True)
class Columns:
    """N tokens of M trajectories. Forced tokens are left out: the policy did not choose them."""

    trajectories: list[Trajectory]
    """Trajectories that have a token here, M in total."""
    starts: NDArray[np.int64]
    """First token of each trajectory, shape [M]."""
    behaviour: NDArray[np.float64]
    """Recorded log-probabilities, shape [N]."""
    learner: NDArray[np.float64]
    """The learner's, before the update, shape [N]."""
    versions: NDArray[np.int64]
    """Versions of the weights that sampled each token, shape [N]."""

    @property
    def log_ratio(self) -> NDArray[np.float64]:
        """log π_learner − log π_behaviour, shape [N]."""
        return self.learner - self.behaviour

    @property
    def counts(self) -> NDArray[np.int64]:
        """Tokens of each trajectory, shape [M]."""
        return np.diff(self.starts, append=len(self.behaviour))

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum of ``values`` [N] over each trajectory, shape [M]."""
        return np.add.reduceat(values, self.starts)


def columns(trajectories: Iterable[Trajectory]) -> Columns | None:
    """The columns; None if the learner has scored nothing."""
    kept: list[Trajectory] = []
    behaviour, learner, versions, counts = [], [], [], []
    for trajectory in trajectories:
        scored, sampled = trajectory.learner_logprobs, trajectory.sampled
        if scored is None:
            continue
        count = int(np.count_nonzero(sampled))
        if count == 0:
            continue
        whole = count == len(sampled)
        kept.append(trajectory)
        counts.append(count)
        behaviour.append(trajectory.behaviour_logprobs if whole else trajectory.behaviour_logprobs[sampled])
        learner.append(scored if whole else scored[sampled])
        versions.append(trajectory.versions if whole else trajectory.versions[sampled])
    if not kept:
        return None
    ends = np.cumsum(counts)
    return Columns(
        trajectories=kept,
        starts=np.concatenate([[0], ends[:-1]]).astype(np.int64),
        behaviour=np.concatenate(behaviour).astype(np.float64),
        learner=np.concatenate(learner).astype(np.float64),
        versions=np.concatenate(versions).astype(np.int64),
    )
