"""The call between layers, by which a process renews its share of the cores within a step."""

from pathlib import Path

import pytest
import torch

from trainer_core.update.model.layers import call_between_layers
from trainer_core.update.model.policy import load_policy, logits
from trainer_core.update.packed.packing import pack
from trainer_core.update.recording import as_trajectory

LAYERS = 4


@pytest.mark.parametrize("checkpointing", [False, True])
def test_it_comes_before_each_layer_and_after_its_backward_pass(policy_dir: Path, checkpointing: bool) -> None:
    """Once for each layer and the output layer in both passes; again where a layer is computed again."""
    model = load_policy(policy_dir, gradient_checkpointing=checkpointing).train()
    batch = pack([as_trajectory([1, 2, 3, 4])], 64)[0]
    plain = logits(model, batch)
    plain.logsumexp(-1).sum().backward()
    expected = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    calls: list[None] = []
    call_between_layers(model, lambda: calls.append(None))
    found = logits(model, batch)
    assert len(calls) == LAYERS + 1
    found.logsumexp(-1).sum().backward()
    # A layer that is computed again is entered again, but for the output layer.
    assert len(calls) == 2 * (LAYERS + 1) + (2 * LAYERS if checkpointing else 0)
    assert torch.equal(found, plain)
    for parameter, gradient in zip(model.parameters(), expected, strict=True):
        assert torch.equal(parameter.grad, gradient)
