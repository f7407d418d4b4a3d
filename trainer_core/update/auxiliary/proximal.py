"""The proximal policy of ``spec.proximal``: scoring, updating and saving it."""

from collections.abc import Callable, Mapping
from pathlib import Path

import torch
from torch import Tensor

from trainer_core.methods.corrections.proximal import interpolated_proximal
from trainer_core.spec.methods.proximal import (
    EWMAProximal,
    InterpolatedProximal,
    Proximal,
    SamplerProximal,
    SnapshotProximal,
)
from trainer_core.update.auxiliary.frozen_policy import FrozenPolicy
from trainer_core.update.formats.precision import Flows
from trainer_core.update.packed.packing import TokenBatch

Weights = Callable[[], Mapping[str, Tensor]]


class ProximalPolicy:
    """Source of the loss's ``old_logprobs``: policy before the step, sampler, stored copy or interpolation."""

    def __init__(
        self,
        spec: Proximal,
        folder: Path,
        device: torch.device,
        flows: Flows | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        """Load a copy of the policy if the method keeps one."""
        self._spec = spec
        keeps = isinstance(spec, SnapshotProximal | EWMAProximal)
        moves = isinstance(spec, EWMAProximal)
        self.copy = FrozenPolicy(folder, device, flows, dtype, blends=moves) if keeps else None
        self.normaliser = 1.0
        """PPO-EWMA: Σ decay^k over the weights in the average."""

    def begin_step(self, step: int, weights: Weights) -> None:
        """Update the copy if the method does so at the start of a step. Collective, like ``weights``."""
        spec = self._spec
        if self.copy is not None and isinstance(spec, SnapshotProximal) and (step - 1) % spec.every_steps == 0:
            self.copy.blend(weights())

    def after_update(self, weights: Weights) -> None:
        """Add the updated weights to the average: θ ← θ + (θ_new − θ) / Σ decay^k, which corrects its bias."""
        if self.copy is not None and isinstance(self._spec, EWMAProximal):
            self.normaliser = self._spec.decay * self.normaliser + 1.0
            self.copy.blend(weights(), 1.0 / self.normaliser)

    def logprobs(self, batch: TokenBatch, current: Tensor, before: Tensor | None, version: int) -> Tensor:
        """Log-probabilities of the batch's targets under the proximal policy, float32 [M], without gradient.

        Args:
            batch: on the policy's device.
            current: the log-probabilities of the current policy, [M].
            before: the log-probabilities of the policy before the step's first update; None if that is ``current``.
            version: the version of the weights before the step; a token's age is counted from it.
        """
        if self.copy is not None:
            return self.copy.score(batch)
        if isinstance(self._spec, SamplerProximal):
            return batch.behaviour_logprobs
        if isinstance(self._spec, InterpolatedProximal):
            return interpolated_proximal(current.detach(), batch.behaviour_logprobs, version - batch.versions)
        return current.detach() if before is None else before

    def tensors(self) -> dict[str, Tensor]:
        """Tensors that a checkpoint stores for it; empty if it keeps no copy."""
        return {} if self.copy is None else self.copy.tensors()

    def load(self, tensors: Mapping[str, Tensor], normaliser: float) -> None:
        """Resume from a checkpoint."""
        if self.copy is not None:
            self.copy.blend(tensors)
        self.normaliser = normaliser
