"""A copy of the policy that is scored and never trained: reference, proximal policy."""

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from trainer_core.update.formats.precision import Flows
from trainer_core.update.model.policy import load_policy, score
from trainer_core.update.model.storage import stored
from trainer_core.update.packed.packing import TokenBatch


class FrozenPolicy:
    """A frozen policy, whole on every rank, whose weights can be renewed."""

    def __init__(
        self,
        folder: str | Path,
        device: torch.device | str,
        flows: Flows | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        """Load a policy folder (see ``load_policy``) and keep its weights in ``dtype``."""
        self.model = stored(load_policy(folder, device=device, flows=flows), dtype).eval().requires_grad_(False)

    @torch.no_grad()
    def score(self, batch: TokenBatch) -> Tensor:
        """Log-probability of the batch's targets, float32 [M]."""
        return score(self.model, batch)[0]

    @torch.no_grad()
    def blend(self, weights: Mapping[str, Tensor], share: float = 1.0) -> None:
        """Move every weight by ``share`` of the way to ``weights``; names it does not know are left out."""
        for name, parameter in self.model.named_parameters():
            parameter.lerp_(weights[name].to(parameter.device), share)

    def tensors(self) -> dict[str, Tensor]:
        """Weights of the copy by Hugging Face name."""
        return {name: parameter.detach().clone() for name, parameter in self.model.named_parameters()}
