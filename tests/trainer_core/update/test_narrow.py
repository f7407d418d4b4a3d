"""Bytes that the learner keeps in 16 bits: norms and masks, exactly."""

import gc
import weakref

import pytest
import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from transformers.models.gemma3.modeling_gemma3 import Gemma3RMSNorm
from transformers.models.olmo2.modeling_olmo2 import Olmo2RMSNorm
from transformers.models.qwen3.modeling_qwen3 import Qwen3RMSNorm

from tests.support.about import LEARNING
from trainer_core.update.model.norms import use_narrow_norms
from trainer_core.update.packed.segment import Segment
from trainer_core.update.packed.segments import build_layout

ROWS, WIDTH = 40, 64


def kept_bytes(module: nn.Module, x: Tensor) -> int:
    """Bytes of what ``module`` saves for its backward pass, each storage once."""
    found: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        found[storage.data_ptr()] = storage.nbytes()
        return tensor

    with saved_tensors_hooks(note, lambda tensor: tensor):
        out = module(x)
    assert out.requires_grad
    return sum(found.values())


@pytest.mark.parametrize("kind", [Qwen3RMSNorm, Olmo2RMSNorm, Gemma3RMSNorm])
def test_narrow_norms_give_the_same_bits_and_keep_their_input_alone(kind: type[nn.Module]) -> None:
    generator = torch.Generator().manual_seed(3)
    own, lean = (kind(WIDTH, eps=1e-6).bfloat16() for _ in range(2))
    weight = torch.randn(WIDTH, generator=generator).bfloat16()
    assert use_narrow_norms(nn.Sequential(lean)) == 1
    x = (3 * torch.randn(2, ROWS // 2, WIDTH, generator=generator)).bfloat16()
    slope = torch.randn(2, ROWS // 2, WIDTH, generator=generator).bfloat16()
    answers = []
    for module, dtype in ((own, torch.bfloat16), (lean, torch.bfloat16), (kind(WIDTH, eps=1e-6), torch.float32)):
        with torch.no_grad():
            module.weight.copy_(weight)
        given = x.to(dtype, copy=True).requires_grad_()
        out = module(given)
        out.backward(slope.to(dtype))
        answers.append((out.detach(), given.grad, module.weight.grad))
    assert torch.equal(answers[0][0], answers[1][0])
    for mine, wide in zip(answers[1][1:], answers[2][1:], strict=True):
        torch.testing.assert_close(mine.float(), wide, atol=0.02, rtol=0.01)
    # The input and the weight in 2 bytes, and one float32 number for each row.
    assert kept_bytes(lean, x.clone().requires_grad_()) == 2 * ROWS * WIDTH + 4 * ROWS + 2 * WIDTH


def test_a_norm_of_another_formula_stays() -> None:
    class HalvedRMSNorm(Qwen3RMSNorm):
        def forward(self, hidden_states: Tensor) -> Tensor:
            return super().forward(hidden_states) / 2

    other = HalvedRMSNorm(WIDTH).bfloat16()
    assert use_narrow_norms(nn.Sequential(other)) == 0
    assert "forward" not in vars(other)


@pytest.mark.expensive(4, "builds a learner and steps it", about=LEARNING)
def test_layers_share_a_mask_and_only_the_latest_layout_keeps_it() -> None:
    first, second = (build_layout([Segment(0, length)]) for length in (300, 400))
    mask = first.mask(0, None, torch.bfloat16)
    assert mask.dtype == torch.bfloat16
    assert mask.shape == (1, 300, 300)
    assert first.mask(0, None, torch.bfloat16) is mask
    assert first.mask(0, 300, torch.bfloat16) is mask, "a window of all keys hides nothing"
    windowed = first.mask(0, 10, torch.bfloat16)
    assert first.mask(0, 10, torch.bfloat16) is windowed
    seen = windowed[0] == 0
    assert seen.sum(dim=1).tolist() == [min(position + 1, 10) for position in range(300)]
    assert torch.equal(seen, (mask[0] == 0) & torch.ones(300, 300, dtype=torch.bool).triu(-9))
    alive = weakref.ref(mask)
    del mask, windowed, seen
    gc.collect()
    assert alive() is not None
    second.mask(0, None, torch.float32)
    gc.collect()
    assert alive() is None
