"""The predefined warm-ups: full, teacher, quick (for tests), and with long-tailed lengths (for benchmarks)."""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from trainer_core.starter.filler import LONGEST_RESPONSE, draw_filler
from trainer_core.starter.problems import ArithmeticProblem, Operation, draw_problem
from trainer_core.starter.scratchpad import response, scratchpad
from trainer_core.starter.warmup import Act, DrawTexts

# Products and quotients are seen but not mastered: they are the harder sources that a curriculum can mix in.
SHARES: dict[Operation, float] = {"+": 3.0, "-": 3.0, "*": 0.5, "/": 0.5}


BLURTING_SHARE = 0.6
"""Share of the targets of act two that answer without thinking."""
IDLING_SHARE = 0.5
"""The same with long-tailed lengths: they murmur, but do not use the scratchpad."""


@dataclass(frozen=True, slots=True)
class WarmupPlan:
    """The two acts of a warm-up, and the measurement of its outcome."""

    think: Act
    blend: Act
    max_new_tokens: int = 32
    measured_problems: int = 256
    long_tail: bool = False
    teacher: bool = False
    """Whether the policy will be a teacher: its second act shows only responses that think."""


def full_plan() -> WarmupPlan:
    """The warm-up of the shipped starter policy: under a minute on one core.

    Act one blurts occasionally, so that act two only shifts a habit. Otherwise its first steps undo much of act one.
    """
    return WarmupPlan(
        think=Act(400, 48, _short(blurting=0.05), matrix_learning_rate=0.04, learning_rate=4e-3),
        blend=Act(50, 48, _short(blurting=BLURTING_SHARE), matrix_learning_rate=0.01, learning_rate=2e-3),
    )


def teacher_plan() -> WarmupPlan:
    """The warm-up of a teacher for the starter policy, which keeps thinking instead of learning to blurt."""
    plan = full_plan()
    return replace(plan, blend=replace(plan.blend, draw_texts=_short(blurting=0.0)), teacher=True)


def long_tail_plan() -> WarmupPlan:
    """The same two acts with long-tailed lengths: every response of act two murmurs, most without the scratchpad."""
    plan = full_plan()
    return WarmupPlan(
        # A few murmurs are enough to learn the letters early; all of them would double the time.
        think=replace(plan.think, draw_texts=_long(idling=0.05, murmuring=0.3), cut_by="response", pool=8),
        blend=Act(60, 48, _long(IDLING_SHARE, murmuring=1.0), 0.01, 2e-3, cut_by="response", pool=8),
        max_new_tokens=LONGEST_RESPONSE,
        measured_problems=128,
        long_tail=True,
    )


def quick(plan: WarmupPlan) -> WarmupPlan:
    """The same path in a few seconds: it ends long before the policy can calculate."""
    return replace(
        plan,
        think=replace(plan.think, steps=12, batch_size=16),
        blend=replace(plan.blend, steps=4, batch_size=16),
        measured_problems=16,
    )


def _short(blurting: float) -> DrawTexts:
    def write(problem: ArithmeticProblem, rng: random.Random) -> str:
        return response(problem, None if rng.random() < blurting else scratchpad(problem))

    return _drawn(write)


def _long(idling: float, murmuring: float) -> DrawTexts:
    def write(problem: ArithmeticProblem, rng: random.Random) -> str:
        if rng.random() < idling:
            return response(problem, draw_filler(rng))
        murmur = f" {draw_filler(rng)}" if rng.random() < murmuring else ""
        return response(problem, scratchpad(problem) + murmur)

    return _drawn(write)


def _drawn(write: Callable[[ArithmeticProblem, random.Random], str]) -> DrawTexts:
    """Draw problems and write their texts. All problems are drawn before the first response is written."""

    def draw(rng: random.Random, count: int) -> list[tuple[str, str]]:
        problems = [draw_problem(rng, SHARES) for _ in range(count)]
        return [(problem.prompt, write(problem, rng)) for problem in problems]

    return draw
