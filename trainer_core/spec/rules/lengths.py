"""Rules between a run's lengths: thinking budgets, length shaping, length windows."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainer_core.spec.generation.length_window import CyclicWindow, StagedWindow
from trainer_core.spec.generation.per_prompt import SampledTokens
from trainer_core.spec.generation.thinking import TaggedThinking
from trainer_core.spec.rewards.length_shaping import (
    DecoupledLength,
    DifficultyAwareLength,
    GRPOLambdaLength,
    KimiLength,
    L1ExactLength,
    L1MaxLength,
    MagistralLength,
)
from trainer_core.spec.rewards.reward import OverlongShaping

if TYPE_CHECKING:
    from trainer_core.spec.run import RunSpec

Path = tuple[str | int, ...]


def thinking_budgets(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """Budgets that never bite, interruptions that never come."""
    thinking = spec.thinking
    if not isinstance(thinking, TaggedThinking):
        return
    if thinking.forced_end is not None and thinking.interruptions:
        yield ("thinking", "forced_end"), "the interruptions replace it: remove one of the two"
    for index, phrase in enumerate(thinking.interruptions):
        if not thinking.ends(phrase):
            yield ("thinking", "interruptions", index), f"it must {thinking.how_to_end}"
    bounded = thinking.budget is not None or thinking.prompt_budget is not None
    if thinking.interruptions and not bounded:
        yield ("thinking", "interruptions"), "without a budget, nothing is ever interrupted"
    if thinking.answer_start is not None and bounded and thinking.forced_end is None and not thinking.interruptions:
        yield (
            ("thinking", "forced_end"),
            f"answer_start and a budget need one: it must {thinking.how_to_end}",
        )
    own = thinking.prompt_budget
    if isinstance(own, SampledTokens):
        if own.max >= spec.rollout.max_tokens:
            yield (
                ("thinking", "prompt_budget", "max"),
                f"a budget of {own.max} never applies: max_tokens is {spec.rollout.max_tokens}",
            )
        if thinking.budget is not None and own.min > thinking.budget:
            yield (
                ("thinking", "prompt_budget", "min"),
                f"every budget of the range is above the upper limit of {thinking.budget}",
            )


def length_shaping(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """Ramps without room, targets out of reach, penalties given twice."""
    shaping, longest = spec.reward.length, spec.rollout.max_tokens
    if isinstance(shaping, MagistralLength | DifficultyAwareLength):
        if shaping.buffer >= longest:
            yield (
                ("reward", "length", "buffer"),
                f"the buffer ({shaping.buffer}) must be shorter than max_tokens ({longest})",
            )
        if spec.reward.overlong is not None:
            yield ("reward", "overlong"), f"{shaping.type} penalises the same ramp: remove one of the two"
    if isinstance(shaping, L1ExactLength | L1MaxLength):
        target = shaping.target
        if isinstance(target, SampledTokens) and target.max > longest:
            yield (
                ("reward", "length", "target", "max"),
                f"a target of {target.max} cannot be reached: max_tokens is {longest}",
            )
        if target.tell is None:
            yield (
                ("reward", "length", "target", "tell"),
                ("a policy that does not see the target cannot learn to meet it: set tell"),
            )
    if isinstance(shaping, DecoupledLength | GRPOLambdaLength | KimiLength) and spec.rollout.group_size == 1:
        yield ("reward", "length"), f"{shaping.type} compares the samples of a group: it needs at least 2"
    if isinstance(shaping, DecoupledLength) and spec.advantage.compares == "value":
        yield (
            ("reward", "length"),
            f"decoupled weights advantages of samples; {spec.advantage.type} has one per token",
        )


def length_window(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """Windows wider than the maximum length, or narrower than a ramp."""
    window, longest = spec.length_window, spec.rollout.max_tokens
    if isinstance(window, StagedWindow) and window.stages[-1] > longest:
        yield (
            ("length_window", "stages", len(window.stages) - 1),
            f"the last stage ({window.stages[-1]}) must not be above max_tokens ({longest})",
        )
    if isinstance(window, CyclicWindow) and window.max > longest:
        yield (
            ("length_window", "max"),
            f"the widest window ({window.max}) must not be above max_tokens ({longest})",
        )
    narrowest = _narrowest_window(spec)
    buffers = {"overlong": spec.reward.overlong, "length": spec.reward.length}
    for name, part in buffers.items():
        if not isinstance(part, OverlongShaping | MagistralLength | DifficultyAwareLength):
            continue
        if narrowest <= part.buffer < longest:
            yield (
                ("reward", name, "buffer"),
                f"the buffer ({part.buffer}) must be shorter than the narrowest window ({narrowest})",
            )


def _narrowest_window(spec: "RunSpec") -> int:
    match spec.length_window:
        case StagedWindow(stages=stages):
            return stages[0]
        case CyclicWindow(min=narrowest):
            return narrowest
    return spec.rollout.max_tokens
