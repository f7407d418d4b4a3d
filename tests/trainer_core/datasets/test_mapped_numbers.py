"""Gold answers that are numbers: read wholly, kept as they are written, or refused; never a part of something else."""

from contextlib import suppress

import pytest

from tests.support.growth import NOT_QUADRATIC, growth
from trainer_core.datasets.mapping import DatasetMapping, shape_of


def gold(rule: str, text: str) -> object:
    document = {"prompt": {"kind": "columns", "template": "{q}"}, "answer": {"path": "a", "rule": rule}}
    return shape_of(DatasetMapping.model_validate(document)).convert({"q": "?", "a": text})["answer"]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Of 3 coins two fall, so the chance is .5", ".5"),
        ("so x = -.25.", "-.25"),
        ("It weighs 1.5e-3 grams.", "1.5e-3"),
        ("about 2.5E10", "2.5E10"),
        ("1e+22", "1e+22"),
        ("6e−7", "6e-7"),
        ("From 3 to 1,234.50 euros.", "1234.50"),
        ("1{,}234 people, or 12\\,km", "12"),
        ("1{,}234 people", "1234"),
        ("x = 2 and y = −5", "-5"),
        ("(-5)", "-5"),
        ("a loss of -$5", "-5"),
        ("$-5$", "-5"),
        ("It costs \\$1,200!", "1200"),
        ("US$40", "40"),
        ("Rs.500", "500"),
        ("Rs 500 each", "500"),
        ("The answer is **42**.", "42"),
        ("**Answer:** *7 apples*", "7"),
        ("\\boxed{18}", "18"),
        ("\\[ x = \\text{18} \\]", "18"),
        ("x \\approx 18\\%", "18"),
        ("18\\text{ cm}^2", "18"),
        ("an angle of 30^\\circ", "30"),
        ("50 cm^2", "50"),
        ("50 m²", "50"),
        ("5km", "5"),
        ("the 5th", "5"),
        ("共有5个苹果", "5"),
        ("He has <<48/2=24>>24 left", "24"),
        ("Answer 1: 42", "42"),
        ("Answer - 5", "5"),
        ("Notes:\n- 5 apples", "5"),
        ("a 5-year plan", "5"),
        ("the end ...5", "5"),
        ("5, which is prime.", "5"),
        ("so 10 / 2 = 5", "5"),
        ("007", "007"),
    ],
)
def test_the_last_number_of_a_text(text: str, number: str) -> None:
    assert gold("last_number", text) == number


@pytest.mark.parametrize(
    "text",
    [
        "1/2", "1 / 2", "a chance of 3/x", "\\frac{1}{2}", "\\frac12", "\\sqrt{2}", "\\sqrt2", "√2", "2^10",
        "2^{10}", "10^-3", "10^{-3}", "5^x", "x_{1}", "x_1", "log_2", "5!x", "2\\pi", "2 \\times 5",
        "2 \\times -5", "2 × 5", "2*5", "2 * 5", "a + 5", "2+5", "x-5", "x - 5", "3-5", "3 - 5", "x = - 5",
        "- 5", "–5", "3–5", "2024-05-06", "12:30", "1.2.3", "3,14", "1,2,3", "0,123", "1,234,56", "1 234",
        "1'234", "1_234", "(2, 5)", "[2, 5)", "{2, 5}", "f(5)", "2(5)", "2(-5)", "\\log 5", "x \\ge 5", "x ≤ 5",
        "x > 5", "±5", "5½", "a chance of 1 in 3, or ½", "5²", "2x", "3i", "5e", "5M", "5 million",
        "negative 5", "ten minus 5", "5 squared", "5 and a half", "COVID-19", "H2O", "5万", "负5", "三分之2",
        "end.5", "1e5e5", "1.5×10^{-3}", "٣", "Q3", "x5", "5(x + y)", "5 + y", "\\binom{n}{5}",
        "\\frac{a + \\text{b} = 5}{c}",
    ],
)  # fmt: skip
def test_a_part_of_something_else_is_no_gold_answer(text: str) -> None:
    with pytest.raises(ValueError, match=r"The last number of `a` is ambiguous: it is part of ['\"]"):
        gold("last_number", f"There are 7 of them: {text}")
    with pytest.raises(ValueError, match="is ambiguous"):
        gold("last_number", text)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("#### 1,234", "1234"),
        ("#### $1,234,567.50", "1234567.50"),
        ("#### -$5", "-5"),
        ("#### $-5", "-5"),
        ("#### −5", "-5"),
        ("#### .5", ".5"),
        ("#### 1.5e-3", "1.5e-3"),
        ("#### 3,4", "3,4"),
        ("#### 3,14", "3,14"),
        ("#### 1,2,3", "1,2,3"),
        ("#### $3,4", "$3,4"),
        ("#### 0,123", "0,123"),
        ("#### 1,234,56", "1,234,56"),
        ("#### 1234,567", "1234,567"),
        ("#### 1,234 and 5", "1,234 and 5"),
        ("#### 1/2", "1/2"),
        ("#### −x", "−x"),
    ],
)
def test_what_stands_behind_a_marker_is_kept_but_for_the_commas_of_thousands(text: str, answer: str) -> None:
    assert gold("after_marker", text) == answer


@pytest.mark.parametrize(("sign", "end"), [("1 ", ""), ("{", "5"), ("1e", "5"), (".", "5"), ("m^", "5")])
def test_numbers_are_found_in_linear_time(sign: str, end: str) -> None:
    try:
        gold("last_number", sign * (800_000 // len(sign)) + end)
    except ValueError as error:
        assert str(error).endswith(".")

    def searched(text: str) -> None:
        with suppress(ValueError):
            gold("last_number", text)

    assert growth(searched, lambda size: sign * (size // len(sign)) + end, 80_000) < NOT_QUADRATIC
