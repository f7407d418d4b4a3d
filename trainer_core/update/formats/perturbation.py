"""Perturbation by the size of a rounding: how sensitive a policy is to it, for any number types.

Two programs that compute the same policy in 16 bits differ in the last bit of some intermediate results. How far this
moves their log-probabilities apart depends on the policy: the sharper it is, the farther. If a policy can also be
scored in float32, the difference from that score shows it. If it cannot, because its weights are stored in 16 bits or
because its experts are joint, the outputs of its modules are moved up or down by half the distance between two numbers
of the type.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel

SEED = 0


@contextmanager
def perturbed(model: PreTrainedModel, size: float) -> Iterator[None]:
    """Makes every module without children return x · (1 ± size) while open, with the same signs each time.

    The output layer is left alone: its products are summed and returned in float32.
    """
    device = next(model.parameters()).device
    generator = torch.Generator(device).manual_seed(SEED)
    head = model.get_output_embeddings()

    def perturb(_module: nn.Module, _inputs: Any, found: Any) -> Any:
        if not isinstance(found, torch.Tensor) or not found.is_floating_point():
            return None  # the module's own output stays
        signs = torch.randint(0, 2, found.shape, generator=generator, device=device).mul_(2).sub_(1)
        return (found.float() * (1.0 + size * signs)).to(found.dtype)

    leaves = [one for one in model.modules() if one is not head and next(one.children(), None) is None]
    handles = [one.register_forward_hook(perturb) for one in leaves]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
