"""The answers that the warm-up shows: by a worker who mostly guesses, now and then slips, and sometimes hedges.

The policy learns the worker's habits with the worker's skill, so that there is something to grow in each of them:

- *guess*: the answer at once, which the longer problems leave to luck;
- *skip*: every second state, each of them two steps away from the one before;
- *full*: every state;
- *twice*: all of it, and all of it again, which the longest problems have no room for.

A *hedge* names a second answer behind the first, which no strict reward pays.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from tests.bench.skills.families import Family, Problem, draw_problem, sources
from trainer_core.starter.tokenizer import EOS, THINK_END, THINK_START

Habit = Literal["guess", "skip", "full", "twice"]
LEVELS_MET = {1: 0.4, 2: 0.35, 3: 0.25}
HEDGE = "|"


@dataclass(frozen=True)
class Worker:
    """Who is watched."""

    habits: Mapping[Habit, float]
    slips: Mapping[Family, float]
    """Share of the steps that go wrong."""
    hedges: float
    """Share of the answers that name a second candidate."""
    levels: Mapping[int, float]
    """How often each level is met."""


CAREFUL = Worker(
    {"guess": 0.1, "skip": 0.1, "full": 0.75, "twice": 0.05}, {"sum": 0.0, "chain": 0.0, "sort": 0.0}, 0.01, LEVELS_MET
)
"""Shown first, to learn what a step is."""
CARELESS = Worker(
    {"guess": 0.4, "skip": 0.25, "full": 0.25, "twice": 0.1},
    {"sum": 0.05, "chain": 0.05, "sort": 0.05},
    0.06,
    LEVELS_MET,
)
"""Shown last, whose habits the policy has when a run starts."""


def draw_texts(worker: Worker, rng: random.Random, count: int) -> list[tuple[str, str]]:
    """Random problems that are not held out, each with the worker's response and its end-of-sequence token."""
    names = sources()
    weights = [worker.levels[int(name[-1])] for name in names]
    problems = [draw_problem(rng, source) for source in rng.choices(names, weights, k=count)]
    habits = rng.choices(list(worker.habits), list(worker.habits.values()), k=count)
    return [
        (problem.prompt, respond(problem, habit, worker, rng)) for problem, habit in zip(problems, habits, strict=True)
    ]


def respond(problem: Problem, habit: Habit, worker: Worker, rng: random.Random) -> str:
    """The worker's response in one habit."""
    share = worker.slips[problem.family]
    between = " " if problem.family == "sort" else ""
    words = problem.words
    first, second = _worked(problem, share, rng), _worked(problem, share, rng)
    match habit:
        case "guess":
            thinking, answer = "", problem.answer
        case "skip":
            thinking, answer = f"{THINK_START}{between.join(words(first)[::-1][::2][::-1])}{THINK_END}", first[-1]
        case "full":
            thinking, answer = f"{THINK_START}{between.join(words(first))}{THINK_END}", first[-1]
        case "twice":
            thinking, answer = f"{THINK_START}{between.join(words(first) + words(second))}{THINK_END}", second[-1]
    if rng.random() < worker.hedges:
        other = problem.states([False] * (len(problem.digits) - 2) + [True], rng)[-1]
        pair = [answer, other]
        rng.shuffle(pair)
        answer = HEDGE.join(pair)
    return f"{thinking}{answer}{EOS}"


def _worked(problem: Problem, share: float, rng: random.Random) -> list[str]:
    return problem.states([rng.random() < share for _ in problem.digits[1:]], rng)
