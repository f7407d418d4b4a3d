"""Writes advantages into trajectories."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from trainer_core.episodes import Group
from trainer_core.methods.advantages import compute
from trainer_core.methods.advantages.assign_vine import assign_vine
from trainer_core.methods.advantages.inputs import Inputs
from trainer_core.methods.advantages.mc_grpo import pivots
from trainer_core.rewards.parts import SHAPING_PARTS
from trainer_core.spec.methods.advantage import Advantage, GDPOAdvantage, MCGRPOAdvantage
from trainer_core.spec.methods.branching import VineAdvantage
from trainer_core.spec.methods.kinds import ComparingAdvantage


def assign(
    spec: Advantage,
    groups: list[Group],
    *,
    minibatches: int = 1,
    importance: Mapping[int, float] | None = None,
    penalties: Mapping[int, float] | None = None,
) -> None:
    """Set ``advantage`` of every trajectory from its group's rewards.

    Trajectories without a reward (it failed) are excluded as "reward_error", are ignored in their group and get 0.
    Trajectories excluded for another reason, such as truncation, still count, unless they are marked as not compared
    (``mark_compared``). MC-GRPO's pivots are excluded as "pivot". VinePPO gives each token its own advantage
    (``assign_vine``).

    Args:
        spec: the method.
        groups: all groups of the step.
        minibatches: how many optimizer updates the groups are split into, in order.
        importance: the importance of each trajectory, by its running number over all groups: its probability under the
            learner / under the engine. Missing entries are unknown; by default all are 1.
        penalties: amount subtracted from each trajectory's reward before comparison, by the same numbers. Missing
            entries are unknown, and their trajectories are ignored; by default all are 0.

    Raises:
        ValueError: a reward is NaN or infinite, or a part that the method needs is missing; nothing was written.
    """
    width = max((len(group.trajectories) for group in groups), default=0)
    if width == 0:
        return
    rewards, mask = known_rewards(groups, penalties)
    lengths = torch.zeros_like(rewards)
    weights = torch.ones_like(rewards) if importance is None else torch.zeros_like(rewards)
    number = 0
    for row, group in enumerate(groups):
        for column, trajectory in enumerate(group.trajectories):
            lengths[row, column] = int(trajectory.sampled.sum())
            if importance is not None:
                weights[row, column] = importance.get(number, 0.0)
            number += 1
    parts, part_weights = _parts(spec, groups, mask) if isinstance(spec, GDPOAdvantage) else (None, None)
    inputs = Inputs(lengths, parts, part_weights, _minibatch(len(groups), minibatches), weights)
    advantages = compute(spec, rewards, mask, inputs).tolist()
    left_out = pivots(rewards, mask) if isinstance(spec, MCGRPOAdvantage) else torch.zeros_like(mask)
    for row, group in enumerate(groups):
        for column, trajectory in enumerate(group.trajectories):
            trajectory.earn(advantages[row][column])
            if trajectory.reward is None:
                trajectory.exclude("reward_error")
            elif bool(left_out[row, column]):
                trajectory.exclude("pivot")
    if isinstance(spec, VineAdvantage):
        assign_vine(spec, groups)


def mark_compared(spec: Advantage, groups: Sequence[Group]) -> None:
    """Set ``compared`` of every trajectory, by the reasons to leave it out that are known before rewards are compared.

    Args:
        spec: the method; ``counted`` decides.
        groups: all groups, after the filters that do not look at rewards.
    """
    learned = isinstance(spec, ComparingAdvantage) and spec.counted == "learned"
    for group in groups:
        for trajectory in group.trajectories:
            counts = not learned or (trajectory.excluded is None and bool(trajectory.sampled.any()))
            trajectory.credit = replace(trajectory.credit, compared=counts)


def known_rewards(groups: Sequence[Group], penalties: Mapping[int, float] | None = None) -> tuple[Tensor, Tensor]:
    """Rewards [G, S], float64, and which of them are known and compared, bool [G, S]; S is the largest group's size.

    Args:
        groups: all groups of the step.
        penalties: see ``assign``.

    Raises:
        ValueError: a reward is NaN or infinite.
    """
    width = max((len(group.trajectories) for group in groups), default=0)
    rewards = torch.zeros(len(groups), width, dtype=torch.float64)
    mask = torch.zeros(len(groups), width, dtype=torch.bool)
    number = -1
    for row, group in enumerate(groups):
        for column, trajectory in enumerate(group.trajectories):
            number += 1
            penalty = 0.0 if penalties is None else penalties.get(number)
            if penalty is None or trajectory.reward is None or trajectory.excluded == "reward_error":
                continue
            if not trajectory.credit.compared:
                continue
            if not math.isfinite(trajectory.reward):
                raise ValueError(f"the reward of {trajectory.trajectory_id} is {trajectory.reward}")
            rewards[row, column] = trajectory.reward - penalty
            mask[row, column] = True
    return rewards, mask


def _minibatch(groups: int, count: int) -> Tensor:
    """The minibatch number of each group, split as the learner does it (``update/packed/sharding.py``)."""
    edges = [round(index * groups / count) for index in range(count + 1)]
    return torch.tensor([sum(edge <= row for edge in edges[1:]) for row in range(groups)])


def _parts(spec: GDPOAdvantage, groups: Sequence[Group], mask: Tensor) -> tuple[Tensor, Tensor]:
    """Reward parts [G, S, K] and their weights [K], in the order of their names."""
    everybody = [trajectory for group in groups for trajectory in group.trajectories]
    names = sorted({name for trajectory in everybody for name in trajectory.verdict.parts})
    unknown = sorted(set(spec.weights) - set(names))
    if bool(mask.any()) and (unknown or not names):
        raise ValueError(f"GDPO: the rewards have no part {unknown[0]!r}" if unknown else "GDPO: no reward has parts")
    parts = torch.zeros(*mask.shape, len(names), dtype=torch.float64)
    for row, group in enumerate(groups):
        # A part that does not apply to the group's row cannot distinguish its samples.
        held = {name for trajectory in group.trajectories for name in trajectory.verdict.parts}
        for column, trajectory in enumerate(group.trajectories):
            if not mask[row, column] or trajectory.verdict.error is not None:
                # A failure that the run scores as zero has zeros for its parts, too.
                continue
            for index, name in enumerate(names):
                # Shaping that did not apply to a sample changed nothing; a grade must exist.
                absent = name in SHAPING_PARTS or name not in held
                value = trajectory.verdict.parts.get(name, 0.0 if absent else None)
                if value is None:
                    raise ValueError(f"GDPO: {trajectory.trajectory_id} has no reward part {name!r}")
                parts[row, column, index] = value
    return parts, torch.tensor([spec.weights.get(name, 1.0) for name in names], dtype=torch.float64)
