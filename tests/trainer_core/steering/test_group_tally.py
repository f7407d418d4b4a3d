"""What came of the groups of a step, by source and by how hard their prompts were known to be."""

from typing import Any

import pytest

from tests.trainer_core.batches import group, trajectory
from tests.trainer_core.specs import spec, weighted
from trainer_core.metrics import find
from trainer_core.metrics.data import BANDS
from trainer_core.steering.curriculum import Curriculum, outcome
from trainer_core.steering.curriculum.outcome import GroupOutcome
from trainer_core.steering.curriculum.tally import GroupTally, band

ROWS = {name: [{"prompt": str(row), "pass_rate": 0.3} for row in range(9)] for name in ("sums", "terms")}


def came_back(source: str, right: int, graded: int = 4, row: int = 0) -> GroupOutcome:
    return GroupOutcome(f"{source}:{row}", 1, right, graded, float(right), 4, 40)


@pytest.mark.parametrize(
    ("rate", "expected"),
    [
        (None, "untried"),
        (0.0, "0-20"),
        (0.19, "0-20"),
        (0.2, "20-40"),
        (0.4, "40-60"),
        (0.5999, "40-60"),
        (0.6, "60-80"),
        (0.8, "80-100"),
        (1.0, "80-100"),
    ],
)
def test_bands_by_hand(rate: float | None, expected: str) -> None:
    assert band(rate) == expected


def test_thirds_and_sevenths_lie_where_they_belong() -> None:
    for size in range(1, 129):
        for right in range(size + 1):
            assert band(right / size) == BANDS[min(5 * right // size, 4)]


def test_figures_by_hand() -> None:
    tally = GroupTally(ROWS)
    tally.add(came_back("sums", 4), 0.9)
    tally.add(came_back("sums", 0), 0.9)
    tally.add(came_back("sums", 1), None)
    tally.add(came_back("sums", 0, graded=0), None)  # rewards failed: nothing is known of it
    tally.add(came_back("terms", 3, graded=3), 0.1)
    assert tally.metrics() == {
        **{f"difficulty/{what}/{rest}": 0.0 for what in ("groups", "share") for rest in ("20-40", "40-60", "60-80")},
        "data/groups/sums": 4.0,
        "data/share/sums": 0.8,
        "data/pass_rate/sums": 5 / 12,
        "data/all_right/sums": 1 / 3,
        "data/all_wrong/sums": 1 / 3,
        "data/groups/terms": 1.0,
        "data/share/terms": 0.2,
        "data/pass_rate/terms": 1.0,
        "data/all_right/terms": 1.0,
        "data/all_wrong/terms": 0.0,
        "difficulty/groups/80-100": 2.0,
        "difficulty/share/80-100": 0.4,
        "difficulty/pass_rate/80-100": 0.5,
        "difficulty/all_right/80-100": 0.5,
        "difficulty/all_wrong/80-100": 0.5,
        "difficulty/groups/untried": 2.0,
        "difficulty/share/untried": 0.4,
        "difficulty/pass_rate/untried": 0.25,
        "difficulty/all_right/untried": 0.0,
        "difficulty/all_wrong/untried": 0.0,
        "difficulty/groups/0-20": 1.0,
        "difficulty/share/0-20": 0.2,
        "difficulty/pass_rate/0-20": 1.0,
        "difficulty/all_right/0-20": 1.0,
        "difficulty/all_wrong/0-20": 0.0,
    }
    assert all(find(name) is not None for name in tally.metrics())


def test_what_is_not_known_is_left_out() -> None:
    tally = GroupTally(ROWS)
    tally.add(came_back("sums", 0, graded=0), None)
    assert {name.split("/")[1] for name in tally.metrics()} == {"groups", "share"}
    assert (tally.metrics()["data/share/sums"], tally.metrics()["data/share/terms"]) == (1.0, 0.0)
    assert GroupTally(ROWS).metrics() == {}, "a step without groups"


@pytest.mark.parametrize("kind", ["uniform", "difficulty_band", "difficulty_target", "adaptive_ratio"])
def test_a_group_counts_under_what_was_known_before_it(kind: str) -> None:
    chosen = spec(data=weighted(sums=1.0, terms=1.0), curriculum={"type": kind})
    curriculum = Curriculum(chosen, ROWS, 0, {"sums": {3: (0.5, 8)}})
    for right in (4, 4):
        curriculum.count(came_back("sums", right, row=3))
        curriculum.observe("sums:3", right / 4, 4)
        curriculum.count(came_back("terms", right, row=3))
        curriculum.observe("terms:3", right / 4, 4)
    curriculum.end_step(1)
    prefix = "difficulty/groups"
    found = {name: value for name, value in curriculum.metrics().items() if name.startswith(prefix) and value}
    # (8 · 0.5 + 4) / 12 = 2/3, and 1 without a prior.
    assert found == {
        "difficulty/groups/40-60": 1.0,
        "difficulty/groups/untried": 1.0,
        "difficulty/groups/60-80": 1.0,
        "difficulty/groups/80-100": 1.0,
    }
    curriculum.end_step(2)
    assert curriculum.metrics() == {}


def test_goldilocks_knows_the_rates_of_its_column() -> None:
    chosen = spec(data=weighted(sums=1.0, terms=1.0), curriculum={"type": "goldilocks"})
    curriculum = Curriculum(chosen, ROWS, 0)
    curriculum.count(came_back("sums", 2))
    curriculum.end_step(1)
    assert curriculum.metrics()["difficulty/groups/20-40"] == 1.0


def test_the_outcome_of_a_group_by_hand() -> None:
    trained: Any = group([trajectory(1.0, length=2), trajectory(0.0, length=4), trajectory(None, length=6)])
    trained.group_id, trained.prompt_id = "7-3", "sums:5"
    assert outcome(trained) == GroupOutcome("sums:5", 7, 1, 2, 1.0, 3, 12)
    assert outcome(trained).source == "sums"
