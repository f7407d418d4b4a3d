"""The rotation in torch operations."""

import torch
from torch import Tensor


def rotated(x: Tensor, cosine: Tensor, sine: Tensor, *, back: bool = False) -> Tensor:
    """Rotation of ``x``. With ``back``, ``x`` is a gradient and is rotated by the transpose of the same matrix."""
    size = x.shape[2] // 2
    sine = sine.unsqueeze(1)
    if back:
        turned = x * sine
        turned = torch.cat((turned[..., size:], -turned[..., :size]), dim=-1)
    else:
        turned = torch.cat((-x[..., size:], x[..., :size]), dim=-1) * sine
    return x * cosine.unsqueeze(1) + turned
