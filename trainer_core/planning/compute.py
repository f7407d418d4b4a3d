"""Arithmetic of a run's step, and its time at a machine's peak."""

from collections.abc import Iterable
from dataclasses import dataclass

from trainer_core.episodes import Group
from trainer_core.planning.attained import GENERATED, LEARNED


@dataclass(frozen=True, slots=True)
class Peaks:
    """Measured floating-point operations per second of all devices that a run computes on."""

    engine: float
    """Operations per second in the number type of the engine."""
    learner: float
    """Operations per second in the number type of the learner."""


def learned_tokens(groups: Iterable[Group], share_prompts: bool) -> int:
    """Tokens that the learner processes: those of participating trajectories, and their prompts.

    Args:
        groups: the groups of a step.
        share_prompts: whether a prompt is computed once for its group.
    """
    tokens = 0
    for group in groups:
        kept = [trajectory for trajectory in group.trajectories if trajectory.excluded is None]
        prompts = [len(trajectory.prompt_ids) for trajectory in kept]
        tokens += sum(trajectory.length for trajectory in kept)
        tokens += max(prompts, default=0) if share_prompts else sum(prompts)
    return tokens


def utilisation(parameters: int, generated: float, learned: float, peaks: Peaks, seconds: float) -> float:
    """Time of the arithmetic at the peaks over the time that passed: model FLOP utilisation.

    Args:
        parameters: active parameters of the policy.
        generated: sampled tokens.
        learned: learned tokens.
        peaks: the run's devices.
        seconds: time of the step.
    """
    ideal = GENERATED * parameters * generated / peaks.engine + LEARNED * parameters * learned / peaks.learner
    return ideal / seconds
