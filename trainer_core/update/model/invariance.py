"""Log-probabilities that do not depend on the batch, to the last bit, from packed micro-batches.

Every sum is taken in an order that a token's neighbours do not decide: in linear layers, norms and the output layer by
``kernels.batch_invariant``, in the attention by computing each segment by itself. All else works on each number alone.
The gradient is the usual one: that of a weight is a sum over the batch in any case.
"""

from types import MethodType
from typing import Any

from torch import Tensor, nn

from kernels import batch_invariant
from trainer_core.update.hybrid.routing import experts_per_token
from trainer_core.update.model.output_layer import find_fused, sum_by_rows


def use_batch_invariance(model: nn.Module) -> bool:
    """Let ``model``, the policy with all its layers, compute so.

    Returns:
        Whether it does. Experts, FP8 and layers of unknown kinds sum as they please: such a policy is left as it is.
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
        if not hasattr(layer, "switch"):  # one with a precision of its own asks for its product
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
