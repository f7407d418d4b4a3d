"""The preference loss of one micro-batch: its share of the mean over the minibatch's pairs, and held-out pairs."""

from collections.abc import Sequence

import torch
from torch import Tensor

from trainer_core.methods.losses.preference import PairView, preference_loss
from trainer_core.spec.objective import Preference
from trainer_core.update.packed.packing import TokenBatch
from trainer_core.update.totals import Totals


def pair_share(
    objective: Preference, batch: TokenBatch, logprobs: Tensor, reference: Tensor | None, pairs: int, totals: Totals
) -> Tensor:
    """This micro-batch's share of the mean over the pairs of the minibatch, a scalar with gradient.

    Args:
        objective: how a pair becomes a loss.
        batch: M predicted tokens of whole pairs: sequences 2i and 2i + 1 are the better and the worse of one.
        logprobs: current policy, float32 [M], with gradient.
        reference: the reference policy's, float32 [M]; None if the loss needs none.
        pairs: pairs of the whole minibatch.
        totals: ``preference/*`` are added here.
    """
    view, _ = view_pairs(batch, logprobs, reference)
    losses, margins = preference_loss(objective.loss, view)
    count = len(losses)
    if count:
        metrics = {"loss": losses.mean(), "accuracy": (margins > 0).double().mean(), "margin": margins.mean()}
        totals.add_metrics({f"preference/{name}": value.detach() for name, value in metrics.items()}, count)
        for column, name in enumerate(("chosen", "rejected")):
            tokens = float(view.tokens[:, column].sum())
            mean = view.logprobs[:, column].detach().sum() / tokens
            totals.add_metrics({f"preference/{name}_logprob": mean}, tokens)
    if objective.sft_coefficient > 0:
        losses = losses - objective.sft_coefficient * view.means()[:, 0]
    return losses.sum() / pairs


def add_held_out_pairs(
    totals: Totals,
    objective: Preference,
    batch: TokenBatch,
    logprobs: Tensor,
    reference: Tensor | None,
    sources: Sequence[str],
) -> None:
    """Add order and margin of a micro-batch of held-out pairs by source, and the loss of their better completions."""
    view, places = view_pairs(batch, logprobs, reference)
    _, margins = preference_loss(objective.loss, view)
    columns = (places.tolist(), margins.tolist(), view.logprobs[:, 0].tolist(), view.tokens[:, 0].tolist())
    for place, margin, logprob, tokens in zip(*columns, strict=True):
        name = f"eval/{sources[2 * place]}"
        totals.add_metrics({f"{name}/preference_accuracy": margin > 0, f"{name}/preference_margin": margin}, 1)
        totals.add_metrics({f"{name}/loss": -logprob / tokens}, tokens)


def view_pairs(batch: TokenBatch, logprobs: Tensor, reference: Tensor | None) -> tuple[PairView, Tensor]:
    """The P pairs of a micro-batch in float64, and the number of each, int64 [P]; none if no token counts."""
    sequence = batch.sequence[batch.mask]
    places, row = (sequence // 2).unique(return_inverse=True)
    key, width = 2 * row + sequence % 2, 2 * len(places)

    def sums(values: Tensor) -> Tensor:
        # Margins are small differences of sums over many tokens.
        found = torch.zeros(width, dtype=torch.float64, device=key.device)
        return found.index_add(0, key, values[batch.mask].double()).view(len(places), 2)

    tokens = torch.bincount(key, minlength=width).double().view(len(places), 2)
    return PairView(sums(logprobs), tokens, None if reference is None else sums(reference)), places
