"""Noise on the embeddings of training examples (NEFTune, arXiv 2310.05914, eq. 1)."""

import hashlib
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from trainer_core.episodes import Trajectory
from trainer_core.update.packed.packing import TokenBatch


@contextmanager
def noisy_embeddings(
    model: PreTrainedModel, batch: TokenBatch, examples: Sequence[Trajectory], strength: float, *, seed: int, step: int
) -> Iterator[None]:
    """Adds α / √(n · d) · U(−1, 1) to the embeddings of an example of n tokens in d dimensions while open.

    The noise of an example depends on the seed, the step and its id: not on its micro-batch, nor on the rank.

    Args:
        model: the policy.
        batch: the micro-batch of the forward pass. Its sequences share no tokens.
        examples: the list that the batch was packed from.
        strength: α; at 0 nothing is added.
        seed: the run's seed.
        step: the training step.
    """
    if strength == 0.0 or not bool(batch.mask.any()):
        yield
        return

    def add(_: nn.Module, __: tuple[Any, ...], embedded: Tensor) -> Tensor:
        noise = _noise(batch, examples, embedded, strength, f"{seed}/{step}")
        if batch.part is not None:
            noise = noise.index_select(0, batch.part.tokens)
        return embedded + noise.to(embedded.dtype)

    handle = model.get_input_embeddings().register_forward_hook(add)
    try:
        yield
    finally:
        handle.remove()


def _noise(batch: TokenBatch, examples: Sequence[Trajectory], like: Tensor, strength: float, draw: str) -> Tensor:
    """Noise of all packed tokens, float32 [N, d] on the device of ``like`` [..., d]."""
    width = like.shape[-1]
    starts = torch.nonzero(batch.position_ids == 0).flatten()
    lengths = torch.diff(starts, append=starts.new_tensor([batch.num_tokens])).tolist()
    packed = [examples[index] for index in batch.sequence.unique_consecutive().tolist()]
    parts = []
    for example, length in zip(packed, lengths, strict=True):
        digest = hashlib.blake2b(f"{draw}/{example.trajectory_id}".encode(), digest_size=7).digest()
        generator = torch.Generator(device=like.device).manual_seed(int.from_bytes(digest, "big"))
        uniform = torch.rand((length, width), generator=generator, device=like.device) * 2.0 - 1.0
        whole = len(example.prompt_ids) + example.length
        parts.append(uniform * (strength / math.sqrt(whole * width)))
    return torch.cat(parts)
