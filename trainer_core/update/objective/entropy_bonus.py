"""The entropy bonus of one micro-batch."""

from torch import Tensor

from trainer_core.methods import aggregation
from trainer_core.methods.aggregation import Denominators
from trainer_core.spec import RunSpec
from trainer_core.update.packed.packing import TokenBatch
from trainer_core.update.totals import Totals


def entropy_bonus(
    spec: RunSpec, weight: float, batch: TokenBatch, entropies: Tensor, whole: Denominators, totals: Totals
) -> Tensor:
    """This micro-batch's share of ``α · H``, which is subtracted from the loss, a scalar with gradient.

    Args:
        spec: the current spec: tokens are averaged as in the policy's loss.
        weight: α.
        batch: M predicted tokens.
        entropies: the entropies of the policy's distributions, [M], with gradient.
        whole: counts of the whole minibatch.
        totals: metrics are added here.
    """
    found = aggregation.aggregate(spec.aggregation, entropies, batch.mask, batch.sequence, batch.prompt, whole)
    bonus = weight * found
    totals.add_metrics({"actor/entropy_weight": weight}, int(batch.mask.sum()))
    totals.add_share("actor/loss", -bonus.detach())
    return bonus
