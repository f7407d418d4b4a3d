"""Advantages and value targets of a step, from a critic's values."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from trainer_core.episodes import Trajectory
from trainer_core.methods import kl
from trainer_core.methods.gae import gae, length_adaptive_lambda
from trainer_core.spec import RunSpec
from trainer_core.spec.methods.critic import GAEAdvantage
from trainer_core.update.hybrid.routing import Routes
from trainer_core.update.objective.standardise import standardise
from trainer_core.update.packed.packing import TokenBatch


@dataclass(slots=True)
class KnownTokens:
    """Known facts about a micro-batch's tokens before its update: float32 [M] each, without gradient."""

    before: Tensor | None = None
    """Log-probabilities of the policy before the step's first update; None if the update's own pass computes them."""
    reference: Tensor | None = None
    values: Tensor | None = None
    """Values of the states from the critic before the step."""
    returns: Tensor | None = None
    """Value targets."""
    teacher: Tensor | None = None
    """Log-probabilities of the teacher, if the weights of its loss are computed before the update."""
    guide: Tensor | None = None
    """Weight of each token's sample in the distillation loss; None if all have the same weight."""
    right: Tensor | None = None
    """1 if the token's sample is correct, otherwise 0; set if the distillation loss distinguishes them."""
    routes: Routes | None = None
    """Experts that the policy chose before the step's first update, if a correction needs them."""


Scored = tuple[list[Trajectory], list[TokenBatch], list[KnownTokens]]
"""This rank's part of a minibatch."""


def estimate(advantage: GAEAdvantage, spec: RunSpec, scored: Sequence[Scored]) -> list[list[TokenBatch]]:
    """The micro-batches with the advantages of their tokens; also writes ``returns`` into the known tokens.

    Collective if advantages are whitened. Writes ``token_advantages`` into the trajectories; 0 for forced tokens.
    """
    pairs = [
        [_advantages(advantage, spec, mine, batch, known) for batch, known in zip(batches, knowns, strict=True)]
        for mine, batches, knowns in scored
    ]
    found = [[values for values, _ in part] for part in pairs]
    if advantage.whiten == "batch":
        counted = [[learned.to(torch.float64) for _, learned in part] for part in pairs]
        found = standardise(found, counted, "population", 1e-8)
    result = []
    for (mine, batches, _), part in zip(scored, found, strict=True):
        renewed = []
        for batch, values in zip(batches, part, strict=True):
            record_advantages(mine, batch, values)
            renewed.append(replace(batch, advantages=values.to(batch.advantages.dtype)))
        result.append(renewed)
    return result


def _advantages(
    advantage: GAEAdvantage, spec: RunSpec, mine: list[Trajectory], batch: TokenBatch, known: KnownTokens
) -> tuple[Tensor, Tensor]:
    """Advantages of the policy [M] in float64, and which tokens have one, bool [M]; ``known.returns`` is written."""
    assert known.values is not None
    rewards = torch.zeros_like(known.values, dtype=torch.float64)
    if not bool(batch.mask.any()):
        known.returns = torch.zeros_like(known.values)
        return rewards, batch.mask
    last = _ends(batch.sequence)
    open_ended = torch.zeros_like(last)
    if advantage.truncated_end == "bootstrap":
        cut = batch.sequence.new_tensor([one.finish_reason == "length" for one in mine], dtype=torch.bool)
        open_ended = last & cut[batch.sequence]
    lam: Tensor = torch.full_like(rewards, advantage.policy_lambda)
    if advantage.length_alpha is not None:
        lam = length_adaptive_lambda(advantage.length_alpha, batch.sequence)
    # A token with no observed state after it only gives the value of the state before it.
    steps = ~open_ended
    sequence, values = batch.sequence[steps], known.values[steps]
    ends = _ends(sequence)
    numbers = sequence[ends]
    after = rewards.new_zeros(len(mine)).index_put((batch.sequence[open_ended],), known.values[open_ended].double())
    paid = torch.zeros_like(values, dtype=torch.float64)
    paid[ends] = paid.new_tensor([_reward(mine[index]) for index in numbers.tolist()])
    if spec.kl.placement == "reward" and known.reference is not None and known.before is not None:
        distance = kl.penalty(spec.kl.estimator, known.before, known.reference)
        paid -= spec.kl.coefficient * distance[steps]
    inputs = (paid, values, sequence, advantage.gamma)
    targets = known.values.clone()
    targets[steps] = (gae(*inputs, advantage.value_lambda, after[numbers]) + values).to(targets.dtype)
    known.returns = targets
    result = torch.zeros_like(rewards)
    result[steps] = gae(*inputs, lam[steps], after[numbers])
    return result, batch.mask & steps


def _ends(sequence: Tensor) -> Tensor:
    """Mask of the tokens that are the last of their sequence: int64 [N] → bool [N]."""
    return torch.cat([sequence[1:] != sequence[:-1], sequence.new_ones(min(len(sequence), 1), dtype=torch.bool)])


def _reward(trajectory: Trajectory) -> float:
    if trajectory.reward is None:
        raise ValueError(f"{trajectory.trajectory_id} is in the loss without a reward")
    return trajectory.reward


def record_advantages(mine: list[Trajectory], batch: TokenBatch, values: Tensor) -> None:
    """Write the advantages of a micro-batch's tokens [M] into its trajectories; 0 for forced tokens."""
    if not bool(batch.mask.any()):
        return
    sequence, offset = batch.sequence.cpu().numpy(), batch.offset.cpu().numpy()
    numbers = values.cpu().numpy().astype(np.float32)
    for index in np.unique(sequence):
        trajectory, own = mine[int(index)], sequence == index
        trajectory.token_advantages = np.zeros(trajectory.length, dtype=np.float32)
        trajectory.token_advantages[offset[own]] = numbers[own]
