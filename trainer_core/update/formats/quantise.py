"""FP8 numbers (E4M3) with one scale per tile: the form of quantised weights and activations, on any machine.

A tile of values is divided by its largest magnitude over 448, the largest number of the format, and rounded to the
nearest of its 253 numbers, ties to even. Multiplied back, a value is off by at most a sixteenth of itself or, near
zero, by 2^-10 of the scale.
Source: FP8 formats for deep learning (arXiv 2209.05433); tiles as in DeepSeek-V3 (arXiv 2412.19437), §3.3.2.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

LARGEST = 448.0
"""Largest number of E4M3, which has no infinities."""
BLOCK = 128

Scales = Literal["block", "channel"]
"""``block``: weights by 128 × 128, activations by token and 128 channels. ``channel``: weights by output channel,
activations by token."""

Tile = tuple[int, int]
"""Rows and columns of a matrix that share a scale."""

_KEPT = ("gate", "router")
"""Layers that choose experts: rounding a score can send a token to another expert."""


@dataclass(frozen=True, slots=True)
class Quantised:
    """A matrix in FP8."""

    codes: Tensor
    """float8_e4m3fn [N, D]."""
    scales: Tensor
    """float32, one per tile: [⌈N / rows⌉, ⌈D / columns⌉]."""
    tile: Tile


def weight_tile(scales: Scales, width: int) -> Tile:
    """Tile of a weight [out, width]."""
    return (BLOCK, BLOCK) if scales == "block" else (1, width)


def activation_tile(scales: Scales, width: int) -> Tile:
    """Tile of activations [tokens, width]."""
    return (1, BLOCK) if scales == "block" else (1, width)


def is_quantised(name: str, dimensions: int) -> bool:
    """Whether the weight ``name`` (as in a checkpoint) is quantised: matrices of linear layers are.

    Embeddings, the output layer, routers of experts and vectors are not, in vLLM as here.
    """
    layer, _, kind = name.rpartition(".")
    leaf = layer.rpartition(".")[2]
    embeds = "embed" in leaf or leaf in ("lm_head", "wte", "wpe")
    return dimensions == 2 and kind == "weight" and not embeds and leaf not in _KEPT


def quantise(values: Tensor, tile: Tile) -> Quantised:
    """Round a matrix [N, D] to FP8.

    Raises:
        ValueError: a value is not finite, which would destroy all others in its tile.
    """
    found = _quantise(values, tile)
    if not bool(torch.isfinite(found.scales).all()):
        raise ValueError("values that are not finite cannot be quantised")
    return found


def dequantise(quantised: Quantised) -> Tensor:
    """The numbers that the codes represent, float32 [N, D]."""
    rows, columns = quantised.codes.shape
    return quantised.codes.float().mul_(_spread(quantised.scales, quantised.tile, rows, columns))


def rounded(values: Tensor, tile: Tile) -> Tensor:
    """``values`` [N, D] rounded to FP8, float32. A non-finite value makes its tile NaN, which is detected later."""
    return dequantise(_quantise(values, tile))


def rounded_weight(name: str, weight: Tensor, scales: Scales) -> Tensor:
    """A checkpoint's tensor as an FP8 engine holds it: rounded if it is quantised, otherwise unchanged.

    Raises:
        ValueError: see ``quantise``.
    """
    if not is_quantised(name, weight.ndim):
        return weight
    return dequantise(quantise(weight, weight_tile(scales, weight.shape[1]))).to(weight.dtype)


def quantised_activations(states: Tensor, scales: Scales) -> Quantised:
    """Activations [..., D] as an FP8 linear layer reads them, one row per token. See ``rounded``."""
    flat = states.reshape(-1, states.shape[-1])
    return _quantise(flat, activation_tile(scales, flat.shape[1]))


def rounded_activations(states: Tensor, scales: Scales) -> Tensor:
    """The rounded activations in the shape and type of ``states``."""
    return dequantise(quantised_activations(states, scales)).to(states.dtype).view(states.shape)


def _quantise(values: Tensor, tile: Tile) -> Quantised:
    values = values.float()
    rows, columns = values.shape
    height, width = tile
    padded = functional.pad(values, (0, -columns % width, 0, -rows % height))
    tiles = padded.view(padded.shape[0] // height, height, padded.shape[1] // width, width)
    # The bound is for tiles of zeros: any scale but zero works for them.
    scales = tiles.abs().amax(dim=(1, 3)).div_(LARGEST).clamp_(min=torch.finfo(torch.float32).tiny)
    spread = _spread(scales, tile, rows, columns)
    # The division may round up to just above the largest number, which is NaN in this format.
    codes = (values / spread).clamp_(-LARGEST, LARGEST).to(torch.float8_e4m3fn)
    return Quantised(codes, scales, tile)


def _spread(scales: Tensor, tile: Tile, rows: int, columns: int) -> Tensor:
    """The scale of each value."""
    height, width = tile
    if height > 1:
        scales = scales.repeat_interleave(height, dim=0)[:rows]
    return scales.repeat_interleave(width, dim=1)[:, :columns]
