"""Weights of the samples in the distillation loss, from the outcomes of their groups.

They are computed between the first scoring and the first update, so the policy's perplexities are from before the step.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from trainer_core.episodes import Group
from trainer_core.methods.paced import paced
from trainer_core.methods.ragged import sequence_sum
from trainer_core.methods.scope import scope_weights
from trainer_core.rewards.outcomes import pass_rate, succeeded
from trainer_core.spec import RunSpec
from trainer_core.spec.methods.distillation import PacedWeighting, ScopeWeighting
from trainer_core.update.collectives import gather
from trainer_core.update.objective.returns import KnownTokens, Scored
from trainer_core.update.packed.packing import TokenBatch


def asks_teacher_first(spec: RunSpec) -> bool:
    """Whether the weights depend on how policy and teacher score whole samples before the update."""
    return spec.distillation is not None and isinstance(spec.distillation.weighting, ScopeWeighting)


def guide(spec: RunSpec, groups: Sequence[Group], scored: Sequence[Scored]) -> None:
    """Write ``guide`` and ``right`` into the known tokens; does nothing if all have the same weight. Collective.

    A sample whose reward could not be computed has weight 0.

    Args:
        spec: the spec of the step.
        groups: all groups of the step, on every rank.
        scored: this rank's part of each minibatch, with the scores that ``asks_teacher_first`` describes.
    """
    if spec.distillation is None:
        return
    match spec.distillation.weighting:
        case PacedWeighting() as weighting:
            rates = {id(t): pass_rate([group]) for group in groups for t in group.trajectories}
            weights = {key: 0.0 if rate != rate else paced(weighting, rate) for key, rate in rates.items()}
        case ScopeWeighting() as weighting:
            weights = _scope(weighting, groups, scored)
        case _:
            return
    right = {id(t): bool(succeeded(t, g.success_threshold)) for g in groups for t in g.trajectories}
    for mine, batches, looked in scored:
        for batch, known in zip(batches, looked, strict=True):
            known.guide = _by_token(batch, [weights.get(id(t), 0.0) for t in mine])
            known.right = _by_token(batch, [float(right.get(id(t), False)) for t in mine])


def _scope(weighting: ScopeWeighting, groups: Sequence[Group], scored: Sequence[Scored]) -> dict[int, float]:
    """Weight of each trajectory by its id, normalised over its group's samples on all ranks."""
    everybody = [t for group in groups for t in group.trajectories]
    number = {id(t): n for n, t in enumerate(everybody)}
    own: dict[int, tuple[float, float]] = {}
    for mine, batches, looked in scored:
        for batch, known in zip(batches, looked, strict=True):
            if bool(batch.mask.any()):
                own |= {number[id(mine[row])]: means for row, means in _means(batch, known).items()}
    told: dict[int, tuple[float, float]] = {}
    for piece in gather(own):
        told |= piece
    weights: dict[int, float] = {}
    for group in groups:
        members = [(t, succeeded(t, group.success_threshold)) for t in group.trajectories]
        counted = [(t, ok) for t, ok in members if ok is not None and number[id(t)] in told]
        student, teacher = ([told[number[id(t)]][column] for t, _ in counted] for column in (0, 1))
        found = scope_weights(weighting, [ok for _, ok in counted], student, teacher)
        weights |= {id(t): weight for (t, _), weight in zip(counted, found, strict=True)}
    return weights


def _means(batch: TokenBatch, known: KnownTokens) -> dict[int, tuple[float, float]]:
    """Mean log-probability per token of each sequence, under the policy before the step and under the teacher."""
    if known.before is None or known.teacher is None:
        raise ValueError("the weighting scope needs the scores of policy and teacher: neither was computed")
    counts = sequence_sum(torch.ones_like(known.before, dtype=torch.float64), batch.sequence)
    student = sequence_sum(known.before.double(), batch.sequence) / counts
    teacher = sequence_sum(known.teacher.double(), batch.sequence) / counts
    return {
        row: (own, theirs)
        for row, own, theirs in zip(batch.sequence.tolist(), student.tolist(), teacher.tolist(), strict=True)
    }


def _by_token(batch: TokenBatch, values: list[float]) -> Tensor:
    if not bool(batch.mask.any()):
        return batch.advantages.new_zeros(len(batch.mask))
    return batch.advantages.new_tensor(values)[batch.sequence]
