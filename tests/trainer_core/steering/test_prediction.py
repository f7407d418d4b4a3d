"""Predicted pass rates: vectors of texts, what similar prompts tell, and what nothing tells."""

import json
from typing import Any

import numpy as np
import pytest

from tests.trainer_core.specs import spec, weighted
from trainer_core.steering.curriculum import Curriculum
from trainer_core.steering.curriculum.prediction import FEWEST, REFERENCE, PassRatePredictor
from trainer_core.steering.curriculum.text_vectors import vector

TOPICS = (("add the apples and count", 0.9), ("prove the inequality holds", 0.1))


PINNED = {48: -0.408, 59: 0.408, 146: 0.408, 211: 0.408, 228: 0.408, 250: -0.408}
"""Where the pieces of " aaa " lie: they may not move, since checkpoints of runs go on elsewhere."""


def topical(row: int) -> str:
    return f"{TOPICS[row % 2][0]} {row}"


def taught(rows: int, text: Any = topical) -> PassRatePredictor:
    predictor = PassRatePredictor(text)
    for row in range(rows):
        predictor.observe(row, TOPICS[row % 2][1])
    return predictor


def test_vectors_tell_texts_apart_and_are_the_same_everywhere() -> None:
    near, far = vector("add the apples 7") @ vector("Add the apples 9"), vector("add the apples 7") @ vector("xyz qrs")
    assert near > 0.6 > 0.2 > abs(far)
    assert np.linalg.norm(vector("any text")) == pytest.approx(1.0, rel=1e-6)
    assert not vector("").any()
    assert np.array_equal(vector("Straße 数学"), vector("STRASSE 数学"))
    assert {int(place): round(float(vector("aaa")[place]), 3) for place in np.flatnonzero(vector("aaa"))} == PINNED


@pytest.mark.parametrize("text", ["", " ", "\ud800", "a" * 1_000_000, "\x00"])
def test_any_text_has_a_finite_vector(text: str) -> None:
    assert vector(text).shape == (256,) and np.isfinite(vector(text)).all()


def test_similar_prompts_tell_of_those_never_tried() -> None:
    predictor = taught(64)
    fit = predictor.fit()
    assert fit is not None and fit.r2 > 0.95
    told = predictor.predict([100, 101, 102])
    assert told is not None
    assert told == pytest.approx([0.9, 0.1, 0.9], abs=0.05)


def test_where_texts_tell_nothing_the_mean_is_predicted() -> None:
    rng = np.random.default_rng(3)
    letters = [" ".join(map(str, rng.integers(0, 10_000, 8))) for _ in range(400)]
    predictor = PassRatePredictor(letters.__getitem__)
    for row in range(200):
        predictor.observe(row, float(rng.random()))
    fit, told = predictor.fit(), predictor.predict(list(range(200, 400)))
    assert fit is not None and told is not None and fit.r2 < 0.1
    assert np.abs(told - fit.mean).max() < 0.25


def test_equal_rates_predict_themselves() -> None:
    predictor = PassRatePredictor(topical)
    for row in range(32):
        predictor.observe(row, 0.25)
    assert predictor.predict([99]) == pytest.approx([0.25])


def test_the_formula_by_hand() -> None:
    """With a slope of 1 and two kinds of texts, the softmax over similarities decides."""
    predictor = taught(32, lambda row: TOPICS[row % 2][0])
    fit = predictor.fit()
    assert fit is not None and (fit.temperature, fit.mean) == (0.02, pytest.approx(0.5))
    # Similar ones are all at cosine 1, the others at −1: e^(−2/0.02) is nothing.
    told = predictor.predict([2, 3])
    assert told == pytest.approx([0.5 + fit.slope * 0.4, 0.5 - fit.slope * 0.4], abs=1e-9)


def test_nothing_is_predicted_before_enough_was_tried_and_old_prompts_are_forgotten() -> None:
    assert taught(FEWEST - 1).predict([50]) is None and taught(FEWEST).predict([50]) is not None
    many = taught(REFERENCE + 40)
    assert [row for row, _ in many.state()] == list(range(40, REFERENCE + 40))


def test_state_holds_all_that_predictions_depend_on() -> None:
    first, second = taught(40), PassRatePredictor(topical)
    second.load(json.loads(json.dumps(first.state())))
    told, again = first.predict([70, 71]), second.predict([70, 71])
    assert told is not None and again is not None and np.array_equal(told, again)


def curriculum(seed: int = 0, **changes: Any) -> Curriculum:
    whole = {"type": "difficulty_target", "target_pass_rate": 0.9, "temperature": 0.01, "explore": 0.0, "predict": True}
    rows = [{"prompt": topical(row)} for row in range(200)]
    return Curriculum(spec(data=weighted(sums=1.0), **{"curriculum": whole, **changes}), {"sums": rows}, seed)


def test_untried_prompts_are_drawn_by_what_is_predicted_of_them() -> None:
    drawing = curriculum()
    for row in range(40):
        drawing.observe(f"sums:{row}", TOPICS[row % 2][1])
    drawn = [one.row_index for one in drawing.draw(60)]
    assert sum(row % 2 == 0 for row in drawn) >= 55
    drawing.end_step(1)
    assert drawing.metrics()["curriculum/prediction_r2/sums"] > 0.9


def test_a_chat_is_read_by_its_messages() -> None:
    rows = [{"messages": [{"role": "user", "content": topical(row)}, {"role": "user"}]} for row in range(60)]
    whole = {"type": "difficulty_target", "predict": True}
    drawing = Curriculum(spec(data=weighted(sums=1.0), curriculum=whole), {"sums": rows}, 0)
    for row in range(40):
        drawing.observe(f"sums:{row}", TOPICS[row % 2][1])
    drawing.end_step(1)
    assert drawing.metrics()["curriculum/prediction_r2/sums"] > 0.9


def test_samples_go_by_what_is_predicted() -> None:
    allocation = {"allocation": {"type": "knapsack", "min_samples": 2, "max_samples": 16}}
    drawing = curriculum(curriculum={"type": "uniform"}, batching=allocation, rollout={"group_size": 4})
    assert {draw.samples for draw in drawing.draw(8)} == {4}, "nothing is known: all alike"
    for row in range(40):
        drawing.observe(f"sums:{row}", (0.4, 1.0)[row % 2], 4)
    fresh = [draw for draw in drawing.draw(64) if draw.row_index >= 40]
    hard, easy = ([draw.samples for draw in fresh if draw.row_index % 2 == rest] for rest in (0, 1))
    assert hard and easy and min(hard) > max(easy)
