"""What must follow from the labelled suite: right pairs hold both ways and along chains, and one change breaks them."""

from collections import Counter
from typing import Any

import pytest

from tests.support.math_pairs import suite
from tests.support.math_pairs.differential import Claim, claims
from tests.support.math_pairs.in_process import InProcess
from trainer_core.rewards.graders.math.math import MathGrader
from trainer_core.rewards.sample import Sample

LEAST = {"asked": 2_000, "through": 400, "not": 1_500, "a": 1_300}
"""Claims of each kind that the suite must yield at least."""


def verdict(claim: Claim, jail: Any) -> float:
    text = rf"\boxed{{{claim.answer}}}"
    sample = Sample(output_text=text, thinking_text=None, answer_text=text, completion_tokens=1)
    return MathGrader().grade(sample, {"answer": claim.gold}, jail)


@pytest.mark.expensive(6, "grades five thousand claims", about=("worker/sandbox", "trainer_core/rewards"))
def test_nothing_that_follows_from_accepted_pairs_is_contradicted() -> None:
    jail = InProcess()
    found = list(claims(suite.stored()))
    contradictions = [claim for claim in found if verdict(claim, jail) != float(claim.right)]
    assert contradictions == []
    counts = Counter(claim.why.split()[0] for claim in found)
    assert {kind: counts[kind] for kind in LEAST if counts[kind] < LEAST[kind]} == {}
    assert {claim.why.split()[1] for claim in found if claim.why.startswith(("a ", "an "))} == {
        "digit", "sign", "name", "order", "unit",
    }  # fmt: skip
