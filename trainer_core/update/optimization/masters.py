"""Float32 masters of weights that a policy stores in fewer bits, without ZeRO, which has its own.

bfloat16 weight ─ forward, backward ─► bfloat16 gradient ─ added up in float32 ─► the master's gradient
       ▲                                                                             │ clipped, AdamW
       └──────────────────────── rounded to the nearest ◄──────────────── float32 master

Source: mixed-precision training (arXiv 1710.03740), §3.1.
"""

import torch
from torch import Tensor, nn

from trainer_core.update.collectives import add_up


class Masters:
    """The float32 master of every narrow trained weight; a 32-bit weight is its own master."""

    def __init__(self, model: nn.Module) -> None:
        """Copy the weights trained in fewer than 32 bits, and take over their gradients from now on."""
        self._trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self._wide: dict[nn.Parameter, Tensor] = {}
        for parameter in self._trained:
            if parameter.dtype != torch.float32:
                self._wide[parameter] = parameter.detach().float()
                parameter.register_post_accumulate_grad_hook(self._take)

    def of(self, parameter: nn.Parameter) -> Tensor:
        """The tensor that the optimizer steps in place of ``parameter``."""
        return self._wide.get(parameter, parameter)

    @torch.no_grad()
    def reduce(self, world_size: int) -> None:
        """Sum every gradient over the ranks. Collective."""
        if world_size == 1:
            return
        for parameter in self._trained:
            master = self.of(parameter)
            if master.grad is None:
                master.grad = torch.zeros_like(master)
            add_up(master.grad)

    @torch.no_grad()
    def write(self) -> None:
        """Round the masters into their weights and drop the gradients."""
        for parameter in self._trained:
            master = self.of(parameter)
            if master is not parameter:
                parameter.copy_(master)
            master.grad = None

    def _take(self, parameter: nn.Parameter) -> None:
        """Add a micro-batch's gradient in float32; the narrow one is freed immediately."""
        gradient, parameter.grad = parameter.grad, None
        master = self._wide[parameter]
        if gradient is None:
            return
        if master.grad is None:
            master.grad = gradient.float()
        else:
            master.grad.add_(gradient)
