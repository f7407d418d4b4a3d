"""The reference policy for adapter training: the policy with its adapter switched off, so one copy serves as both."""

import torch
from torch import Tensor, nn

from trainer_core.update.model.adapter import Adapter
from trainer_core.update.model.policy import score
from trainer_core.update.packed.packing import TokenBatch


class BareBackbone:
    """Scores with the base policy. Collective over the ranks, like the engine's forward pass."""

    def __init__(self, policy: nn.Module, adapter: Adapter) -> None:
        """Take a policy, or the engine around it, and the adapter inside."""
        self._policy, self._adapter = policy, adapter

    @torch.no_grad()
    def score(self, batch: TokenBatch) -> Tensor:
        """Log-probability of the batch's targets, float32 [M]."""
        with self._adapter.disabled():
            return score(self._policy, batch)[0]
