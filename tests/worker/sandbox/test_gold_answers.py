"""A gold answer that cannot be read is an error, never a zero; words are compared as words."""

import pytest

from tests.support.about import TRAINING
from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.graders import grade
from trainer_core.rewards.graders.math.math import MathGrader
from trainer_core.rewards.graders.tools import Tools
from trainer_core.rewards.sample import Sample
from worker.sandbox.pool import JailPool


def boxed(answer: str) -> Sample:
    text = rf"\boxed{{{answer}}}"
    return Sample(output_text=text, thinking_text=None, answer_text=text, completion_tokens=1)


@pytest.mark.expensive(5, "starts jails", about=TRAINING)
@pytest.mark.parametrize(
    "gold", [r"\frac{1}{", "(((", r"\begin{pmatrix}1", "1+", "__import__('os')", "1" * 1500 + "+x@"]
)
def test_a_gold_answer_that_is_no_mathematics_is_an_error(jail: JailPool, gold: str) -> None:
    with pytest.raises(GraderError, match="is neither mathematics nor words"):
        grade(MathGrader(timeout_s=20.0, extraction="boxed"), boxed("7"), {"answer": gold}, Tools(jail))


@pytest.mark.expensive(4, "starts jails", about=TRAINING)
def test_a_gold_answer_that_takes_too_long_is_an_error(jail: JailPool) -> None:
    gold = "(" * 70 + "x" + ")" * 70  # too deep for our grammar: math-verify's parser is kept busy with it
    with pytest.raises(GraderError, match=r"cannot be read: it took more than 1 s of processor time"):
        grade(MathGrader(timeout_s=1.0), boxed("7"), {"answer": gold}, Tools(jail))


@pytest.mark.parametrize(("gold", "answer", "score"), [
    (r"\text{Evelyn}", "evelyn", 1.0),
    (r"\text{Evelyn}", "Ada", 0.0),
    ("Monday; Tuesday", r"\text{monday; tuesday}", 1.0),
    ("Monday; Tuesday", "7", 0.0),
    ("日本", "7", 0.0),
    ("no solution", r"\frac{1}{", 0.0),
])  # fmt: skip
def test_words(jail: JailPool, gold: str, answer: str, score: float) -> None:
    assert grade(MathGrader(timeout_s=20.0), boxed(answer), {"answer": gold}, Tools(jail)) == score


@pytest.mark.parametrize(("answer", "score"), [
    ("52_8", 1.0), (r"52_{8}", 1.0), ("52_9", 0.0), ("53_8", 0.0), ("52", 1.0), ("53", 0.0),
])  # fmt: skip
def test_the_base_of_a_number_counts_where_it_is_given(jail: JailPool, answer: str, score: float) -> None:
    assert grade(MathGrader(timeout_s=20.0), boxed(answer), {"answer": "52_8"}, Tools(jail)) == score


def test_a_row_names_the_kind_of_its_answer() -> None:
    grader = MathGrader(answer_type="tuple", answer_type_field="kind")
    rows = {
        "interval": {"answer": "(1,2)", "kind": "interval"},
        "tuple": {"answer": "(1,2)", "kind": "tuple"},
        "none named": {"answer": "(1,2)"},
        "any": {"answer": "(1,2)", "kind": "any"},
    }
    verdicts = {
        name: [grader.grade(boxed(answer), row) for answer in ("1<x<2", "1, 2", "(1,2)", "(2,1)")]
        for name, row in rows.items()
    }
    assert verdicts == {
        "interval": [1.0, 0.0, 1.0, 0.0],
        "tuple": [0.0, 1.0, 1.0, 0.0],
        "none named": [0.0, 1.0, 1.0, 0.0],
        "any": [1.0, 1.0, 1.0, 0.0],
    }


@pytest.mark.parametrize("kind", ["vector", 3, ["tuple"]])
def test_a_kind_that_is_none_is_an_error(kind: object) -> None:
    with pytest.raises(GraderError, match=r"the field 'kind' holds .*; kinds are any, number, interval"):
        MathGrader(answer_type_field="kind").grade(boxed("(1,2)"), {"answer": "(1,2)", "kind": kind})


def test_a_gold_answer_of_another_kind_than_its_row_says_is_an_error() -> None:
    with pytest.raises(GraderError, match=r"is no matrix"):
        MathGrader(answer_type_field="kind").grade(boxed("(1,2)"), {"answer": "(1,2)", "kind": "matrix"})
