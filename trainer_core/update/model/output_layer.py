"""The policy's output layer, made to return log-probabilities instead of logits: full logits never exist.

Policies that cap their logits or divide them by a constant (Gemma 2, Granite) do so after the layer. While it returns
log-probabilities, the layer does this itself, and the policy's configuration says that there is nothing to do.

The layer stays where it is in the module, so that hooks of DeepSpeed and of a value head keep working; only its return
value changes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from types import MethodType
from typing import Any

import torch
from torch import Tensor, nn

from kernels.linear_logprob import linear_logprob
from trainer_core.update.model.storage import wide_product

NOTHING = {"final_logit_softcapping": None, "logits_scaling": 1.0}
"""Values of a configuration's settings that leave logits unchanged."""


def find_fused(model: nn.Module) -> nn.Module | None:
    """The output layer of the policy, or of the engine around it, if it is fused; otherwise None."""
    policy: Any = getattr(model, "module", model)
    layer = policy.get_output_embeddings()
    return layer if hasattr(layer, "asked") else None


@contextmanager
def asking(layer: Any, targets: Tensor, temperature: Tensor) -> Iterator[None]:
    """Makes ``layer`` return [1, M, 2] while open: log-probability and entropy of each of ``targets`` [M]."""
    layer.asked = (targets, temperature)
    behind = {name: getattr(layer.config, name) for name in NOTHING if hasattr(layer.config, name)}
    for name in behind:
        setattr(layer.config, name, NOTHING[name])
    try:
        yield
    finally:
        layer.asked = None
        for name, value in behind.items():
            setattr(layer.config, name, value)


def can_fuse(layer: Any) -> bool:
    """Whether ``layer`` is a plain linear layer."""
    return type(layer) is nn.Linear


def fuse(layer: Any, config: Any = None) -> None:
    """Make ``layer`` usable with ``asking``. The policy's ``config`` says what is done to logits after the layer."""
    layer.asked, layer.by_rows, layer.config = None, False, config
    layer.softcap = getattr(config, "final_logit_softcapping", None)
    layer.divisor = float(getattr(config, "logits_scaling", None) or 1.0)
    layer.forward = MethodType(_forward, layer)


def undo(layer: Any) -> None:
    """Make ``layer`` a plain layer again."""
    del layer.forward, layer.asked, layer.by_rows, layer.config, layer.softcap, layer.divisor


def sum_by_rows(layer: Any) -> None:
    """Make the result of ``layer`` for a token independent of the others; see ``update/model/invariance.py``."""
    layer.by_rows = True


def _forward(self: Any, states: Tensor) -> Tensor:
    if self.asked is None:
        narrow = self.weight.dtype not in (torch.float32, torch.float64)
        return wide_product(self, states) if narrow else nn.functional.linear(states, self.weight, self.bias)
    targets, temperature = self.asked
    logprobs, entropies = linear_logprob(
        states[0],
        self.weight,
        targets,
        temperature if self.divisor == 1.0 else temperature * self.divisor,
        self.bias,
        softcap=self.softcap,
        batch_invariant=self.by_rows,
    )
    # The entropy is only a metric here; without its gradient the backward pass is cheaper.
    return torch.stack([logprobs, entropies.detach()], dim=-1).unsqueeze(0)
