"""Letters of multiple choice, in boxes and in prose: as many texts that settle on one as texts that only seem to."""

import time
from typing import Any

import pytest

from tests.trainer_core.rewards.completions import sample
from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.graders.choice import ChoiceGrader, choices_letter


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
        "answer" + "\n" * 5_000 + "A" + "\n" * 5_000,
        "answer is" + "\n" * 9_000 + "A" + "\n" * 9_000 + "or" + "\n" * 1_000,
        "answer A" + " " * 9_000 + "is" + "\t" * 9_000 + "the",
        "I" + " " * 9_000 + "would" + " " * 9_000 + "choose",
        "A is correct" + " " * 18_000,
        "so A" + "\n" * 5_000 + "so A" + " " * 14_000 + "is",
    ],
)
def test_many_spaces_take_no_time(text: str) -> None:
    started = time.process_time()
    choices_letter(text)
    assert time.process_time() - started < 1.0


def test_other_letters_do_not_count() -> None:
    assert ChoiceGrader(letters="AB").grade(sample("The answer is C"), {"answer": "A"}) == 0.0
