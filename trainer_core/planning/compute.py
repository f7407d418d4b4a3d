"""Arithmetic of a run's step, and the time that it would take at a machine's peak."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path

from trainer_core.planning.policy_size import PolicySize, UnknownSize, tensor_shapes
from trainer_core.trajectory import Group

GENERATED, LEARNED = 2, 6
"""Operations per parameter: a multiplication and an addition forward, twice that backward (arXiv 2001.08361, §2.1)."""


@dataclass(frozen=True, slots=True)
class Peaks:
    """Floating-point operations per second, measured, of all devices that a run computes on."""

    engine: float
    """Operations in the number type of the engine."""
    learner: float
    """Operations in that of the learner."""


def active_parameters(folder: Path) -> int:
    """Parameters that one token passes through: of experts, the share that it is sent to. 0 where nothing tells.

    Tied embeddings count once, as the output layer's; an embedding beside an untied head is only looked up, and counts
    too, as in the figures that are published.
    """
    try:
        shapes, size = tensor_shapes(folder), PolicySize.of(folder)
    except (OSError, UnknownSize, ValueError):
        return 0
    routed = [prod(shape) for name, shape in shapes.items() if ".experts." in name]
    experts = max(1, _count_experts(shapes))
    share = min(1.0, size.experts_per_token / experts)
    return round(sum(map(prod, shapes.values())) - sum(routed) * (1.0 - share))


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


def _count_experts(shapes: Mapping[str, tuple[int, ...]]) -> int:
    """Experts of a layer: numbered in the names, or the first dimension of what holds them jointly."""
    numbered = {name.partition(".experts.")[2].partition(".")[0] for name in shapes if ".experts." in name}
    numbers = {number for number in numbered if number.isdigit()}
    if numbers:
        return len(numbers)
    return max((shape[0] for name, shape in shapes.items() if ".experts." in name), default=0)
