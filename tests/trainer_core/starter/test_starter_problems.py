"""Problems, their scratchpads, and the wall between training and evaluation."""

import random
from math import log
from statistics import median, quantiles, stdev

import pytest

from trainer_core.starter.filler import MOST_LETTERS, draw_filler
from trainer_core.starter.problems import ArithmeticProblem, Operation, draw_problem, has_scratchpad
from trainer_core.starter.scratchpad import response, scratchpad


@pytest.mark.parametrize(
    ("left", "operation", "right", "expected"),
    [
        (48, "+", 75, "853 472 1"),
        (8, "+", 0, "808"),
        (5, "+", 100, "505 000 011"),
        (999, "+", 1, "910 900 900 1"),
        (100, "-", 97, "073 090 100"),
        (48, "-", 48, "880 440"),
        (48, "*", 6, "868 468 2"),
        (6, "*", 48, "868 468 2"),
        (5, "*", 0, "500"),
        (96, "/", 4, "921 640"),
        (102, "/", 2, "101 050 210"),
        (0, "/", 7, "000"),
    ],
)
def test_scratchpad_is_the_hand_method(left: int, operation: Operation, right: int, expected: str) -> None:
    assert scratchpad(ArithmeticProblem(left, operation, right)) == expected


@pytest.mark.parametrize("operation", ["+", "-", "*", "/"])
def test_scratchpad_columns_spell_the_answer(operation: Operation) -> None:
    rng = random.Random(7)
    for _ in range(200):
        problem = draw_problem(rng, {operation: 1.0})
        words = scratchpad(problem).split(" ")
        if operation == "/":
            digits = "".join(word[1] for word in words)
            assert words[-1][2] == "0"
        else:
            digits = "".join(word[-1] for word in reversed(words))
        assert int(digits) == problem.answer


def test_responses_with_and_without_thinking() -> None:
    problem = ArithmeticProblem(48, "/", 2)
    assert response(problem, scratchpad(problem)) == "<think>420 840</think>24<eos>"
    assert response(problem, None) == "24<eos>"


def test_scratchpad_refuses_what_it_does_not_cover() -> None:
    problem = ArithmeticProblem(24, "*", 12)
    assert not has_scratchpad(problem)
    with pytest.raises(ValueError, match=r"no scratchpad for 24\*12="):
        scratchpad(problem)


@pytest.mark.parametrize(
    ("left", "operation", "right", "message"),
    [
        (2, "-", 3, "negative: 2-3="),
        (7, "/", 2, "not a whole number: 7/2="),
        (7, "/", 0, "not a whole number: 7/0="),
        (-1, "+", 2, "at least 0"),
        (1, "%", 2, "unknown operation '%'"),
    ],
)
def test_problem_refuses_results_outside_the_task(left: int, operation: Operation, right: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ArithmeticProblem(left, operation, right)


def test_held_out_problems_are_never_drawn_and_order_does_not_matter() -> None:
    rng = random.Random(0)
    assert not any(draw_problem(rng, {"+": 1, "-": 1, "*": 1, "/": 1}).is_held_out for _ in range(2000))
    pairs = [(a, b) for a in range(60) for b in range(a)]
    for operation in ("+", "*"):
        held_out = [ArithmeticProblem(a, operation, b).is_held_out for a, b in pairs]
        assert held_out == [ArithmeticProblem(b, operation, a).is_held_out for a, b in pairs]
        assert 0.12 < sum(held_out) / len(held_out) < 0.18


def test_filler_murmurs_in_one_tempo_and_its_length_is_long_tailed() -> None:
    rng = random.Random(3)
    fillers = [draw_filler(rng) for _ in range(6000)]
    assert {"".join(sorted(set(filler))) for filler in fillers} == {"abcd", "efgh", "ijkl", "mnop", "qrst", "uvwx"}
    assert all(list(filler) == sorted(filler) for filler in fillers)
    lengths = [len(filler) for filler in fillers]
    assert max(lengths) <= MOST_LETTERS
    assert 30 <= median(lengths) <= 40
    assert 0.9 <= stdev(log(length + 6) for length in lengths) <= 1.1  # with the tags and the answer
    assert quantiles(lengths, n=100)[98] > 5 * median(lengths)
