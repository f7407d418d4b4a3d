"""The numeric grader reads numbers, whatever stands around them, and is never taken in."""

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.growth import NOT_QUADRATIC, growth
from tests.trainer_core.rewards.completions import sample
from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.graders.math.numeric import NumericGrader, last_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("24", 24),
        ("The answer is 24.", 24),
        ("first 3, then 24", 24),
        ("$1,234,567", 1234567),
        ("1,234.5", Fraction(2469, 2)),
        ("-7", -7),
        ("−7", -7),
        ("+7", 7),
        ("10-7", 7),
        ("x=-7", -7),
        (".5", Fraction(1, 2)),
        ("-.5", Fraction(-1, 2)),
        ("3/4", Fraction(3, 4)),
        ("-3 / 4", Fraction(-3, 4)),
        ("50%", Fraction(1, 2)),
        ("12.5 %", Fraction(1, 8)),
        ("1e3", 1000),
        ("2.5E-2", Fraction(1, 40)),
        ("1e+300", 10**300),
        ("#### 42", 42),
        ("24kg", 24),
        ("\\boxed{24}", 24),
        ("007", 7),
        ("9" * 500, int("9" * 500)),
        ("0.1", Fraction(1, 10)),
        ("٢٤", 24),
        ("２４", 24),
        ("答えは１２４", 124),
        ("１，２", 2),
        ("5.", 5),
        ("2026-11-21", 21),
    ],
)
def test_reads(text: str, number: Fraction | int) -> None:
    assert last_number(text) == number


@pytest.mark.parametrize("text", ["", "none", "1/0", "nan", "inf", "1e999999999", "-", ".", "%", "x2", "v1.", "²"])
def test_is_no_number(text: str) -> None:
    assert last_number(text) is None


@given(st.integers(-(10**30), 10**30))
def test_reads_every_integer_with_and_without_separators(number: int) -> None:
    assert last_number(str(number)) == number
    assert last_number(f"so it is {number:,}.") == number


@given(st.fractions())
def test_reads_every_fraction(number: Fraction) -> None:
    assert last_number(f"{number.numerator}/{number.denominator}") == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_reads_every_float(number: float) -> None:
    found = last_number(repr(number))
    assert found is not None and float(found) == number


@settings(max_examples=300)
@given(st.text(alphabet="0123456789.,/%eE+-− \n<abc()*_ ", max_size=60))
def test_never_raises(text: str) -> None:
    last_number(text)


NINES = "9" * 3990
LONG = {
    "digits": (NINES, int(NINES)),
    "sign": ("-" + NINES, -int(NINES)),
    "separators": ("-1" + ",234" * 990, -int("1" + "234" * 990)),
    "places": ("0." + NINES, Fraction(int(NINES), 10**3990)),
    "denominator": ("3/" + NINES, Fraction(3, int(NINES))),
    "power": ("5e-" + "0" * 3900 + "2", Fraction(1, 20)),
    "percent": (NINES + " %", Fraction(int(NINES), 100)),
    "prose after it": ("It is 24. " + "That is all. " * 1000, 24),
}


@pytest.mark.parametrize("name", LONG)
def test_a_long_number_is_read_whole(name: str) -> None:
    text, number = LONG[name]
    assert last_number(text) == number
    assert last_number("first 7, then " + text) == number


@pytest.mark.parametrize(
    "text",
    ["9" * 5000, "-" + "9" * 5000, "1" + ",234" * 1250, "0." + "9" * 5000, "3/" + "9" * 5000, "1e-" + "0" * 5000],
    ids=["digits", "sign", "separators", "places", "denominator", "power"],
)
def test_a_number_too_long_to_read_is_none_and_never_read_in_part(text: str) -> None:
    assert last_number(text) is None
    assert last_number("first 7, then " + text) is None
    assert last_number(text + ", no: 7") == 7


HUGE: dict[str, tuple[Callable[[int], str], Fraction | int | None]] = {
    "digits": (lambda size: "9" * size, None),
    "commas": (lambda size: "1," * (size // 2), None),
    "wrong separators": (lambda size: "1,111" * (size // 5), None),
    "separators": (lambda size: "1" + ",111" * (size // 4), None),
    "fractions": (lambda size: "1/" * (size // 2 + 1), 1),
    "signs": (lambda size: "-" * size, None),
    "powers": (lambda size: "1e" * (size // 2), 10),
    "power": (lambda size: "1e" + "9" * size, None),
    "dots": (lambda size: "1.1." * (size // 4), Fraction(11, 10)),
    "spaces": (lambda size: "1   " * (size // 4), 1),
    "blank": (lambda size: "24" + " " * size, 24),
    "letters": (lambda size: "x" * size + " 24", 24),
}
"""Texts of about so many characters, and the number that is read."""


@pytest.mark.parametrize("name", HUGE)
def test_a_huge_answer_is_read_in_linear_time(name: str) -> None:
    text, number = HUGE[name]
    assert last_number(text(1_000_000)) == number  # in quadratic time it would be hours
    assert growth(last_number, text, 50_000) < NOT_QUADRATIC


@pytest.mark.parametrize(("text", "grade"), [("3", 1.0), ("it is 1,000", 1.0), ("31000", 0.0), ("4", 0.0), ("?", 0.0)])
def test_a_list_accepts_any_of_its_numbers(text: str, grade: float) -> None:
    assert NumericGrader().grade(sample(text), {"answer": [3, "1000"]}) == grade


@pytest.mark.parametrize("gold", [[], ["3", ""], ["3", "three"], [[3]]])
def test_a_list_with_anything_but_numbers_is_an_error(gold: list[object]) -> None:
    with pytest.raises(GraderError, match="answer"):
        NumericGrader().grade(sample("3"), {"answer": gold})


def test_nothing_is_evaluated() -> None:
    assert last_number("2**10") == 10
    assert last_number("__import__('os')") is None


def test_grades_one_or_zero() -> None:
    grader = NumericGrader()
    assert grader.grade(sample("<think>48/2</think>24"), {"answer": "24"}) == 1.0
    assert grader.grade(sample("<think>24</think>25"), {"answer": "24"}) == 0.0
    assert grader.grade(sample("no idea"), {"answer": "24"}) == 0.0
    assert grader.grade(sample("1,000"), {"answer": 1000}) == 1.0
    assert grader.grade(sample("0.5"), {"answer": "1/2"}) == 1.0


def test_thinking_is_not_the_answer() -> None:
    assert NumericGrader().grade(sample("<think>it is 24"), {"answer": "24"}) == 0.0


@pytest.mark.parametrize(("answer", "grade"), [("101", 1.0), ("99", 1.0), ("101.1", 0.0), ("-100", 0.0)])
def test_tolerance_is_relative(answer: str, grade: float) -> None:
    assert NumericGrader(tolerance=0.01).grade(sample(answer), {"answer": "100"}) == grade


def test_without_tolerance_the_comparison_is_exact() -> None:
    assert NumericGrader().grade(sample("0.30000000000000004"), {"answer": "0.3"}) == 0.0


@pytest.mark.parametrize(
    "item", [{}, {"answer": None}, {"answer": "twelve"}, {"answer": True}, {"answer": ["x"]}, {"answer": []}]
)
def test_a_gold_answer_that_is_no_number_is_an_error(item: dict[str, object]) -> None:
    with pytest.raises(GraderError, match="answer"):
        NumericGrader().grade(sample("24"), item)


def test_the_gold_field_can_be_named() -> None:
    assert NumericGrader(reference="gold").grade(sample("3"), {"gold": 3}) == 1.0
