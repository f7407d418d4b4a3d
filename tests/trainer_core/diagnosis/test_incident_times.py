"""Planted incidents are named in time, and none is named where nothing is wrong. ``make bench`` measures many more."""

from functools import cache

import pytest

from tests.bench.incidents import TARGET_S, false_alarms, named_after
from tests.support.incident_plants import PLANTS, Plant
from tests.support.incident_runs import Metrics, recorded

REAL = cache(recorded)


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_a_planted_incident_is_named_in_time(plant: Plant) -> None:
    for seed in range(3):
        named = named_after(plant, seed, REAL())
        assert named is not None, f"never, in the run {seed}"
        assert named[1] <= TARGET_S, f"after {named[0]} steps and {named[1]:.0f} s, in the run {seed}"


def test_nothing_is_named_in_healthy_runs() -> None:
    found, hours = false_alarms(20, 300, REAL())
    assert hours > 1.0
    assert not found


def test_the_recorded_run_is_one() -> None:
    steps = REAL()
    assert len(steps) == 210
    assert all({"actor/entropy", "timing_s/step"} <= step.keys() for step in steps)


def test_a_plant_changes_nothing_but_what_it_names() -> None:
    healthy: Metrics = dict(REAL()[100])
    for plant in PLANTS:
        before = dict(healthy)
        plant.change(healthy, 0)
        assert healthy == before, plant.name
