"""FP8 numbers: codes of known values, ties, saturation, zeros, and error bounds against an independent table."""

import math

import pytest
import torch
from torch import Tensor

from trainer_core.update.formats.quantise import (
    Scales,
    Tile,
    activation_tile,
    dequantise,
    is_quantised,
    quantise,
    rounded,
    rounded_activations,
    rounded_weight,
    weight_tile,
)

ONE: Tile = (1, 1)


def numbers() -> Tensor:
    """Value of each code from 0x00 to 0x7E by the definition of E4M3, float64: sign 1, exponent 4, bias 7."""
    values = []
    for code in range(0x7F):
        exponent, mantissa = code >> 3, code & 7
        values.append((mantissa / 8) * 2.0**-6 if exponent == 0 else (1 + mantissa / 8) * 2.0 ** (exponent - 7))
    return torch.tensor(values, dtype=torch.float64)


def nearest(values: Tensor) -> Tensor:
    """Of the table, ties to the even code; float64."""
    table = numbers()
    distance = (values.double().abs().unsqueeze(-1) - table).abs()
    least = distance.amin(dim=-1, keepdim=True)
    tied = distance == least
    even = torch.arange(len(table)) % 2 == 0
    index = torch.where(tied & even, 2, tied.long()).argmax(dim=-1)
    return table[index].copysign(values.double())


def matrix(rows: int, columns: int, seed: int = 0) -> Tensor:
    """Values over ten orders of magnitude."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(rows, columns, generator=generator) * 10 ** (
        10 * torch.rand(rows, columns, generator=generator) - 7
    )


def test_all_codes_of_the_format() -> None:
    table = numbers().float()
    both = torch.cat([table, -table]).view(1, -1)
    found = quantise(both, (1, both.shape[1]))
    assert float(found.scales) == 1.0  # 448 is among them
    assert found.codes.view(torch.uint8)[0].tolist() == [*range(0x7F), *range(0x80, 0xFF)]
    assert torch.equal(dequantise(found), both)


@pytest.mark.parametrize(
    ("value", "code"),
    [(448.0, 0x7E), (1.0, 0x38), (-1.5, 0xBC), (2.0**-6, 0x08), (2.0**-9, 0x01), (2.0**-10, 0x00), (0.0, 0x00)],
)
def test_codes_of_known_values(value: float, code: int) -> None:
    found = quantise(torch.tensor([[448.0, value]]), (1, 2))
    assert int(found.codes.view(torch.uint8)[0, 1]) == code


def test_ties_go_to_the_even_code() -> None:
    table = numbers().float()
    middle = ((table[1:] + table[:-1]) / 2).view(1, -1)
    found = rounded(torch.cat([middle, torch.tensor([[448.0]])], dim=1), (1, middle.shape[1] + 1))[:, :-1]
    assert torch.equal(found.double(), nearest(middle))


@pytest.mark.parametrize("tile", [ONE, (1, 70), (1, 16), (16, 16), (128, 128), (50, 70)])
def test_codes_and_error_bound_by_tile(tile: Tile) -> None:
    values = matrix(50, 70)
    found = quantise(values, tile)
    for top in range(0, 50, tile[0]):
        for left in range(0, 70, tile[1]):
            part = values[top : top + tile[0], left : left + tile[1]]
            scale = found.scales[top // tile[0], left // tile[1]]
            assert float(scale) == pytest.approx(float(part.abs().max()) / 448, rel=1e-6)
            expected = nearest((part / scale).clamp(-448, 448)).float() * scale
            assert torch.equal(dequantise(found)[top : top + tile[0], left : left + tile[1]], expected)
            error = (expected.double() - part.double()).abs()
            assert bool((error <= torch.maximum(part.double().abs() * 2**-4, scale.double() * 2**-10) * 1.000001).all())


def test_what_is_largest_survives_and_nothing_leaves_the_range() -> None:
    # Of these, division by the rounded scale comes out above 448 for some.
    values = torch.rand(4096, 1, generator=torch.Generator().manual_seed(1)) * 3
    found = rounded(values, ONE)
    assert bool(found.isfinite().all())
    torch.testing.assert_close(found, values, rtol=3e-7, atol=0)


def test_zeros_and_the_smallest_numbers() -> None:
    assert torch.equal(rounded(torch.zeros(3, 5), (1, 5)), torch.zeros(3, 5))
    tiny = torch.full((1, 4), 1e-42)
    assert bool(((rounded(tiny, (1, 4)) - tiny).abs() <= torch.finfo(torch.float32).tiny * 2**-9).all())
    assert rounded(torch.zeros(0, 5), (1, 5)).shape == (0, 5)


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_refused_or_seen(wrong: float) -> None:
    values = torch.ones(4, 8)
    values[2, 3] = wrong
    with pytest.raises(ValueError, match="not finite"):
        quantise(values, (1, 8))
    found = rounded(values, (1, 8))
    assert math.isnan(found[2, 3]) and bool(found[[0, 1, 3]].isfinite().all())


@pytest.mark.parametrize("scales", ["block", "channel"])
def test_tiles_of_weights_and_activations(scales: Scales) -> None:
    blocks = scales == "block"
    assert weight_tile(scales, 300) == ((128, 128) if blocks else (1, 300))
    assert activation_tile(scales, 300) == ((1, 128) if blocks else (1, 300))
    states = torch.randn(2, 3, 300, generator=torch.Generator().manual_seed(0)).bfloat16()
    found = rounded_activations(states, scales)
    assert found.dtype == torch.bfloat16 and found.shape == states.shape
    # A token is rounded by itself: the others of its batch do not matter.
    assert torch.equal(found[1:, 2:], rounded_activations(states[1:, 2:], scales))


@pytest.mark.parametrize(
    ("name", "dimensions", "yes"),
    [
        ("model.layers.0.self_attn.q_proj.weight", 2, True),
        ("model.layers.0.mlp.experts.3.down_proj.weight", 2, True),
        ("model.layers.0.self_attn.q_proj.bias", 1, False),
        ("model.layers.0.input_layernorm.weight", 1, False),
        ("model.embed_tokens.weight", 2, False),
        ("lm_head.weight", 2, False),
        ("model.layers.0.mlp.gate.weight", 2, False),
        ("model.layers.0.mlp.gate_proj.weight", 2, True),
    ],
)
def test_which_weights_are_quantised(name: str, dimensions: int, yes: bool) -> None:
    assert is_quantised(name, dimensions) == yes
    weight = torch.randn(*(3,) * dimensions, generator=torch.Generator().manual_seed(0))
    assert torch.equal(rounded_weight(name, weight, "channel"), weight) != yes
