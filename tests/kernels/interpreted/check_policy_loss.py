"""The Triton path of the policy losses against the reference."""

import pytest
import torch

from kernels.policy_loss import Method, policy_loss
from kernels.policy_loss import triton as compiled


@pytest.mark.parametrize("tokens", [0, 5, 70])
@pytest.mark.parametrize("method", ["ppo_clip", "cispo"])
def test_values_and_gradients(monkeypatch: pytest.MonkeyPatch, method: Method, tokens: int) -> None:
    monkeypatch.setattr(compiled, "BLOCK", 16)
    noise = torch.randn(4, tokens, generator=torch.Generator().manual_seed(tokens))
    old, mask = -noise[0].abs(), noise[3] < 1.0
    current = torch.where(mask, old + 0.3 * noise[1], torch.nan)
    found = []
    for backend in ("reference", "triton"):
        leaf = current.clone().requires_grad_()
        loss, metrics = policy_loss(
            leaf, old, old + noise[2], noise[3], mask, method=method, ratio_min=0.8, ratio_max=1.2, backend=backend
        )
        found.append([loss, torch.autograd.grad((loss * noise[0]).sum(), leaf)[0], *metrics.values()])
    for mine, theirs in zip(*found, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-6, check_dtype=False)
