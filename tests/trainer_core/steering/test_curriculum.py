"""The curriculum: mixture, epochs, difficulty band, and resuming exactly."""

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.growth import growth
from tests.trainer_core.specs import spec, weighted
from trainer_core.steering.curriculum import Curriculum

BAND = {"type": "difficulty_band", "min_pass_rate": 0.25, "max_pass_rate": 0.75, "decay": 0.5, "explore": 0.0}


def rows(count: int) -> list[dict[str, Any]]:
    return [{"prompt": f"{index}+0=", "answer": str(index)} for index in range(count)]


def one_source(count: int, band: dict[str, Any] | None = None, seed: int = 0) -> Curriculum:
    chosen = spec(data=weighted(sums=1.0), **({"curriculum": band} if band else {}))
    return Curriculum(chosen, {"sums": rows(count)}, seed)


def drawn(curriculum: Curriculum, count: int) -> list[str]:
    return [draw.prompt_id for draw in curriculum.draw(count)]


def test_a_draw_names_its_row() -> None:
    (draw,) = one_source(5).draw(1)
    assert draw.prompt_id == f"sums:{draw.row_index}"
    assert draw.item == {"prompt": f"{draw.row_index}+0=", "answer": str(draw.row_index)}


def test_every_row_once_per_epoch_in_another_order_each_time() -> None:
    curriculum = one_source(50)
    epochs = [drawn(curriculum, 50) for _ in range(3)]
    assert all(sorted(epoch) == sorted(f"sums:{row}" for row in range(50)) for epoch in epochs)
    assert epochs[0] != epochs[1] != epochs[2]


def test_the_seed_decides() -> None:
    assert drawn(one_source(50, seed=1), 80) == drawn(one_source(50, seed=1), 80)
    assert drawn(one_source(50, seed=1), 80) != drawn(one_source(50, seed=2), 80)


def test_sources_come_in_proportion_to_their_weights() -> None:
    curriculum = Curriculum(spec(), {"sums": rows(10), "products": rows(1000)}, 0)
    counts = Counter(draw.source for draw in curriculum.draw(20_000))
    # Binomial(20 000, 1/4): standard deviation 61.
    assert abs(counts["sums"] - 5000) < 5 * 61


@pytest.mark.parametrize("order", [("off", "on"), ("on", "off"), ("off", "on", "off2")])
def test_a_source_of_weight_zero_is_never_drawn(order: tuple[str, ...]) -> None:
    weights = {name: 1.0 if name == "on" else 0.0 for name in order}
    curriculum = Curriculum(spec(data=weighted(**weights)), {name: rows(3) for name in order}, 0)
    assert {draw.source for draw in curriculum.draw(5000)} == {"on"}


def test_changed_weights_hold_from_the_next_draw() -> None:
    curriculum = Curriculum(spec(data=weighted(a=1.0, b=0.0)), {"a": rows(9), "b": rows(9)}, 0)
    assert {draw.source for draw in curriculum.draw(100)} == {"a"}
    curriculum.update_spec(spec(data=weighted(a=0.0, b=1.0)))
    assert {draw.source for draw in curriculum.draw(100)} == {"b"}


def test_a_source_without_rows_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'products' \(products@1\) has no rows"):
        Curriculum(spec(), {"sums": rows(3), "products": []}, 0)
    with pytest.raises(ValueError, match="'sums'"):
        Curriculum(spec(), {"products": rows(3)}, 0)


def test_rows_outside_the_band_rest() -> None:
    curriculum = one_source(6, BAND)
    # Both edges belong to the band; rows that were never tried do too.
    for row, rate in enumerate([0.0, 0.25, 0.5, 0.75, 1.0]):
        curriculum.observe(f"sums:{row}", rate)
    assert set(drawn(curriculum, 4)) == {"sums:1", "sums:2", "sums:3", "sums:5"}
    assert curriculum.fallbacks == 0


def test_the_pass_rate_decays() -> None:
    curriculum = one_source(2, {**BAND, "min_pass_rate": 0.5, "decay": 0.75})
    curriculum.observe("sums:0", 1.0)  # 1
    assert set(drawn(curriculum, 1)) == {"sums:1"}
    curriculum.observe("sums:0", 0.0)  # 0.75 · 1 + 0.25 · 0 = 0.75: on the edge
    assert set(drawn(curriculum, 2)) == {"sums:0", "sums:1"}
    curriculum.observe("sums:0", 1.0)  # 0.8125: outside again
    assert set(drawn(curriculum, 1)) == {"sums:1"}
    assert curriculum.fallbacks == 0


def test_an_empty_band_falls_back_to_the_whole_source_and_counts() -> None:
    curriculum = one_source(8, BAND)
    for row in range(8):
        curriculum.observe(f"sums:{row}", 0.0)
    assert len(set(drawn(curriculum, 8))) == 8
    assert curriculum.fallbacks == 8
    curriculum.observe("sums:3", 1.0)  # 0.5: inside
    assert drawn(curriculum, 1) == ["sums:3"]
    assert curriculum.fallbacks == 8


def test_a_prompt_comes_twice_in_a_batch_only_when_there_is_no_other() -> None:
    curriculum = one_source(8, BAND)
    for row in range(6):
        curriculum.observe(f"sums:{row}", 1.0)
    batch = drawn(curriculum, 8)
    assert set(batch[:2]) == {"sums:6", "sums:7"}
    assert len(set(batch)) == 8
    assert curriculum.fallbacks == 6
    assert Counter(drawn(curriculum, 11)).most_common(1)[0][1] <= 4


def test_exploration_takes_its_share_from_outside() -> None:
    curriculum = one_source(1000, {**BAND, "explore": 0.2})
    for row in range(500):
        curriculum.observe(f"sums:{row}", 0.0)
    outside = sum(int(draw.row_index < 500) for _ in range(500) for draw in curriculum.draw(10))
    # Binomial(5000, 0.2): standard deviation 28.
    assert abs(outside - 1000) < 5 * 28
    assert curriculum.fallbacks == 0


def test_exploration_with_nothing_outside_stays_inside_and_is_no_fallback() -> None:
    curriculum = one_source(4, {**BAND, "explore": 1.0})
    assert len(set(drawn(curriculum, 4))) == 4
    assert curriculum.fallbacks == 0


def test_a_moved_band_sorts_the_rows_anew() -> None:
    curriculum = one_source(3, BAND)
    for row, rate in enumerate([0.1, 0.5, 0.9]):
        curriculum.observe(f"sums:{row}", rate)
    for low, high, expected in ((0.0, 0.2, "sums:0"), (0.8, 1.0, "sums:2"), (0.4, 0.6, "sums:1")):
        band = {**BAND, "min_pass_rate": low, "max_pass_rate": high}
        curriculum.update_spec(spec(data=weighted(sums=1.0), curriculum=band))
        assert drawn(curriculum, 1) == [expected]


def test_changes_of_structure_are_refused_and_change_nothing() -> None:
    curriculum, untouched = one_source(30, BAND), one_source(30, BAND)
    with pytest.raises(ValueError, match="sources"):
        curriculum.update_spec(spec(data=weighted(other=1.0), curriculum=BAND))
    with pytest.raises(ValueError, match="type"):
        curriculum.update_spec(spec(data=weighted(sums=1.0)))
    assert curriculum.state() == untouched.state()


@pytest.mark.parametrize("prompt_id", ["sums:3", "sums:-1", "sums:x", "products:0", "sums", ""])
def test_an_unknown_prompt_cannot_be_observed(prompt_id: str) -> None:
    with pytest.raises(ValueError, match="there is no prompt"):
        one_source(3, BAND).observe(prompt_id, 0.5)


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan")])
def test_a_pass_rate_is_a_share(rate: float) -> None:
    with pytest.raises(ValueError, match="is not a pass rate"):
        one_source(3, BAND).observe("sums:0", rate)


def both_kinds() -> list[dict[str, Any]]:
    return [{}, {"curriculum": {**BAND, "explore": 0.3}}]


@pytest.mark.parametrize("parts", both_kinds())
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_resumes_exactly(parts: dict[str, Any], data: st.DataObject) -> None:
    chosen = spec(**parts)
    sources = {"sums": rows(7), "products": rows(40)}
    seed = data.draw(st.integers(0, 1000))
    whole = Curriculum(chosen, sources, seed)
    batches = data.draw(st.lists(st.tuples(st.integers(1, 12), st.floats(0.0, 1.0)), min_size=1, max_size=8))

    def play(curriculum: Curriculum) -> list[str]:
        seen = []
        for count, rate in batches:
            for draw in curriculum.draw(count):
                seen.append(draw.prompt_id)
                curriculum.observe(draw.prompt_id, rate)
        return seen

    play(whole)
    resumed = Curriculum(chosen, sources, seed)
    resumed.load(json.loads(json.dumps(whole.state())))
    assert play(resumed) == play(whole)
    assert resumed.state() == whole.state()


def test_a_band_that_moved_after_the_checkpoint_holds_after_the_resume() -> None:
    before = one_source(3, BAND)
    for row, rate in enumerate([0.1, 0.5, 0.9]):
        before.observe(f"sums:{row}", rate)
    resumed = one_source(3, {**BAND, "min_pass_rate": 0.8, "max_pass_rate": 1.0})
    resumed.load(before.state())
    assert drawn(resumed, 1) == ["sums:2"]


def test_a_state_of_other_data_or_another_type_is_refused() -> None:
    with pytest.raises(ValueError, match="other data"):
        one_source(3).load(one_source(4).state())
    with pytest.raises(ValueError, match="difficulty_band"):
        one_source(3).load(one_source(3, BAND).state())


def test_a_draw_from_a_hundred_thousand_prompts_costs_as_much_as_one_from_few() -> None:
    def half_too_hard(size: int) -> Curriculum:
        curriculum = one_source(size, BAND)
        for row in range(0, size, 2):
            curriculum.observe(f"sums:{row}", 0.0)
        return curriculum

    assert all(draw.row_index % 2 for draw in half_too_hard(100_000).draw(1000))
    # 0 where draws do not depend on the number of prompts; 1 for a scan per draw.
    assert growth(lambda curriculum: curriculum.draw(1000), half_too_hard, 50_000) < 0.5
