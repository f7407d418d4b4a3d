"""The loss of one micro-batch: its share of the minibatch's loss. The shares sum to the whole."""

from collections import Counter
from collections.abc import Sequence

from torch import Tensor

from trainer_core.episodes import Trajectory
from trainer_core.methods import aggregation, corrections, kl, losses
from trainer_core.methods.aggregation import Denominators
from trainer_core.methods.masked import masked_mean
from trainer_core.methods.view import Candidates, TokenView
from trainer_core.spec import RunSpec
from trainer_core.update.packed.packing import TokenBatch, prompt_key, trains
from trainer_core.update.totals import Totals


def denominators(trajectories: Sequence[Trajectory]) -> Denominators:
    """Count what takes part in the loss."""
    taking_part = [trajectory for trajectory in trajectories if trains(trajectory)]
    prompt_tokens: Counter[int] = Counter()
    for trajectory in taking_part:
        prompt_tokens[prompt_key(trajectory)] += int(trajectory.sampled.sum())
    return Denominators(len(taking_part), prompt_tokens.total(), prompt_tokens)


def loss_share(
    spec: RunSpec,
    batch: TokenBatch,
    logprobs: Tensor,
    old_logprobs: Tensor,
    reference_logprobs: Tensor | None,
    whole: Denominators,
    totals: Totals,
    *,
    before: Tensor | None = None,
    divergence: Tensor | None = None,
    log_shift: Tensor | None = None,
    candidates: Candidates | None = None,
) -> Tensor:
    """This micro-batch's share of the minibatch loss, a scalar with gradient.

    The importance ratio is split in two: exp(old − behaviour) weights the token (corrections), exp(current − old) is
    the policy ratio (loss). The KL penalty is not weighted: it depends on the policy, not on the samples' rewards.

    Args:
        spec: the current spec.
        batch: M predicted tokens.
        logprobs: current policy, float32 [M], with gradient.
        old_logprobs: the proximal policy's, float32 [M], without; the learner's before the step's first update, unless
            the spec names another.
        reference_logprobs: the base policy's, float32 [M]; None without a KL penalty.
        whole: counts of the whole minibatch.
        totals: metrics are added here.
        before: the policy's before the step's first update, float32 [M], without gradient: a penalty in the reward is
            measured on it. None if that is the current policy.
        divergence: between behaviour and current policy over the likeliest tokens, [M]; if the loss needs it.
        log_shift: log weight of the changed routing, [M]; if a correction needs it.
        candidates: the policy's likeliest tokens, if the loss needs them.
    """
    count = int(batch.mask.sum())

    def aggregate(values: Tensor) -> Tensor:
        return aggregation.aggregate(spec.aggregation, values, batch.mask, batch.sequence, batch.prompt, whole)

    advantages = batch.advantages
    penalty = None
    if reference_logprobs is not None:
        # A reward is penalised for the policy before the step, in every pass over the batch.
        paying = logprobs.detach() if before is None else before
        current = logprobs if spec.kl.placement == "loss" else paying
        # Filled before, not after: a broken value outside the mask would turn a zero gradient into NaN.
        known = [values.masked_fill(~batch.mask, 0.0) for values in (current, reference_logprobs)]
        penalty = kl.penalty(spec.kl.estimator, *known)
        totals.add_metrics({"actor/kl_loss": masked_mean(penalty.detach(), batch.mask)}, count)
        # Otherwise it was applied before advantages were computed: ``update/objective/{returns,penalised}.py``.
        if spec.kl.placement == "reward" and spec.advantage.penalty == "token":
            advantages = advantages - spec.kl.coefficient * penalty
    view = TokenView(
        logprobs,
        old_logprobs,
        batch.behaviour_logprobs,
        advantages,
        batch.mask,
        batch.sequence,
        divergence=divergence,
        log_shift=log_shift,
        candidates=candidates,
    )
    values, metrics = losses.token_loss(spec.loss, view)
    totals.add_metrics(metrics, count)
    for correction in spec.corrections:
        weights, metrics = corrections.token_weights(correction, view)
        totals.add_metrics(metrics, count)
        values = values * weights
    loss = aggregate(values)
    totals.add_share("actor/pg_loss", loss.detach())
    if penalty is not None and spec.kl.placement == "loss":
        loss = loss + spec.kl.coefficient * aggregate(penalty)
    totals.add_share("actor/loss", loss.detach())
    return loss
