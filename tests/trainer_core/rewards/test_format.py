"""The format grader: tags once and in order, a safe answer pattern."""

import subprocess
import sys

import pytest
from pydantic import ValidationError

from tests.trainer_core.rewards.completions import sample
from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.graders.text.format import FormatGrader


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ("<think>a</think>24", 1.0),
        ("\n<think>a</think>\n24", 1.0),
        ("<think></think>24", 1.0),
        ("<think>a</think>", 0.0),
        ("<think>a</think>  ", 0.0),
        ("<think>a", 0.0),
        ("24", 0.0),
        ("", 0.0),
        ("a</think>24", 0.0),
        ("24<think>a</think>", 0.0),
        ("24<think>a</think>24", 0.0),
        ("</think><think>24", 0.0),
        ("<think>a</think>b</think>24", 0.0),
        ("<think><think>a</think>24", 0.0),
        ("<think>a</think>24<think>b</think>", 0.0),
    ],
)
def test_tags_once_and_thinking_first(text: str, grade: float) -> None:
    assert FormatGrader().grade(sample(text), {}) == grade


def test_thinking_can_be_optional_but_not_malformed() -> None:
    grader = FormatGrader(require_thinking=False)
    assert grader.grade(sample("24"), {}) == 1.0
    assert grader.grade(sample("<think>a</think>24"), {}) == 1.0
    assert grader.grade(sample("<think>24"), {}) == 0.0
    assert grader.grade(sample(" "), {}) == 0.0


def test_tags_can_be_chosen() -> None:
    grader = FormatGrader(thinking_start="[", thinking_end="]")
    assert grader.grade(sample("[a]24", start="[", end="]"), {}) == 1.0
    assert grader.grade(sample("<think>a</think>24"), {}) == 0.0


def test_the_whole_answer_must_match_the_pattern() -> None:
    grader = FormatGrader(answer_pattern=r"-?\d+")
    assert grader.grade(sample("<think>a</think> -24\n"), {}) == 1.0
    assert grader.grade(sample("<think>a</think>24 apples"), {}) == 0.0
    assert grader.grade(sample("<think>a</think>"), {}) == 0.0
    assert FormatGrader(require_thinking=False, answer_pattern=r"\d+").grade(sample("24"), {}) == 1.0


def test_a_slow_pattern_is_an_error_in_bounded_time() -> None:
    """Without the bound the expression would try for longer than any test may take."""
    grader = FormatGrader(require_thinking=False, answer_pattern=r"(?:(a+)+b|(a*)*c)+")
    with pytest.raises(GraderError, match=r"^answer_pattern took longer than 0\.2 s"):
        grader.grade(sample("a" * 19_000), {})


def test_a_huge_answer_does_not_match() -> None:
    grader = FormatGrader(require_thinking=False, answer_pattern=r"(?s).*")
    assert grader.grade(sample("a" * 20_000), {}) == 1.0
    assert grader.grade(sample("a" * 20_001), {}) == 0.0


@pytest.mark.parametrize("pattern", ["(", "[a", "*", "(?P<x", "(" * 490, "a{99999999999999999999}"])
def test_what_is_no_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(ValidationError, match=r"not a regular expression|repeats"):
        FormatGrader(answer_pattern=pattern)


@pytest.mark.parametrize("pattern", ["((a{9999}){9999}){9999}", "(?:(?:a){40}b){40}", "(?:" * 25 + "a" + "){2}" * 25])
def test_a_pattern_that_fills_the_memory_is_refused(pattern: str) -> None:
    # In a process of its own with little memory: without the check it would take gigabytes.
    code = (
        "import resource, sys; from trainer_core.rewards.graders.text.format import FormatGrader\n"
        "resource.setrlimit(resource.RLIMIT_AS, (600 << 20, 600 << 20))\n"
        "try: FormatGrader(answer_pattern=sys.argv[1])\n"
        "except ValueError as error: print(error)"
    )
    result = subprocess.run([sys.executable, "-c", code, pattern], capture_output=True, text=True, check=True)
    assert "the counted repeats multiply to more than 1000" in result.stdout


@pytest.mark.parametrize("pattern", ["(?x)(a{ 99 99}){99 99}", "(?ix:a)", "a(?s-x:b)(?V1x)"])
def test_verbose_mode_could_hide_a_count(pattern: str) -> None:
    with pytest.raises(ValidationError, match="verbose mode is not supported"):
        FormatGrader(answer_pattern=pattern)


def test_usual_patterns_are_accepted() -> None:
    FormatGrader(answer_pattern=r"\d{4}-\d{2}-\d{2}|.{1,500}|(?:\w+\s){0,200}")
    FormatGrader(answer_pattern=r"(?i)(?P<x>yes|no)(?:x)?(?=x|$)")


def test_a_pattern_is_capped() -> None:
    with pytest.raises(ValidationError, match="at most 500"):
        FormatGrader(answer_pattern="a" * 501)


@pytest.mark.parametrize(("start", "end"), [("<t>", "<t>"), ("think>", "</think>"), ("<think>", "think")])
def test_tags_that_contain_each_other_are_refused(start: str, end: str) -> None:
    with pytest.raises(ValidationError, match="neither thinking tag may be part of the other"):
        FormatGrader(thinking_start=start, thinking_end=end)
