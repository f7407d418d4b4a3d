"""The teacher of on-policy distillation: a frozen policy that scores every sampled token."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from trainer_core.methods.losses import distillation
from trainer_core.spec.methods.distillation import Distillation
from trainer_core.update.hybrid.routing import RouteWatch
from trainer_core.update.model.logprobs import token_logprobs
from trainer_core.update.model.policy import load_policy, logits
from trainer_core.update.packed.packing import TokenBatch


class Teacher:
    """One frozen policy. Every rank holds all of it."""

    def __init__(self, spec: Distillation, folder: Path | None, vocab_size: int, device: torch.device) -> None:
        """Load the policy folder of the teacher that ``spec`` names.

        Raises:
            ValueError: the folder does not exist, or its vocabulary differs from the policy's ``vocab_size``.
        """
        if folder is None or not folder.is_dir():
            where = "its folder was not given" if folder is None else f"there is no folder {folder}"
            raise ValueError(f"the teacher {spec.teacher!r} cannot be loaded: {where}")
        self._model = load_policy(folder, device=device).eval().requires_grad_(False)
        self.config: dict[str, Any] = self._model.config.to_dict()
        """Its ``config.json``."""
        known = self._model.get_input_embeddings().num_embeddings
        if known != vocab_size:
            raise ValueError(f"the teacher {spec.teacher!r} has {known} tokens, the policy {vocab_size}")

    @torch.no_grad()
    def score(self, batch: TokenBatch) -> Tensor:
        """Log-probabilities of the batch's targets under the teacher, float32 [M], at the sampling temperature."""
        return self._sampled(logits(self._model, batch), batch)

    def divergence(self, spec: Distillation, batch: TokenBatch, logprobs: Tensor, own_logits: Tensor | None) -> Tensor:
        """KL(π_θ ‖ teacher) of each predicted token, float32 [M], with gradient.

        Args:
            spec: which distributions are compared.
            batch: on the policy's device.
            logprobs: the log-probabilities of the targets under the policy, [M], with gradient.
            own_logits: the policy's logits of the tokens that this rank computes, [m, V], with gradient; ``sampled``
                alone does not need them.
        """
        with torch.no_grad():
            theirs = logits(self._model, batch)
        if own_logits is None or spec.distribution == "sampled":
            return distillation.sampled_token(logprobs, self._sampled(theirs, batch))
        heat = batch.own(batch.temperature).unsqueeze(1)
        mine, theirs = (torch.log_softmax(part.float() / heat, dim=-1) for part in (own_logits, theirs))
        if spec.distribution == "full":
            return batch.whole(distillation.full_distribution(mine, theirs))
        likeliest = theirs.topk(min(spec.k, theirs.shape[1]), dim=-1)
        return batch.whole(distillation.sparse_distribution(mine, likeliest.values, likeliest.indices))

    def _sampled(self, theirs: Tensor, batch: TokenBatch) -> Tensor:
        return batch.whole(token_logprobs(theirs, batch.own(batch.targets), batch.own(batch.temperature))[0])


def scored_logits(
    model: nn.Module, batch: TokenBatch, watch: RouteWatch | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Log-probabilities [M] and logits [m, V], with gradient, and entropies [M] of the batch's targets.

    The logits are of the tokens that this rank computes.
    """
    found = logits(model, batch, watch)
    logprobs, entropies = token_logprobs(found, batch.own(batch.targets), batch.own(batch.temperature))
    return batch.whole(logprobs), found, batch.whole(entropies)
