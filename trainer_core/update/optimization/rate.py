"""Step size from the effective sample size: importance weights of a minibatch's samples on all ranks."""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from trainer_core.methods.effective_size import effective_share, rate_factor
from trainer_core.methods.ragged import sequence_sum
from trainer_core.spec.learner.optimizer import Optimizer
from trainer_core.update.collectives import gather
from trainer_core.update.packed.packing import TokenBatch

BOUND = 50.0


@dataclass(slots=True)
class SampleWeights:
    """log π_θ − log π_behaviour of this rank's samples, summed over their tokens."""

    logs: list[float] = field(default_factory=list)

    def add(self, batch: TokenBatch, logprobs: Tensor) -> None:
        """Add the samples of a micro-batch under the current policy."""
        if not bool(batch.mask.any()):
            return
        sums = sequence_sum((logprobs - batch.behaviour_logprobs).double(), batch.sequence)
        first = torch.cat([batch.sequence.new_ones(1, dtype=torch.bool), batch.sequence[1:] != batch.sequence[:-1]])
        # An unknown weight counts as one that dominates all others, so the step becomes small, never large.
        self.logs += torch.nan_to_num(sums[first], nan=BOUND).clamp(-BOUND, BOUND).tolist()

    def __iadd__(self, other: "SampleWeights") -> "SampleWeights":
        self.logs += other.logs
        return self

    def rate_factor(self, optimizer: Optimizer) -> tuple[float, dict[str, float]]:
        """Factor for the step size, and the metric that it is computed from. Collective if the rule is on."""
        if optimizer.ess_scaling == "none":
            return 1.0, {}
        logs = [log for part in gather(self.logs) for log in part]
        share = effective_share(torch.tensor(logs, dtype=torch.float64))
        return rate_factor(optimizer.ess_scaling, share, optimizer.ess_base), {"actor/ess_share": share}
