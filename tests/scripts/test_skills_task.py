"""The bench's second task: its calculations are exact, its noisy labels are those that are listed."""

import random
from typing import Any

import pytest

from tests.bench.skills.demonstrations import CAREFUL, CARELESS, draw_texts
from tests.bench.skills.families import Problem, draw_problem, sources
from tests.bench.skills.goldilocks_page import tokens_to
from tests.bench.skills.page import explain_hidden, judge
from tests.bench.skills.rows import NOISE, ROWS, held_out_problems, noisy_rows, training_problems, training_rows


@pytest.mark.parametrize(
    ("problem", "prompt", "words", "answer"),
    [
        (Problem("sum", (4, 8, 5)), "a4b8c5=", ["b812", "c517"], "17"),
        (Problem("chain", (4, 8, 5), "*-"), "a4b*8c-5=", ["b*82", "c-57"], "7"),
        (Problem("chain", (1, 2, 3), "-+"), "a1b-2c+3=", ["b-29", "c+32"], "2"),
        (Problem("sort", (5, 2, 8)), "s528=", ["25", "258"], "258"),
    ],
)
def test_problems_are_worked_out_step_by_step(problem: Problem, prompt: str, words: list[str], answer: str) -> None:
    assert (problem.prompt, problem.words(problem.states()), problem.answer) == (prompt, words, answer)


def test_a_slip_is_carried_on_to_the_end() -> None:
    states = Problem("sum", (4, 8, 5)).states([True, False], random.Random(0))
    assert states[0] in {"2", "11", "13", "22"}
    assert int(states[1]) == int(states[0]) + 5


@pytest.mark.parametrize("source", sources())
def test_every_slip_makes_another_state(source: str) -> None:
    rng = random.Random(1)
    for _ in range(100):
        problem = draw_problem(rng, source)
        last = [False] * (len(problem.digits) - 2) + [True]
        assert problem.states(last, rng)[-1] != problem.answer


@pytest.mark.parametrize("source", sources())
def test_wrong_labels_are_the_listed_ones(source: str) -> None:
    rows, problems, listed = training_rows(source), training_problems(source), noisy_rows(source)
    wrong = {number for number, row in enumerate(rows) if row["answer"] != problems[number].answer}
    assert wrong == set(listed)
    assert len(wrong) == round(NOISE * ROWS)
    assert {row["source"] for row in rows} == {source}
    assert len({row["prompt"] for row in rows}) == ROWS


def test_nothing_that_is_held_out_is_trained_on() -> None:
    trained = {problem.prompt for source in sources() for problem in training_problems(source)}
    held_out = held_out_problems(24)
    assert not trained & {problem.prompt for problem in held_out}
    assert [problem.source for problem in held_out[::24]] == sources()
    shown = {prompt for prompt, _ in draw_texts(CARELESS, random.Random(2), 200)}
    assert not shown & {problem.prompt for problem in held_out}


def test_the_careless_worker_guesses_slips_and_hedges_and_the_careful_one_works() -> None:
    careless = [text for _, text in draw_texts(CARELESS, random.Random(3), 2000)]
    careful = [text for _, text in draw_texts(CAREFUL, random.Random(3), 2000)]
    assert sum("<think>" not in text for text in careless) == pytest.approx(0.4 * 2000, rel=0.1)
    assert sum("<think>" not in text for text in careful) == pytest.approx(0.1 * 2000, rel=0.2)
    assert sum("|" in text for text in careless) == pytest.approx(0.06 * 2000, rel=0.3)


def test_methods_are_told_apart_by_the_interval_of_their_difference() -> None:
    verdict = judge([0.90, 0.92, 0.91], [0.70, 0.72, 0.71])
    assert verdict.difference == pytest.approx(0.2)
    # Pooled deviation 0.01, t = 2.776 with four degrees of freedom.
    assert verdict.half_width == pytest.approx(2.776 * 0.01 * (2 / 3) ** 0.5)
    assert verdict.told_apart
    assert not judge([0.90, 0.92, 0.91], [0.80, 0.99, 0.85]).told_apart  # not surely
    assert not judge([0.901, 0.902, 0.903], [0.881, 0.882, 0.883]).told_apart  # not visibly
    assert not judge([0.7], [0.2]).told_apart  # one seed tells nothing
    assert not judge([0.2, 0.2, 0.2], [0.7, 0.7, 0.7]).told_apart  # the broken one is better


@pytest.mark.parametrize(("judged", "told", "explained"), [(3, 0, True), (2, 0, False), (0, 0, False), (3, 1, False)])
def test_only_what_is_measured_is_explained(judged: int, told: int, explained: bool) -> None:
    assert bool(explain_hidden(3, judged, told)) == explained


def test_tokens_to_a_target_are_read_between_evaluations() -> None:
    def course(*shares: float) -> dict[str, Any]:
        found = {str(5 * place): {"right": {"sum_1": share, "sum_2": share}} for place, share in enumerate(shares)}
        return {"tokens": [10, 10, 10, 10, 10, 20, 20, 20, 20, 20], "evaluations": found}

    assert tokens_to(0.5, [course(0.4, 0.6, 0.7)]) == 25.0
    assert tokens_to(0.7, [course(0.4, 0.6, 0.8)]) == pytest.approx(100.0)
    assert tokens_to(0.7, [course(0.4, 0.5, 0.7), course(0.4, 0.7, 0.9)]) == pytest.approx(100.0)
    assert tokens_to(0.9, [course(0.4, 0.6, 0.8)]) is None
    assert tokens_to(0.5, [course(0.4, 0.6, 0.45)]) == 25.0, "once it was there"
