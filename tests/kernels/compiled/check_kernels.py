"""Every kernel compiles for Ampere and Hopper, fits into a block's memory, and keeps its values in registers.

The interpreter forgives what a compiler does not: names it cannot see, types it cannot store, tiles that fit nowhere.
"""

import pytest
import torch

from kernels.batch_invariant import triton as batch_invariant
from kernels.lightning_attention import triton as lightning
from kernels.linear_logprob import triton as linear_logprob
from kernels.linear_logprob.reference import OutputLayerInputs, Saved
from kernels.policy_loss import triton as policy_loss
from kernels.ragged import triton as ragged
from kernels.rms_norm import triton as rms_norm
from kernels.rotation import triton as rotation
from tests.kernels.compiled.card import SHARED_BYTES, Compiled, card

HOPPER = 90
DTYPES = [torch.float32, torch.bfloat16, torch.float16]


def each_size(*sizes: int) -> list[tuple[torch.dtype, int]]:
    """All sizes in bfloat16, and the largest, which asks for most registers, in the other types."""
    return [*((torch.bfloat16, size) for size in sizes), (torch.float32, sizes[-1]), (torch.float16, sizes[-1])]


@pytest.fixture(params=sorted(SHARED_BYTES))
def capability(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def assert_fits(found: list[Compiled], capability: int, launched: list[str]) -> None:
    """That they are what was ``launched``, and run on the card."""
    assert [kernel.name for kernel in found] == launched
    assert max(kernel.shared for kernel in found) <= SHARED_BYTES[capability]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_batch_invariant(capability: int, dtype: torch.dtype) -> None:
    x = torch.zeros(256, 512, dtype=dtype)
    with card(capability) as found:
        batch_invariant.matmul(x, x)
        batch_invariant.rms_norm(x, x[0], 1e-6)
        batch_invariant.log_softmax(x)
    assert_fits(found, capability, ["_matmul", "_norm", "_log_softmax"])
    assert [kernel.spilled for kernel in found] == [0, 0, 0]
    assert (found[0].products > 0) == (dtype != torch.float32)  # full precision has no tensor cores


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_linear_logprob(capability: int, dtype: torch.dtype) -> None:
    x, one = torch.zeros(256, 64, dtype=dtype), torch.ones(256)
    given = OutputLayerInputs(x, x, torch.zeros(256, dtype=torch.int64), one, None)
    with card(capability) as found:
        linear_logprob.forward(given)
        linear_logprob.forward(given, batch_invariant=True)
        for tilt in (None, one):
            linear_logprob.backward(one, tilt, Saved(one, one), given, (True, True, False))
    assert_fits(found, capability, ["_merge", "_matmul", "_merge", "_flow", "_flow"])
    assert {kernel.spilled for kernel in found} == {0}


@pytest.mark.parametrize(
    ("dtype", "size"), [(torch.bfloat16, 64), (torch.bfloat16, 128), (torch.float16, 96), (torch.float32, 64)], ids=str
)
def test_lightning_attention(capability: int, dtype: torch.dtype, size: int) -> None:
    heads, edges = 4, [0, 100, 8192]
    states = torch.zeros(2, heads, size, size)
    x = torch.zeros(edges[-1], heads, size, dtype=dtype)
    with card(capability) as found:
        lightning.scan(x, x, x, torch.ones(heads), edges, states)
        lightning.scan(x, x, x, torch.ones(heads), edges, states, reverse=True)
        lightning.scan(x[:256], x[:256], x[:256], torch.ones(heads), [0, 256], states[:1])
    assert_fits(found, capability, ["_walk", "_carry", "_walk"] * 2 + ["_walk"])
    assert all(kernel.products for kernel in found if kernel.name == "_walk")
    # A few values without a register cost little; with thousands of bytes a walk waits for memory at every step.
    assert max(kernel.spilled for kernel in found) <= (64 if capability == HOPPER else 1024)


def test_policy_loss(capability: int) -> None:
    values = torch.ones(3000)
    with card(capability) as found:
        for weight_clip in (False, True):
            policy_loss.forward(values, values, values, values, values > 0, 0.8, 1.2, weight_clip)
    assert_fits(found, capability, ["_pass", "_pass"])
    assert [kernel.spilled for kernel in found] == [0, 0]


def test_ragged(capability: int) -> None:
    values, starts = torch.ones(300), torch.tensor([0, 100, 256, 300])
    with card(capability) as found:
        ragged.group_statistics(values, starts)
        ragged.repeats_at_end(values.long(), starts, 16)
    assert_fits(found, capability, ["_statistics", "_matching"])
    assert [kernel.spilled for kernel in found] == [0, 0]


@pytest.mark.parametrize(("dtype", "size"), each_size(128, 1024, 5120, 8192), ids=str)
def test_rms_norm(capability: int, dtype: torch.dtype, size: int) -> None:
    x, scale = torch.zeros(300, size, dtype=dtype), torch.zeros(300, 1)
    with card(capability) as found:
        for gain in ("rounded_first", "rounded_last", "offset"):
            rms_norm.forward(x, x[0], 1e-6, gain)
            rms_norm.backward(x, x, scale, x[0], gain)
    assert_fits(found, capability, ["_norm", "_flow"] * 3)
    assert max(kernel.spilled for kernel in found) == 0


@pytest.mark.parametrize(("dtype", "size"), each_size(64, 128, 192, 256), ids=str)
def test_rotation(capability: int, dtype: torch.dtype, size: int) -> None:
    x, angles = torch.zeros(256, 16, size, dtype=dtype), torch.zeros(256, size, dtype=dtype)
    with card(capability) as found:
        rotation.rotated(x, angles, angles)
        rotation.rotated(x, angles, angles, back=True)
    assert_fits(found, capability, ["_rotate", "_rotate"])
    assert {kernel.spilled for kernel in found} == {0}
