"""The ready-made warm-ups: full, quick (for tests), and with long-tailed response lengths (for benchmarks)."""

import random
from dataclasses import dataclass, replace

from trainer_core.starter.filler import LONGEST_RESPONSE, draw_filler
from trainer_core.starter.problems import Operation, Problem
from trainer_core.starter.scratchpad import response, scratchpad
from trainer_core.starter.warmup import Act, WriteResponse

# Products and quotients are met, not mastered: they are the harder sources that a curriculum can mix in.
SHARES: dict[Operation, float] = {"+": 3.0, "-": 3.0, "*": 0.5, "/": 0.5}


@dataclass(frozen=True, slots=True)
class Plan:
    """The two acts of a warm-up, and how its outcome is measured."""

    think: Act
    blend: Act
    max_new_tokens: int = 32
    measured_problems: int = 256
    long_tail: bool = False


def full_plan() -> Plan:
    """The warm-up of the shipped starter policy: under a minute on one core."""
    return Plan(
        think=Act(400, 48, SHARES, _short(blurting=0.05), matrix_learning_rate=0.04, learning_rate=4e-3),
        blend=Act(50, 48, SHARES, _short(blurting=0.6), matrix_learning_rate=0.01, learning_rate=2e-3),
    )


def long_tail_plan() -> Plan:
    """Like the full plan, but every response thinks on for a lognormal while; some do so without the scratchpad."""
    plan = full_plan()
    return replace(
        plan,
        think=replace(plan.think, write_response=_long(idling=0.05)),
        blend=replace(plan.blend, write_response=_long(idling=0.6)),
        max_new_tokens=LONGEST_RESPONSE,
        long_tail=True,
    )


def quick(plan: Plan) -> Plan:
    """The same path in a few seconds: it ends long before the policy can calculate."""
    return replace(
        plan,
        think=replace(plan.think, steps=12, batch_size=16),
        blend=replace(plan.blend, steps=4, batch_size=16),
        measured_problems=16,
    )


def _short(blurting: float) -> WriteResponse:
    def write(problem: Problem, rng: random.Random) -> str:
        return response(problem, None if rng.random() < blurting else scratchpad(problem))

    return write


def _long(idling: float) -> WriteResponse:
    def write(problem: Problem, rng: random.Random) -> str:
        filler = draw_filler(rng)
        return response(problem, filler if rng.random() < idling else f"{scratchpad(problem)} {filler}")

    return write
