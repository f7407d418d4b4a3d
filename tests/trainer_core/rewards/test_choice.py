"""Letters of multiple choice, in boxes and in prose: as many texts that settle on one as texts that only seem to."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.growth import NOT_QUADRATIC, growth
from tests.trainer_core.rewards.completions import sample
from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.graders.math.choice import ChoiceGrader, choices_letter


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("B", "B"),
        ("(B)", "B"),
        ("The answer is (B).", "B"),
        ("The correct answer is **B**.", "B"),
        ("the answer is B because 2 + 2 = 4.", "B"),
        ("Answer: B", "B"),
        ("Final answer: (C) 42", "C"),
        (r"so it is \boxed{\text{(D)}}", "D"),
        (r"\boxed{B}. A was tempting.", "B"),
        ("<answer>C</answer>", "C"),
        ("First I thought the answer is A. No: the answer is D.", "D"),
        ("A is too small.\nTherefore, the correct option is C.", "C"),
        ("答案是B。", "B"),
        ("故选：(C)", "C"),
        ("Reasons.\nB. It is the largest.", "B"),
        (r"$\boxed{\textbf{(E)}\ 12}$", "E"),
        ("The answer is A.", "A"),
        ("The answer: D, it doesn't make sense for it to be A or B", "D"),
        ("The answer is D, A is wrong.", "D"),
        ("The answer isn't obvious but it is D", "D"),
        ("答案是D，A不对。", "D"),
        ("答案是D，不能选A。", "D"),
        ("选D，A错误。", "D"),
        ("综上，故选B，D项错误。", "B"),
        ("故选D，A、B均不对", "D"),
        ("D选项正确", "D"),
        ("选项D正确。", "D"),
        ("因此，D是正确的。", "D"),
        ("D项正确，A项错误。", "D"),
        ("下列说法正确的是D。", "D"),
        ("Reasons.\nOption D", "D"),
        ("D不正确", None),
        ("若D正确，则矛盾。", None),
        ("A、D正确", None),
        ("A正确，D正确", None),
        ("D正确吗？", None),
        ("正确的是A和D", None),
        ("The answer: A or B, it doesn't make sense for it to be D", None),
        ("The answer can't be D", None),
        ("The answer is D, A is correct.", None),
        ("不能选D", None),
        ("答案是D不对", None),
        ("答案是D和A", None),
        ("答案是D、A", None),
        ("The answer is not B", None),
        ("The answer is B or C.", None),
        ("The answer is either (A) or (B)", None),
        ("The answer is A number that I do not know.", None),
        ("Answer: both A and B", None),
        ("I do not know.", None),
        ("Vitamin K", None),
        ("The answer is 42.", None),
        (r"\boxed{A, B}", None),
        ("The answer is Z.", None),
        ("", None),
        ("A and B are wrong.", None),
        ("The answer is Berlin.", None),
    ],
)
def test_the_letter_that_a_text_settles_on(text: str, letter: str | None) -> None:
    assert choices_letter(text) == letter


@pytest.mark.parametrize("gold", ["B", "(B)", r"\text{B}", "b", 1, "1", ["A", "B"], r"\boxed{B}", "(B) 42"])
def test_gold_letters(gold: Any) -> None:
    grader = ChoiceGrader()
    assert grader.grade(sample("The answer is (B)."), {"answer": gold}) == 1.0
    assert grader.grade(sample("The answer is (C)."), {"answer": gold}) == 0.0


@pytest.mark.parametrize("gold", ["Berlin", "12", "", [], "E", None])
def test_a_gold_answer_that_is_no_letter_is_an_error(gold: Any) -> None:
    with pytest.raises(GraderError):
        ChoiceGrader(letters="ABCD").grade(sample("The answer is (B)."), {"answer": gold})


@pytest.mark.parametrize(
    "text",
    [
        lambda n: "answer" + "\n" * n + "A" + "\n" * n,
        lambda n: "answer is" + "\n" * n + "A" + "\n" * n + "or" + "\n" * (n // 9),
        lambda n: "answer A" + " " * n + "is" + "\t" * n + "the",
        lambda n: "I" + " " * n + "would" + " " * n + "choose",
        lambda n: "A is correct" + " " * (2 * n),
        lambda n: "so A" + "\n" * (n // 2) + "so A" + " " * (3 * n // 2) + "is",
    ],
    ids=range(6),
)
def test_many_spaces_take_linear_time(text: Callable[[int], str]) -> None:
    assert growth(choices_letter, text, 9_000) < NOT_QUADRATIC


def test_other_letters_do_not_count() -> None:
    assert ChoiceGrader(letters="AB").grade(sample("The answer is C"), {"answer": "A"}) == 0.0
