"""Advantages that need the learner's own scores of the step: off-policy baselines and token filters.

They are computed between the first scoring and the first update. Every rank gathers the scores of the others, so that
all ranks make the same choice for any sharding.
"""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from trainer_core.episodes import Group, Trajectory
from trainer_core.methods.advantages.assign import assign
from trainer_core.methods.aggregation import Denominators
from trainer_core.methods.filters import keep, token_filters
from trainer_core.spec import RunSpec
from trainer_core.update.collectives import data_rank, gather
from trainer_core.update.packed.packing import TokenBatch

Minibatch = tuple[list[Trajectory], list[TokenBatch], Denominators]
"""This rank's trajectories, packed, and the counts of all ranks."""


def needs_scores(spec: RunSpec) -> bool:
    """Whether the step must be scored before its first update, even if there is only one."""
    return spec.advantage.needs_scores or bool(token_filters(spec.filters))


def whole_step(spec: RunSpec) -> str | None:
    """Reason, in one sentence, why ``spec`` needs all groups of a step for its advantages; None if it does not."""
    advantage = spec.advantage
    if advantage.compares == "value":
        return f"the advantage {advantage.type} cannot be streamed: it needs the critic's values of the whole step"
    if not advantage.groupwise:
        return f"the advantage {advantage.type} cannot be streamed: it depends on the whole batch"
    if needs_scores(spec):
        return "the advantages cannot be streamed: they need the learner's scores of the whole step"
    comparing = next((chosen.type for chosen in spec.filters if chosen.whole_step), None)
    if comparing is not None:
        return f"the filter {comparing} cannot be streamed: it compares across the whole step"
    return None


def refine(plan: list[Minibatch], groups: Sequence[Group], spec: RunSpec) -> list[Minibatch]:
    """The plan with the advantages that follow from the scores in this rank's trajectories. Collective.

    Args:
        plan: every minibatch of the step, scored.
        groups: all groups of the step, on every rank.
        spec: the spec of the step.
    """
    if spec.advantage.needs_scores:
        plan = _off_policy(plan, groups, spec)
    for chosen in token_filters(spec.filters):
        filtered: list[Minibatch] = []
        for mine, batches, whole in plan:
            columns = [_columns(mine, batch) for batch in batches]
            own = _joined(columns)
            pieces = gather(own)
            verdict = keep(chosen, *(torch.cat([piece[n] for piece in pieces]) for n in range(3)))
            start = sum(len(piece[0]) for piece in pieces[: data_rank()])
            kept = verdict[start : start + len(own[0])].split([len(column[0]) for column in columns])
            filtered.append((mine, [_without(batch, part) for batch, part in zip(batches, kept, strict=True)], whole))
        plan = filtered
    return plan


def _off_policy(plan: list[Minibatch], groups: Sequence[Group], spec: RunSpec) -> list[Minibatch]:
    """Advantages against a baseline that accounts for how far the learner has moved from each sample's policy."""
    number = {id(t): n for n, t in enumerate(t for group in groups for t in group.trajectories)}
    own = {number[id(t)]: _importance(t) for mine, _, _ in plan for t in mine}
    importance: dict[int, float] = {}
    for piece in gather(own):
        importance |= piece
    assign(spec.advantage, list(groups), minibatches=spec.schedule.updates_per_step, importance=importance)
    return [(mine, [reassigned(mine, batch) for batch in batches], whole) for mine, batches, whole in plan]


def _importance(trajectory: Trajectory) -> float:
    assert trajectory.learner_logprobs is not None
    sampled = trajectory.sampled
    difference = trajectory.learner_logprobs[sampled].astype("float64") - trajectory.behaviour_logprobs[sampled]
    return float(torch.tensor(difference.sum()).clamp(max=50.0).exp())


def reassigned(mine: list[Trajectory], batch: TokenBatch) -> TokenBatch:
    """The micro-batch with the current advantages of its trajectories."""
    if not bool(batch.mask.any()):
        return batch
    values = torch.tensor([trajectory.advantage for trajectory in mine], dtype=batch.advantages.dtype)
    return replace(batch, advantages=values.to(batch.sequence.device)[batch.sequence])


def _columns(mine: list[Trajectory], batch: TokenBatch) -> tuple[Tensor, Tensor, Tensor]:
    """Log-probability, entropy and reward of the predicted tokens, each [M]; empty if no token counts."""
    if not bool(batch.mask.any()):
        return torch.zeros(0), torch.zeros(0), torch.zeros(0)
    logprobs, entropies, rewards = [], [], []
    for sequence, offset in zip(batch.sequence.tolist(), batch.offset.tolist(), strict=True):
        trajectory = mine[sequence]
        assert trajectory.learner_logprobs is not None and trajectory.entropy is not None
        logprobs.append(float(trajectory.learner_logprobs[offset]))
        entropies.append(float(trajectory.entropy[offset]))
        rewards.append(0.0 if trajectory.reward is None else trajectory.reward)
    return torch.tensor(logprobs), torch.tensor(entropies), torch.tensor(rewards)


def _joined(columns: list[tuple[Tensor, Tensor, Tensor]]) -> tuple[Tensor, Tensor, Tensor]:
    empty = torch.zeros(0)
    logprobs, entropies, rewards = (torch.cat([empty, *(column[n] for column in columns)]) for n in range(3))
    return logprobs, entropies, rewards


def _without(batch: TokenBatch, kept: Tensor) -> TokenBatch:
    if not len(kept):
        return batch
    return replace(batch, advantages=batch.advantages.masked_fill(~kept.to(batch.advantages.device), 0.0))
