"""Arithmetic of a run's step, and the time that it would take at a machine's peak."""

from collections.abc import Iterable
from dataclasses import dataclass

from trainer_core.planning.attained import GENERATED, LEARNED
from trainer_core.trajectory import Group


@dataclass(frozen=True, slots=True)
class Peaks:
    """Floating-point operations per second, measured, of all devices that a run computes on."""

    engine: float
    """Operations in the number type of the engine."""
    learner: float
    """Operations in that of the learner."""


def learned_tokens(groups: Iterable[Group], share_prompts: bool) -> int:
    """Tokens that the learner computes with: those of trajectories that take part, and their prompts.

    Args:
        groups: a step's.
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
        parameters: active ones of the policy.
        generated: sampled tokens.
        learned: learned tokens.
        peaks: the run's devices.
        seconds: the step's time.
    """
    ideal = GENERATED * parameters * generated / peaks.engine + LEARNED * parameters * learned / peaks.learner
    return ideal / seconds
