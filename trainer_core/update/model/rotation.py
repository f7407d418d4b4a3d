"""Our rotary position embedding in place of a policy's own, on GPUs.

Policies in transformers rotate queries and keys with half a dozen operations, in a function of their module. That
function is replaced, for all policies of the module in this process, if the output agrees to the last bit. On a CPU,
and for shapes that the kernel does not support, the module's own function is still called.
"""

import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from kernels.backend import refusal
from kernels.rotation import rotate

NAME = "apply_rotary_pos_emb"
Rotated = tuple[Tensor, Tensor]


@torch.no_grad()
def use_fused_rotation(model: nn.Module) -> int:
    """Replace the rotation in the modules that define the layers of ``model``.

    Returns:
        The number of modules in which it is now replaced, by this call or an earlier one.
    """
    found = 0
    for name in sorted({type(layer).__module__ for layer in model.modules()}):
        home = sys.modules[name]
        own: Callable[..., Rotated] | None = getattr(home, NAME, None)
        if own is None:
            continue
        if not hasattr(own, "replaced") and _agrees(own):
            setattr(home, NAME, _instead_of(own))
        found += hasattr(getattr(home, NAME), "replaced")
    return found


def _agrees(own: Callable[..., Rotated]) -> bool:
    """Whether ``own`` rotates random queries and keys as we do, in bfloat16 and to the last bit."""
    made = torch.Generator().manual_seed(0)
    query, key = (torch.randn(1, heads, 5, 8, generator=made).bfloat16() for heads in (4, 2))
    cosine, sine = (torch.randn(1, 5, 8, generator=made).bfloat16() for _ in range(2))
    try:
        theirs = own(query, key, cosine, sine)
    except (TypeError, RuntimeError, ValueError, IndexError):
        # A different function with the same name.
        return False
    if not isinstance(theirs, tuple) or len(theirs) != 2:
        return False
    return all(torch.equal(*pair) for pair in zip(theirs, _turn(query, key, cosine, sine), strict=True))


def _instead_of(own: Callable[..., Rotated]) -> Callable[..., Rotated]:
    def rotation(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, *rest: Any, **others: Any) -> Rotated:
        if rest or others or not _fits(q, k, cos):
            return own(q, k, cos, sin, *rest, **others)
        return _turn(q, k, cos, sin)

    rotation.replaced = own  # type: ignore[attr-defined]
    return rotation


def _fits(query: Tensor, key: Tensor, cosine: Tensor) -> bool:
    """Whether the kernel supports the input: one row of tokens in 16 bits on a GPU."""
    known = query.dtype == key.dtype == cosine.dtype and query.dtype in (torch.bfloat16, torch.float16)
    shaped = len(query) == 1 and query.shape[-1] == key.shape[-1] == cosine.shape[-1]
    return known and shaped and query.is_cuda and refusal(query) is None


def _turn(query: Tensor, key: Tensor, cosine: Tensor, sine: Tensor) -> Rotated:
    """Queries [1, H, N, D] and keys [1, K, N, D] rotated by angles [1, N, D]."""
    first, second = (rotate(one[0].transpose(0, 1), cosine[0], sine[0]) for one in (query, key))
    return first.transpose(0, 1).unsqueeze(0), second.transpose(0, 1).unsqueeze(0)
