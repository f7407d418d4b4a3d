"""A copy of the policy that is scored and never trained: reference, proximal policy."""

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from trainer_core.update.formats.precision import Flows
from trainer_core.update.model.policy import load_policy, score
from trainer_core.update.model.shards import WeightPlacement
from trainer_core.update.model.storage import stored
from trainer_core.update.packed.packing import TokenBatch


class FrozenPolicy:
    """A frozen policy. Its weights can be updated if every rank holds all of them."""

    def __init__(
        self,
        folder: str | Path,
        device: torch.device | str,
        flows: Flows | None = None,
        dtype: torch.dtype = torch.float32,
        *,
        blends: bool = False,
        placement: WeightPlacement | None = None,
    ) -> None:
        """Load a policy folder (see ``load_policy``) and keep its weights in ``dtype``.

        With ``blends``, narrow weights are also stored in float32, so that they can move by small amounts.
        """
        model = load_policy(folder, device=device, flows=flows, placement=placement)
        narrow = blends and dtype != torch.float32
        self._wide = {name: one.detach().clone() for name, one in model.named_parameters()} if narrow else {}
        self.model = stored(model, dtype, placement).eval().requires_grad_(False)
        if placement is not None:
            placement.keep_callable(self.model)

    @torch.no_grad()
    def score(self, batch: TokenBatch) -> Tensor:
        """Log-probability of the batch's targets, float32 [M]."""
        return score(self.model, batch)[0]

    @torch.no_grad()
    def blend(self, weights: Mapping[str, Tensor], share: float = 1.0) -> None:
        """Move every weight a fraction ``share`` of the way to ``weights``; unknown names are ignored."""
        for name, parameter in self.model.named_parameters():
            kept = self._wide.get(name, parameter)
            kept.lerp_(weights[name].to(kept), share)
            if kept is not parameter:
                parameter.copy_(kept)

    def tensors(self) -> dict[str, Tensor]:
        """Weights of the copy by Hugging Face name."""
        held = {name: self._wide.get(name, parameter) for name, parameter in self.model.named_parameters()}
        return {name: tensor.detach().clone() for name, tensor in held.items()}
