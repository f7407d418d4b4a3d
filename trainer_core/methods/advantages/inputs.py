"""Inputs of some advantages in addition to the rewards."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Inputs:
    """Facts about the samples of G groups of up to S samples; None means unknown."""

    lengths: Tensor | None = None
    """Sampled tokens, shape [groups, samples]."""
    parts: Tensor | None = None
    """Reward parts before any weight, shape [groups, samples, parts]."""
    part_weights: Tensor | None = None
    """Shape [parts]."""
    minibatch: Tensor | None = None
    """Number of the minibatch in which each group is learned, shape [groups]."""
    importance: Tensor | None = None
    """Probability of the sample under the learner / under the engine, shape [groups, samples]."""

    def lengths_like(self, rewards: Tensor) -> Tensor:
        """The lengths, or 1 for every sample if they are unknown, shape [groups, samples]."""
        return torch.ones_like(rewards) if self.lengths is None else self.lengths

    def importance_like(self, rewards: Tensor) -> Tensor:
        """The importance, or 1 for every sample if it is unknown, shape [groups, samples]."""
        return torch.ones_like(rewards) if self.importance is None else self.importance
