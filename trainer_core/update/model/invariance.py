"""Log-probabilities that do not depend on the batch, to the last bit, from packed micro-batches.

The order of every sum is independent of a token's neighbours: in linear layers, norms and the output layer through
``kernels.batch_invariant``, in the attention by computing each segment separately. All other operations are
elementwise. The gradient is the usual one: a weight's gradient is a sum over the batch in any case.
"""

from types import MethodType
from typing import Any

from torch import Tensor, nn

from kernels import batch_invariant
from trainer_core.update.hybrid.routing import experts_per_token
from trainer_core.update.model.output_layer import find_fused, sum_by_rows


def use_batch_invariance(model: nn.Module) -> bool:
    """Make ``model``, the policy with all its layers, batch-invariant.

    Returns:
        Whether it is now. Experts, FP8 and layers of unknown kinds sum in their own order; such a policy is unchanged.
    """
    head: Any = find_fused(model)
    if head is None or experts_per_token(model) is not None or _in_fp8(model):
        return False
    layers: list[Any] = [module for module in model.modules() if module is not head]
    linear: list[Any] = [layer for layer in layers if type(layer) is nn.Linear]
    norms = [layer for layer in layers if hasattr(layer, "lean_epsilon")]
    known = {id(layer) for layer in (*linear, *norms)}
    for layer in layers:
        weights = any(True for _ in layer.parameters(recurse=False))
        if weights and id(layer) not in known and not isinstance(layer, nn.Embedding):
            return False
    sum_by_rows(head)
    for layer in norms:
        layer.normalise = _normalise
    for layer in linear:
        layer.product = _product
        if not hasattr(layer, "switch"):  # a layer with its own precision calls its product itself
            layer.forward = MethodType(_forward, layer)
    return True


def _in_fp8(model: Any) -> bool:
    flows = getattr(model, "flows", None)
    return flows is not None and any(flow.fp8 is not None for flow in (flows.training, flows.engine))


def _forward(self: Any, states: Tensor) -> Tensor:
    return _product(states, self.weight, self.bias)


def _product(states: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    found = batch_invariant.matmul(states.reshape(-1, states.shape[-1]), weight)
    return (found if bias is None else found + bias).view(*states.shape[:-1], len(weight))


def _normalise(states: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    return batch_invariant.rms_norm(states.reshape(-1, states.shape[-1]), weight, epsilon).view(states.shape)
