"""Advantages of a step whose rewards include a KL penalty to the reference policy: REINFORCE++ and RLOO.

They are computed between the first scoring and the first update, like a critic's. The penalty is that of the policy
before the step, which only the learner can score.
"""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from trainer_core.episodes import Group, Trajectory
from trainer_core.methods import kl
from trainer_core.methods.advantages.assign import assign, known_rewards
from trainer_core.methods.advantages.reinforce_pp import base, penalised_to_go
from trainer_core.methods.ragged import sequence_sum
from trainer_core.rewards.length import advantage_weights
from trainer_core.spec import RunSpec
from trainer_core.spec.methods.advantage import ReinforcePlusPlusAdvantage, ReinforcePlusPlusBaselineAdvantage
from trainer_core.update.collectives import gather
from trainer_core.update.objective.refine import reassigned
from trainer_core.update.objective.returns import KnownTokens, Scored, record_advantages
from trainer_core.update.objective.standardise import standardise
from trainer_core.update.packed.packing import TokenBatch


def pays(spec: RunSpec) -> bool:
    """Whether advantages under ``spec`` use rewards minus their KL penalty, and so are computed in the learner."""
    return spec.kl.placement == "reward" and spec.kl.coefficient > 0 and spec.advantage.penalty in ("to_go", "sequence")


def penalise(spec: RunSpec, groups: Sequence[Group], scored: Sequence[Scored]) -> list[list[TokenBatch]]:
    """The micro-batches with the advantages of their tokens. Collective.

    Completions outside the loss are not scored, so their penalty is unknown. They count neither in RLOO's baseline nor
    in the batch's mean and deviation. The group's mean under the REINFORCE++ baseline is of rewards without penalties,
    and includes them.

    Args:
        spec: the spec of the step.
        groups: all groups of the step, on every rank.
        scored: this rank's part of each minibatch, with the log-probabilities of policy and reference.
    """
    if isinstance(spec.advantage, ReinforcePlusPlusAdvantage | ReinforcePlusPlusBaselineAdvantage):
        return _to_go(spec.advantage, spec, groups, scored)
    return _by_sequence(spec, groups, scored)


def _to_go(
    advantage: ReinforcePlusPlusAdvantage | ReinforcePlusPlusBaselineAdvantage,
    spec: RunSpec,
    groups: Sequence[Group],
    scored: Sequence[Scored],
) -> list[list[TokenBatch]]:
    """REINFORCE++: each token's reward to go, standardised over the tokens of the step."""
    rewards, mask = known_rewards(groups)
    table = base(advantage, rewards, mask).tolist()
    own = {id(t): table[g][s] for g, group in enumerate(groups) for s, t in enumerate(group.trajectories)}
    values: list[list[Tensor]] = []
    weights: list[list[Tensor]] = []
    for mine, batches, looked in scored:
        values.append([_reward_to_go(spec, own, mine, *pair) for pair in zip(batches, looked, strict=True)])
        weights.append([_weights(advantage, batch) for batch in batches])
    found = standardise(values, weights, advantage.std, advantage.epsilon)
    factors = {id(t): weight for group in groups for t, weight in advantage_weights(group)}
    result = []
    for (mine, batches, _), part in zip(scored, found, strict=True):
        renewed = []
        for batch, made in zip(batches, part, strict=True):
            scale = made.new_tensor([factors.get(id(t), 1.0) for t in mine])[batch.sequence]
            record_advantages(mine, batch, made * scale)
            renewed.append(replace(batch, advantages=(made * scale).to(batch.advantages.dtype)))
        result.append(renewed)
    return result


def _reward_to_go(
    spec: RunSpec, own: dict[int, float], mine: list[Trajectory], batch: TokenBatch, known: KnownTokens
) -> Tensor:
    paid = _penalties(spec, batch, known)
    if not bool(batch.mask.any()):
        return torch.zeros_like(paid)
    rewards = paid.new_tensor([own.get(id(t), 0.0) for t in mine])[batch.sequence]
    return penalised_to_go(rewards, paid, batch.sequence)


def _weights(advantage: ReinforcePlusPlusAdvantage | ReinforcePlusPlusBaselineAdvantage, batch: TokenBatch) -> Tensor:
    counted = batch.mask.to(torch.float64)
    if advantage.weighting == "tokens":
        return counted
    return counted / sequence_sum(counted, batch.sequence).clamp(min=1)


def _by_sequence(spec: RunSpec, groups: Sequence[Group], scored: Sequence[Scored]) -> list[list[TokenBatch]]:
    """RLOO: the sequence's penalty is part of its reward, and so of the baselines of the others."""
    number = {id(t): n for n, t in enumerate(t for group in groups for t in group.trajectories)}
    own: dict[int, float] = {}
    for mine, batches, looked in scored:
        for batch, known in zip(batches, looked, strict=True):
            if not bool(batch.mask.any()):
                continue
            paid = _penalties(spec, batch, known)
            sums = paid.new_zeros(len(mine)).index_add(0, batch.sequence, paid).tolist()
            own |= {number[id(mine[index])]: sums[index] for index in batch.sequence.unique().tolist()}
    penalties: dict[int, float] = {}
    for piece in gather(own):
        penalties |= piece
    assign(spec.advantage, list(groups), minibatches=spec.schedule.updates_per_step, penalties=penalties)
    for group in groups:
        for trajectory, weight in advantage_weights(group):
            trajectory.earn(trajectory.advantage * weight)
    return [[reassigned(mine, batch) for batch in batches] for mine, batches, _ in scored]


def _penalties(spec: RunSpec, batch: TokenBatch, known: KnownTokens) -> Tensor:
    """β·KL of each token by the policy before the step, float64 [M]; 0 outside the mask."""
    if known.before is None or known.reference is None:
        raise ValueError("a KL penalty in the reward needs the scores of policy and reference: neither was computed")
    before, reference = (one.detach().double().masked_fill(~batch.mask, 0.0) for one in (known.before, known.reference))
    return spec.kl.coefficient * kl.penalty(spec.kl.estimator, before, reference)
