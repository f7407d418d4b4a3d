"""Length shaping on the trajectories of a batch."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from trainer_core.episodes import Group, Trajectory
from trainer_core.prompting.plan import length_target
from trainer_core.rewards.length.decoupled import decoupled, length_logit
from trainer_core.rewards.length.difficulty_aware import difficulty_aware
from trainer_core.rewards.length.group import ScoredGroup
from trainer_core.rewards.length.grpo_lambda import grpo_lambda, switched_on
from trainer_core.rewards.length.kimi import kimi
from trainer_core.rewards.length.l1_exact import l1_exact
from trainer_core.rewards.length.l1_max import l1_max
from trainer_core.rewards.length.magistral import magistral
from trainer_core.rewards.outcomes import succeeded
from trainer_core.rewards.parts import LENGTH_PART
from trainer_core.spec.base import SpecModel
from trainer_core.spec.rewards.length_shaping import (
    DecoupledLength,
    DifficultyAwareLength,
    GRPOLambdaLength,
    KimiLength,
    L1ExactLength,
    L1MaxLength,
    LengthShaping,
    MagistralLength,
)
from trainer_core.spec.run import RunSpec

FORMULAS: dict[type[SpecModel], Callable[[Any, ScoredGroup], list[float]] | None] = {
    MagistralLength: magistral,
    L1ExactLength: l1_exact,
    L1MaxLength: l1_max,
    GRPOLambdaLength: grpo_lambda,
    DifficultyAwareLength: difficulty_aware,
    KimiLength: kimi,
    DecoupledLength: None,
}
"""``(spec, group) -> what is added to each reward [S]``; None where advantages are weighed instead (``reweigh``)."""


def shape(groups: Sequence[Group], specs: Sequence[RunSpec]) -> None:
    """Add the length's part to the reward of each trajectory, as ``verdict.parts["length_shaping"]`` too.

    Trajectories whose reward failed are left alone, and so are those that were shaped before: a group that is used
    again keeps its reward.

    Args:
        groups: the whole batch, scored: which groups GRPO-λ picks depends on all of them.
        specs: under which each of them was dispatched, shape [groups]: windows and targets are those of that time.
    """
    known = [_known(group) for group in groups]
    scored = [_scored(*one) for one in zip(groups, known, specs, strict=True)]
    flags = _switched_on(groups, specs, scored)
    for rows, spec, group, on in zip(known, specs, scored, flags, strict=True):
        parts = _parts(spec.reward.length, group) if on else [0.0] * len(rows)
        if parts is None:
            continue
        for (trajectory, _), part in zip(rows, parts, strict=True):
            if LENGTH_PART not in trajectory.verdict.parts and trajectory.reward is not None:
                trajectory.verdict = trajectory.verdict.with_part(LENGTH_PART, part)


def reweigh(groups: Sequence[Group], specs: Sequence[RunSpec]) -> None:
    """Multiply the positive advantages of right answers by their decoupled weights; nothing for other shapings.

    Writes ``length_logit`` too: whoever makes other advantages later weighs those by it, whatever holds by then.
    """
    for group, spec in zip(groups, specs, strict=True):
        shaping = spec.reward.length
        for trajectory in group.trajectories:
            logit = None
            if isinstance(shaping, DecoupledLength):
                logit = length_logit(shaping, trajectory.length, spec.rollout.max_tokens)
            trajectory.credit = replace(trajectory.credit, length_logit=logit)
        for trajectory, weight in advantage_weights(group):
            trajectory.earn(trajectory.advantage * weight)


def advantage_weights(group: Group) -> list[tuple[Trajectory, float]]:
    """The right answers of a group whose advantages are positive, with their decoupled weights; none if lengths weigh
    no advantages."""
    gaining = [(t, t.credit.length_logit) for t, right in _known(group) if right and t.advantage > 0.0]
    rows = [(t, logit) for t, logit in gaining if logit is not None]
    return list(zip([t for t, _ in rows], decoupled([logit for _, logit in rows]), strict=True))


def _known(group: Group) -> list[tuple[Trajectory, bool]]:
    verdicts = ((t, succeeded(t, group.success_threshold)) for t in group.trajectories)
    return [(t, right) for t, right in verdicts if right is not None]


def _scored(group: Group, rows: list[tuple[Trajectory, bool]], spec: RunSpec) -> ScoredGroup:
    return ScoredGroup(
        rewards=[t.reward for t, _ in rows if t.reward is not None],
        lengths=[t.length for t, _ in rows],
        right=[right for _, right in rows],
        cut_off=[t.finish_reason == "length" for t, _ in rows],
        max_tokens=spec.rollout.max_tokens,
        target=length_target(spec, group.item, group.group_id),
    )


def _switched_on(groups: Sequence[Group], specs: Sequence[RunSpec], scored: list[ScoredGroup]) -> list[bool]:
    """Groups in which length counts: all, but for GRPO-λ, whose share is the newest that any group knows of."""
    if not groups:
        return []
    newest = max(range(len(groups)), key=lambda index: groups[index].steering_revision)
    shaping = specs[newest].reward.length
    return switched_on(shaping, scored) if isinstance(shaping, GRPOLambdaLength) else [True] * len(groups)


def _parts(shaping: LengthShaping | None, group: ScoredGroup) -> list[float] | None:
    """The parts of a group's rewards [S]; None where nothing is added to rewards."""
    formula = None if shaping is None else FORMULAS[type(shaping)]
    return None if formula is None else formula(shaping, group)
