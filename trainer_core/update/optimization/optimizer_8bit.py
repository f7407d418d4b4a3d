"""AdamW with 8-bit moments from bitsandbytes. Importing this file needs that library: see ``capabilities``."""

from collections.abc import Iterable

import torch
from bitsandbytes.optim import AdamW
from torch import Tensor, nn

from trainer_core.spec.learner.optimizer import Optimizer
from trainer_core.update.optimization.masters import Masters
from trainer_core.update.optimization.optimizer import Clipping, groups

CODES = {"state1": "exp_avg", "state2": "exp_avg_sq"}
SCALES = {"absmax1": "exp_avg_scale", "absmax2": "exp_avg_sq_scale"}
"""The library's names and those in a checkpoint. Small weights have moments in float32, without scales."""


class ClippedAdamW8bit(Clipping, AdamW):
    """8-bit AdamW (arXiv 2110.02861) with clipping: moments in blocks of 256 values that share a scale."""

    def __init__(self, model: nn.Module, spec: Optimizer, masters: Masters | None = None) -> None:
        stepped, betas = groups(model, spec, masters), (spec.beta1, spec.beta2)
        super().__init__(stepped, lr=spec.learning_rate, betas=betas, eps=spec.epsilon, weight_decay=0.0, optim_bits=8)

    def allocate(self, parameters: Iterable[Tensor]) -> None:
        """Implements ``Clipping.allocate``."""
        wanted = {id(parameter) for parameter in parameters}
        for number, group in enumerate(self.param_groups):
            for index, parameter in enumerate(group["params"]):
                if id(parameter) in wanted:
                    self.init_state(group, parameter, number, index)

    def kept(self, parameter: Tensor) -> dict[str, Tensor]:
        """Codes and scales, because the decoded values could not be encoded again without loss."""
        state = self.state[parameter]
        return {name: state[own] for own, name in (CODES | SCALES).items() if own in state}

    def steps(self, parameter: Tensor) -> int:
        """Steps that a parameter has taken."""
        return int(self.state[parameter]["step"])

    def set_steps(self, parameter: Tensor, count: int) -> None:
        """Set the number of steps that a parameter has taken to ``count``."""
        self.state[parameter]["step"] = count


def moment(optimizer: ClippedAdamW8bit, parameter: Tensor, name: str) -> Tensor:
    """Values of a quantised moment, float32 in the parameter's shape."""
    number = "1" if name == "exp_avg" else "2"
    state = optimizer.state[parameter]
    codes: Tensor = state[f"state{number}"]
    if codes.dtype == torch.float32:
        return codes
    blocks = state[f"qmap{number}"][codes.long().view(-1)]
    scales = state[f"absmax{number}"].repeat_interleave(256)[: blocks.numel()]
    return (blocks * scales).view(codes.shape)
