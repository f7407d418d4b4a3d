"""Lightning attention: against the double sum in float64, against itself one token at a time, and its gradients."""

import pytest
import torch
from torch import Tensor

from kernels.lightning_attention import decode_step, lightning_attention, reference

SLOPES = torch.tensor([0.0, 0.3, 2.0], dtype=torch.float64)
STARTS = torch.tensor([0, 5, 5, 6, 17])


def inputs(dtype: torch.dtype = torch.float64) -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    shapes = ((17, 3, 4), (17, 3, 4), (17, 3, 2), (4, 3, 4, 2))
    return [torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype) for shape in shapes]


def double_sum(query: Tensor, key: Tensor, value: Tensor, initial: Tensor) -> Tensor:
    """o_t = Σ_{s ≤ t} e^(−slope·(t − s)) (q_t·k_s) v_s + e^(−slope·(t + 1)) q_t·S_0, term by term."""
    rows = []
    for b in range(len(STARTS) - 1):
        first, last = int(STARTS[b]), int(STARTS[b + 1])
        for t in range(first, last):
            heads = []
            for h in range(3):
                row = torch.exp(-SLOPES[h] * (t - first + 1)) * (query[t, h] @ initial[b, h])
                for s in range(first, t + 1):
                    row = row + torch.exp(-SLOPES[h] * (t - s)) * (query[t, h] @ key[s, h]) * value[s, h]
                heads.append(row)
            rows.append(torch.stack(heads))
    return torch.stack(rows)


@pytest.fixture(params=[1, 3, 64])
def chunk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(reference, "CHUNK", request.param)
    return int(request.param)


def test_values_and_gradients(chunk: int) -> None:
    leaves = [part.requires_grad_() for part in inputs()]
    out, _ = lightning_attention(*leaves[:3], SLOPES, STARTS, leaves[3])
    expected = double_sum(*leaves)
    torch.testing.assert_close(out, expected, rtol=1e-10, atol=1e-12)
    slope = torch.randn(out.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    mine, theirs = (torch.autograd.grad((found * slope).sum(), leaves) for found in (out, expected))
    for own, other in zip(mine, theirs, strict=True):
        torch.testing.assert_close(own, other, rtol=1e-10, atol=1e-12)


@pytest.mark.expensive(2, "compiles or interprets kernels", about=("kernels",))
def test_gradients_through_the_final_state() -> None:
    leaves = [part.requires_grad_() for part in inputs()]
    assert torch.autograd.gradcheck(lambda q, k, v, s: lightning_attention(q, k, v, SLOPES, STARTS, s), leaves)


def test_decoding_token_by_token_is_the_same(chunk: int) -> None:
    query, key, value, initial = inputs()
    out, final = lightning_attention(query, key, value, SLOPES, STARTS, initial)
    state = initial[3:]
    for t in range(6, 17):
        step, state = decode_step(query[t : t + 1], key[t : t + 1], value[t : t + 1], SLOPES, state)
        torch.testing.assert_close(step[0], out[t], rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(state[0], final[3], rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(final[1], initial[1])


def test_a_sequence_in_two_parts_is_the_same() -> None:
    query, key, value, _ = inputs()
    whole, end = lightning_attention(query, key, value, SLOPES, torch.tensor([0, 17]))
    first, state = lightning_attention(query[:7], key[:7], value[:7], SLOPES, torch.tensor([0, 7]))
    second, last = lightning_attention(query[7:], key[7:], value[7:], SLOPES, torch.tensor([0, 10]), state)
    torch.testing.assert_close(torch.cat([first, second]), whole)
    torch.testing.assert_close(last, end)


def test_low_precision_is_summed_in_float32() -> None:
    parts = inputs(torch.bfloat16)
    out, final = lightning_attention(*parts[:3], SLOPES.float(), STARTS)
    exact, _ = lightning_attention(*(part.double() for part in parts[:3]), SLOPES, STARTS)
    assert out.dtype == torch.bfloat16 and final.dtype == torch.float32
    torch.testing.assert_close(out.double(), exact, rtol=8e-3, atol=1e-2)


def test_refusals() -> None:
    query, key, value, initial = inputs()
    with pytest.raises(ValueError, match=r"must be \[N, H, D\]"):
        lightning_attention(query, key[:3], value, SLOPES, STARTS)
    with pytest.raises(ValueError, match="ascend from 0 to 17"):
        lightning_attention(query, key, value, SLOPES, STARTS[:-1])
    with pytest.raises(ValueError, match="from 0 to 50"):
        lightning_attention(query, key, value, -SLOPES, STARTS)
    with pytest.raises(ValueError, match="initial states must have the shape"):
        lightning_attention(query, key, value, SLOPES, STARTS, initial[:2])
