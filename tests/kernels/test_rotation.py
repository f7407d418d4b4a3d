"""The rotation beside its matrix in float64, and beside the policies whose rounding it has."""

import math

import pytest
import torch
from torch import Tensor
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from kernels.rotation import rotate

TOKENS, HEADS, SIZE = 5, 3, 8


def made(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def angles() -> tuple[Tensor, Tensor]:
    """Cosines and sines as policies make them: both halves of a head have the same."""
    turned = torch.arange(TOKENS, dtype=torch.float64)[:, None] * torch.logspace(0, -3, SIZE // 2, dtype=torch.float64)
    whole = torch.cat((turned, turned), dim=-1)
    return whole.cos(), whole.sin()


def test_pairs_are_turned_by_their_angle() -> None:
    x = made(TOKENS, HEADS, SIZE)
    found = rotate(x, *angles())
    for token in range(TOKENS):
        for pair in range(SIZE // 2):
            turn = token * 10 ** (-3 * pair / (SIZE // 2 - 1))
            matrix = torch.tensor(
                [[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]], dtype=torch.float64
            )
            both = [pair, pair + SIZE // 2]
            torch.testing.assert_close(found[token][:, both], x[token][:, both] @ matrix.T)


def test_gradient() -> None:
    x = made(TOKENS, HEADS, SIZE).requires_grad_()
    # Halves of their own: a transposed matrix that mixed them up would show.
    cosine, sine = made(TOKENS, SIZE, seed=1), made(TOKENS, SIZE, seed=2)
    assert torch.autograd.gradcheck(lambda one: rotate(one, cosine, sine), x)


def test_rounds_as_a_policy_does() -> None:
    query, key = made(1, 4, TOKENS, SIZE).bfloat16(), made(1, 2, TOKENS, SIZE, seed=1).bfloat16()
    cosine, sine = (one.bfloat16() for one in angles())
    for x, theirs in zip((query, key), apply_rotary_pos_emb(query, key, cosine[None], sine[None]), strict=True):
        assert torch.equal(rotate(x[0].transpose(0, 1), cosine, sine), theirs[0].transpose(0, 1))


def test_shapes_that_do_not_fit() -> None:
    for x, size in ((made(TOKENS, HEADS, 7), 7), (made(TOKENS, HEADS, SIZE), 6), (made(TOKENS, SIZE), SIZE)):
        with pytest.raises(ValueError, match=r"must be \[N, H, D\] with even D"):
            rotate(x, made(TOKENS, size), made(TOKENS, size))
