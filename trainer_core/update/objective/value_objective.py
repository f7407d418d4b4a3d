"""The critic's loss of one micro-batch, and how well its values explain the returns."""

import torch
from torch import Tensor

from trainer_core.methods import aggregation
from trainer_core.methods.aggregation import Denominators
from trainer_core.methods.masked import masked_mean
from trainer_core.methods.value_loss import value_loss
from trainer_core.spec import RunSpec
from trainer_core.spec.methods.critic import CriticModel
from trainer_core.update.objective.returns import KnownTokens
from trainer_core.update.packed.packing import TokenBatch
from trainer_core.update.totals import Totals

MOMENTS = ("critic/_return", "critic/_return_square", "critic/_error", "critic/_error_square")


def value_share(
    spec: RunSpec,
    critic: CriticModel,
    batch: TokenBatch,
    values: Tensor,
    known: KnownTokens,
    whole: Denominators,
    totals: Totals,
) -> Tensor:
    """This micro-batch's share of the value loss, including its coefficient, averaged like the policy's loss.

    Args:
        spec: the current spec.
        critic: the spec's critic.
        batch: M predicted tokens.
        values: current values, float32 [M], with gradient.
        known: values before the step and their targets.
        whole: counts of the whole minibatch.
        totals: metrics are added here; ``explain`` adds the last of them.
    """
    assert known.values is not None and known.returns is not None
    losses, clipped = value_loss(values, known.values, known.returns, critic.clip_range)
    share = aggregation.aggregate(spec.aggregation, losses, batch.mask, batch.sequence, batch.prompt, whole)
    totals.add_share("critic/vf_loss", share.detach())
    error = known.returns - known.values
    columns = (known.returns, known.returns.square(), error, error.square())
    metrics = {name: masked_mean(column, batch.mask) for name, column in zip(MOMENTS, columns, strict=True)}
    metrics["critic/values/mean"] = masked_mean(known.values, batch.mask)
    metrics["critic/vf_clipfrac"] = masked_mean(clipped.to(torch.float32), batch.mask)
    totals.add_metrics(metrics, int(batch.mask.sum()))
    return critic.coefficient * share


def explain(metrics: dict[str, float]) -> dict[str, float]:
    """The metrics with ``critic/vf_explained_var`` = 1 − Var(R − V) / Var(R) from its moments; 0 if R is constant."""
    if MOMENTS[0] not in metrics:
        return metrics
    mean, square, error, error_square = (metrics[name] for name in MOMENTS)
    spread = square - mean**2
    explained = 1 - (error_square - error**2) / spread if spread > 1e-12 else 0.0
    rest = {name: value for name, value in metrics.items() if name not in MOMENTS}
    return {**rest, "critic/returns/mean": mean, "critic/vf_explained_var": explained}
