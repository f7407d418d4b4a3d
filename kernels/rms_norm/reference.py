"""The normalisation in torch operations."""

import torch
from torch import Tensor


def forward(x: Tensor, weight: Tensor, epsilon: float, gain: str) -> tuple[Tensor, Tensor]:
    """Output in the shape and type of ``x``, and 1 / sqrt(mean(x²) + ε) of each row, float32 [..., 1]."""
    scale = torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + epsilon)
    return _gained(_unit(x, scale), weight, gain, x.dtype), scale


def _unit(x: Tensor, scale: Tensor) -> Tensor:
    wide = x.float()
    # 32-bit input is not a copy, so it must not be changed in place.
    return wide * scale if wide is x else wide.mul_(scale)


def _gained(unit: Tensor, weight: Tensor, gain: str, dtype: torch.dtype) -> Tensor:
    match gain:
        case "rounded_first":
            return weight * unit.to(dtype)
        case "rounded_last":
            return (weight * unit).to(dtype)
        case _:
            return (unit * (1.0 + weight.float())).to(dtype)


def backward(slope: Tensor, x: Tensor, scale: Tensor, weight: Tensor, gain: str) -> tuple[Tensor, Tensor]:
    """Gradients of the input and of the weight."""
    size = weight.shape[0]
    factor = weight.float() + (1.0 if gain == "offset" else 0.0)
    unit, flow = _unit(x, scale), slope.float()
    along = (flow * unit).reshape(-1, size)
    to_weight = along.sum(0).to(weight.dtype)
    mean = torch.mv(along, factor).div_(-size).view(scale.shape)
    del along
    # A 32-bit gradient is not a copy, so it must not be changed in place.
    flow = flow * factor if flow is slope else flow.mul_(factor)
    return flow.addcmul_(unit, mean).mul_(scale).to(x.dtype), to_weight
