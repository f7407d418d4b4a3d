"""Hints: how much of the solution is shown, and that it brings the pass rate to its target."""

import math
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trainer_core.specs import spec, weighted
from trainer_core.spec.data.prompting import HintScaffolding
from trainer_core.steering.curriculum import Curriculum
from trainer_core.steering.curriculum.hints import HintScaffold, beginning, fit_position

WORDS = " ".join(f"w{index}" for index in range(10))


def hinted(**hints: Any) -> Any:
    return spec(data=weighted(sums=1.0), prompting={"hints": hints})


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, ""), (0.04, ""), (0.1, "w0"), (0.26, "w0 w1 w2"), (1.0, WORDS)],
)
def test_the_beginning_in_whole_words(share: float, text: str) -> None:
    assert beginning(WORDS, share) == text


def test_the_beginning_keeps_the_space_between() -> None:
    assert beginning("a\n\n b  c", 0.67) == "a\n\n b"


def test_one_visit_by_hand() -> None:
    # p = 1/4 at h = 0.2: b = 0.2 + ln 3 / k. The target 1/2 lies at b itself.
    assert fit_position([(0.2, 0.25)], 8.0) == pytest.approx(0.2 + math.log(3) / 8)
    scaffold, chosen = HintScaffold(), HintScaffolding(slope=8.0, first_share=0.2)
    scaffold.draw(chosen, "sums:0", {"solution": WORDS}, 8)
    scaffold.observe(chosen, "sums:0", 0.25)
    assert scaffold.share(chosen, "sums:0", 8) == pytest.approx(0.2 + math.log(3) / 8)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(0.02, 0.98)), min_size=1, max_size=6),
    st.floats(0.5, 20.0),
)
def test_the_position_is_the_maximum_of_the_likelihood(visits: list[tuple[float, float]], slope: float) -> None:
    def log_likelihood(position: float) -> float:
        total = 0.0
        for h, p in visits:
            q = 1 / (1 + math.exp(-slope * (h - position)))
            total += p * math.log(q) + (1 - p) * math.log1p(-q)
        return total

    best = fit_position(visits, slope)
    for step in (1e-3, 1e-2):
        assert log_likelihood(best) >= max(log_likelihood(best - step), log_likelihood(best + step)) - 1e-12


def test_failures_lengthen_the_hint_and_successes_shorten_it() -> None:
    curriculum = Curriculum(hinted(memory=1), {"sums": [{"prompt": "q", "solution": WORDS}]}, 0)
    lengths = []
    for rate in (0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0):
        (draw,) = curriculum.draw(1)
        lengths.append(len(draw.hint.split()))
        curriculum.observe(draw.prompt_id, rate)
    # logit(15/16) / 8 = 0.34: a failure adds it, a success takes it away; 0.9 is the limit.
    assert lengths == [0, 3, 7, 9, 6, 2, 0]


def test_the_share_stays_within_its_limits() -> None:
    scaffold, chosen = HintScaffold(), HintScaffolding(max_share=0.5, slope=1.0)
    for rate in (0.0, 1.0):
        for _ in range(9):
            scaffold.draw(chosen, "a:0", {"solution": WORDS}, 8)
            scaffold.observe(chosen, "a:0", rate)
            assert 0.0 <= scaffold.share(chosen, "a:0", 8) <= 0.5


@pytest.mark.parametrize("target", [0.3, 0.5, 0.7])
def test_the_pass_rate_comes_to_the_target(target: float) -> None:
    """A policy whose true curve is steeper than the fitted one, and no prompt solvable unaided."""
    rows = [{"prompt": str(row), "solution": " ".join(["w"] * 200)} for row in range(20)]
    curriculum = Curriculum(hinted(target_pass_rate=target, memory=8), {"sums": rows}, 0)
    luck, rates = Random(0), []
    for visit in range(60):
        for draw in curriculum.draw(20):
            share = len(draw.hint.split()) / 200
            chance = 1 / (1 + math.exp(-10 * (share - 0.4)))
            rate = sum(luck.random() < chance for _ in range(8)) / 8
            curriculum.observe(draw.prompt_id, rate)
            if visit >= 20:
                rates.append(rate)
    assert sum(rates) / len(rates) == pytest.approx(target, abs=0.06)


def test_a_row_without_a_solution_is_an_error() -> None:
    rows = [{"prompt": "q", "proof": "p"}, {"prompt": "q"}]
    with pytest.raises(ValueError, match="row 1 of the source 'sums': hints need a text in the column 'proof'"):
        Curriculum(hinted(column="proof"), {"sums": rows}, 0)


def test_without_hints_nothing_is_shown() -> None:
    curriculum = Curriculum(spec(data=weighted(sums=1.0)), {"sums": [{"prompt": "q", "solution": WORDS}]}, 0)
    assert {draw.hint for draw in curriculum.draw(5)} == {""}
