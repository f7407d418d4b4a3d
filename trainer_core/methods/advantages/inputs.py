"""What some advantages need beside the rewards."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, slots=True)
class Inputs:
    """Facts about the samples of G groups of up to S samples; None is unknown."""

    lengths: Tensor | None = None
    """Sampled tokens, shape [groups, samples]."""
    parts: Tensor | None = None
    """Reward parts before any weight, shape [groups, samples, parts]."""
    part_weights: Tensor | None = None
    """Shape [parts]."""
    minibatch: Tensor | None = None
    """Number of the minibatch that each group is learned in, shape [groups]."""
    importance: Tensor | None = None
    """Probability of the sample under the learner / under the engine, shape [groups, samples]."""
