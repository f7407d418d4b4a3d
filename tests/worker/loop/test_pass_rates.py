"""Reports of pass rates: told where they have changed, ever more rarely, and at once when a stage begins."""

from typing import Any, cast

from tests.trainer_core.specs import spec, weighted
from trainer_core.link.events import PassRatesData
from trainer_core.steering.curriculum import Curriculum
from worker.link.client import Link
from worker.loop.reporting.pass_rates import PassRateReports

BAND = {"type": "difficulty_band"}


class Told:
    """Events of the link, by step."""

    def __init__(self) -> None:
        self.events: dict[int, PassRatesData] = {}

    def emit(self, data: PassRatesData, step: int) -> None:
        assert step not in self.events
        self.events[step] = data


def made(curriculum: dict[str, Any], **data: Any) -> tuple[Curriculum, PassRateReports, Told]:
    rows = {"a": [{"prompt": str(row), "pass_rate": 0.5} for row in range(8)]}
    found, told = Curriculum(spec(data={**weighted(a=1.0), **data}, curriculum=curriculum), rows, 0), Told()
    return found, PassRateReports(found, cast(Link, told)), told


def test_each_change_of_a_short_run_is_told_and_few_of_a_long_one() -> None:
    curriculum, reports, told = made(BAND)
    for step in range(1000):
        reports.tell(step)
        if step < 20 or step >= 30:
            curriculum.observe(f"a:{step % 8}", (step % 7) / 6)
    assert sorted(told.events)[:22] == [*range(21), 31]
    assert len(told.events) < 120
    assert told.events[0].sources[0].untried == 8
    assert told.events[1].sources[0].cells == ((0, 1),)


def test_pass_rates_that_stay_are_told_once() -> None:
    _, reports, told = made({"type": "goldilocks"})
    for step in range(50):
        reports.tell(step)
    assert list(told.events) == [0]
    assert told.events[0].sources[0].model_dump() == {
        "name": "a", "prompts": 8, "untried": 0, "cells": ((400, 8),),
    }  # fmt: skip


def test_a_curriculum_without_pass_rates_tells_none() -> None:
    _, reports, told = made({"type": "uniform"})
    reports.tell(0)
    assert not told.events


def test_a_stage_is_told_when_it_begins() -> None:
    stages = [{"name": "one", "gate": {"type": "steps", "steps": 81}}, {"name": "two"}]
    curriculum, reports, told = made(BAND, stages=stages)
    for step in range(100):
        curriculum.draw(1, step + 1)
        reports.tell(step)
    assert {step: event.stage for step, event in told.events.items()} == {0: "one", 81: "two"}
