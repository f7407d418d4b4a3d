"""Pass rates that were measured before the run: what they are worth, what they choose, and that they stay the same."""

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.trainer_core.specs import spec, weighted
from trainer_core.spec.data.curriculum import reads_notes
from trainer_core.steering.curriculum import Curriculum
from trainer_core.steering.curriculum.prior import Prior, dumped, loaded, measured, saved
from trainer_core.steering.curriculum.rates import PassRates

ROWS = {"sums": [{"prompt": str(row)} for row in range(10)]}
PRIOR: Prior[int] = {row: (row / 10, 16) for row in range(8)}
"""Rates of 0 to 0.7; of the last two rows nothing is known."""
BAND = {"type": "difficulty_band", "min_pass_rate": 0.3, "max_pass_rate": 0.5, "explore": 0.0}
NOTED = {"type": "goldilocks", "rates": "notes", "min_pass_rate": 0.3, "max_pass_rate": 0.5}


def one_source(curriculum: dict[str, Any], prior: Prior[int] | None = PRIOR) -> Curriculum:
    chosen = spec(data=weighted(sums=1.0), curriculum=curriculum)
    return Curriculum(chosen, ROWS, 0, None if prior is None else {"sums": prior})


def drawn(curriculum: Curriculum, count: int = 60) -> set[int]:
    return {draw.row_index for _ in range(count) for draw in curriculum.draw(1)}


def test_a_prior_is_worth_its_samples_and_then_decays() -> None:
    rates: PassRates[int] = PassRates(0.5, {3: (0.25, 12)})
    assert (rates.get(3), rates.get(4)) == (0.25, None)
    assert rates.observe(3, 1.0, 4) == pytest.approx((12 * 0.25 + 4 * 1.0) / 16)
    assert rates.observe(3, 1.0, 4) == pytest.approx(0.5 * 0.4375 + 0.5)
    assert rates.observe(4, 0.75, 4) == 0.75


@given(st.floats(0, 1), st.integers(1, 1000), st.lists(st.tuples(st.floats(0, 1), st.integers(1, 64)), max_size=20))
def test_a_rate_stays_between_prior_and_evidence(rate: float, samples: int, groups: list[tuple[float, int]]) -> None:
    rates: PassRates[int] = PassRates(0.5, {0: (rate, samples)})
    for found, count in groups:
        rates.observe(0, found, count)
    known = [rate, *(found for found, _ in groups)]
    assert min(known) - 1e-12 <= rates.get(0) <= max(known) + 1e-12  # type: ignore[operator]


def test_known_rows_begin_inside_or_outside_of_the_band() -> None:
    assert drawn(one_source(BAND)) == {3, 4, 5, 8, 9}
    assert drawn(one_source(BAND, None)) == set(range(10))


def test_evidence_moves_a_row_as_far_as_its_samples_go() -> None:
    curriculum = one_source(BAND)
    curriculum.observe("sums:5", 1.0, 4)  # (16 · 0.5 + 4) / 20 = 0.6
    curriculum.observe("sums:2", 1.0, 4)  # (16 · 0.2 + 4) / 20 = 0.36
    curriculum.observe("sums:4", 0.5, 4)
    assert drawn(curriculum) == {2, 3, 4, 8, 9}


def test_a_target_is_met_from_the_first_draw() -> None:
    target = {"type": "difficulty_target", "target_pass_rate": 0.2, "temperature": 0.001, "explore": 0.0}
    assert drawn(one_source(target)) == {2, 8, 9}


def test_target_probabilities_count_the_prior() -> None:
    target = {"type": "difficulty_target", "target_pass_rate": 0.2, "temperature": 0.1, "explore": 0.0}
    counts = Counter(one.row_index for _ in range(1) for one in [*one_source(target).draw(1)])
    assert counts.total() == 1
    curriculum = one_source(target)
    found = Counter(curriculum.draw(1)[0].row_index for _ in range(6000))
    powers = np.exp([-abs(row / 10 - 0.2) / 0.1 if row < 8 else 0.0 for row in range(10)])
    for row, expected in enumerate(6000 * powers / powers.sum()):
        assert abs(found[row] - expected) < 5 * expected**0.5 + 1


def test_goldilocks_draws_by_notes_without_a_column() -> None:
    whole = {row: (row / 10, 16) for row in range(10)}
    assert drawn(one_source(NOTED, whole)) == {3, 4, 5}


def test_goldilocks_refuses_rows_without_notes() -> None:
    with pytest.raises(ValueError, match="row 8 of the source 'sums' has no pass rate in the row notes 'difficulty'"):
        one_source(NOTED)
    with pytest.raises(ValueError, match="row 0 of the source 'sums' has no pass rate in the row notes"):
        one_source(NOTED, None)


def test_goldilocks_by_columns_does_not_read_the_notes() -> None:
    with pytest.raises(ValueError, match="has no pass rate in 'pass_rate'"):
        one_source({**NOTED, "rates": "columns"})


def test_who_reads_notes() -> None:
    asked = {
        "uniform": {},
        "adaptive_ratio": {},
        "difficulty_band": {},
        "difficulty_target": {},
        "goldilocks": {"rates": "notes"},
    }
    for kind, values in asked.items():
        assert reads_notes(spec(curriculum={"type": kind, **values}).curriculum), kind
    assert not reads_notes(spec(curriculum={"type": "goldilocks"}).curriculum)
    for kind in ("difficulty_band", "difficulty_target"):
        assert not reads_notes(spec(curriculum={"type": kind, "start_from_notes": False}).curriculum)


@pytest.mark.parametrize("kind", [BAND, {"type": "difficulty_target"}, {"type": "uniform"}])
def test_a_resumed_run_keeps_its_priors_whatever_was_measured_since(kind: dict[str, Any]) -> None:
    whole = one_source(kind)
    for draw in whole.draw(6):
        whole.observe(draw.prompt_id, 0.5, 4)
    state = json.loads(json.dumps(whole.state()))
    chosen = spec(data=weighted(sums=1.0), curriculum=kind)
    resumed = Curriculum(chosen, ROWS, 0, saved(state))
    resumed.load(state)
    for _ in range(20):
        mine, other = whole.draw(4), resumed.draw(4)
        assert mine == other
        for draw in mine:
            assert whole.known(draw.prompt_id) == resumed.known(draw.prompt_id)
            whole.observe(draw.prompt_id, 0.25, 4)
            resumed.observe(draw.prompt_id, 0.25, 4)
    assert resumed.state() == whole.state()


def test_a_checkpoint_from_before_there_were_priors_has_none() -> None:
    assert saved({"within": {}}) == {}


def test_notes_become_a_prior_where_they_know_something() -> None:
    nothing = float("nan")
    assert measured([0.5, None, 1.0, 0.0, nothing], [4, None, 0, 8, 3]) == {0: (0.5, 4), 3: (0.0, 8)}
    assert loaded(json.loads(json.dumps(dumped({"sums": PRIOR, "terms": {}})))) == {"sums": PRIOR, "terms": {}}


@pytest.mark.parametrize(("rate", "samples"), [(1.5, 4), (-0.1, 4), (0.5, -1)])
def test_notes_that_make_no_sense_are_refused(rate: float, samples: int) -> None:
    with pytest.raises(ValueError, match="row 1 has a pass rate of"):
        measured([0.5, rate], [4, samples])
