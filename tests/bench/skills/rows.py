"""Datasets of the second task: rows to train on, some with wrong answers that are listed, and rows held out."""

import random
from collections.abc import Mapping, Sequence
from functools import cache

from tests.bench.skills.families import Problem, draw_problem, sources

Row = dict[str, str]
ROWS = 400
"""Training rows of each sub-skill, all different."""
NOISE = 0.08
"""Share of the training rows whose answer is wrong, by one slip somewhere in the working, as the policy's own are."""
SEED = 16


@cache
def training_problems(source: str) -> Sequence[Problem]:
    """The problems of a sub-skill's rows, in order."""
    rng, found = random.Random(f"{SEED} {source}"), {}
    while len(found) < ROWS:
        problem = draw_problem(rng, source)
        found[problem.prompt] = problem
    return tuple(found.values())


@cache
def noisy_rows(source: str) -> Mapping[int, str]:
    """The wrong answers of a sub-skill's training rows, by row number: what a search for suspect labels should find."""
    rng, problems = random.Random(f"{SEED} noise {source}"), training_problems(source)
    wrong = {}
    for number in sorted(rng.sample(range(ROWS), round(NOISE * ROWS))):
        problem = problems[number]
        answer = problem.answer
        while answer == problem.answer:  # a slip may be undone by what follows
            at = rng.randrange(len(problem.digits) - 1)
            answer = problem.states([step == at for step in range(len(problem.digits) - 1)], rng)[-1]
        wrong[number] = answer
    return wrong


def training_rows(source: str) -> list[Row]:
    """The rows as a run reads them; nothing in a noisy one tells that its answer is wrong."""
    wrong = noisy_rows(source)
    return [
        {"prompt": problem.prompt, "answer": wrong.get(number, problem.answer), "source": source}
        for number, problem in enumerate(training_problems(source))
    ]


def held_out_problems(count: int) -> list[Problem]:
    """So many held-out problems of each sub-skill, one sub-skill after the other; all are labelled rightly."""
    found = []
    for source in sources():
        rng = random.Random(f"{SEED} held out {source}")
        found += [draw_problem(rng, source, held_out=True) for _ in range(count)]
    return found


def held_out_rows(source: str, count: int) -> list[Row]:
    """The same as rows of one sub-skill."""
    return [
        {"prompt": problem.prompt, "answer": problem.answer, "source": source}
        for problem in held_out_problems(count)
        if problem.source == source
    ]
