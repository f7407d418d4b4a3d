"""Ramps: a control that takes a number to its new value step by step."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from trainer_core.link.commands import Applied, ControlCommand, Ramp, RampUnderWay
from trainer_core.spec import RunSpec
from trainer_core.spec.base import Boundary
from worker.loop.controls import Controls
from worker.loop.steering import Steering

TEMPERATURE = "rollout.temperature"


class Told:
    """A link that keeps what it is told, and has the commands that it is given."""

    def __init__(self) -> None:
        self.staged: list[ControlCommand] = []
        self.reports: list[tuple[str, str, int | None]] = []
        self.logs: list[str] = []

    def commands(self) -> list[ControlCommand]:
        return self.staged

    def control(self, *reports: Applied) -> None:
        self.reports += [(report.control_id, report.state, report.step) for report in reports]

    def emit(self, data: Any, step: int) -> None:
        self.logs.append(data.message)


class Loop:
    """The controls of a run without the run."""

    def __init__(self, spec: dict[str, Any], ramps: tuple[RampUnderWay, ...] = ()) -> None:
        self.steering = Steering(RunSpec.model_validate(spec), 0, ramps=ramps)
        self.link, self.handed_on = Told(), 0
        rewards, saving = SimpleNamespace(take_in=lambda commands: None), SimpleNamespace(wish=lambda *wish: None)
        self.controls = Controls(self.steering, rewards, self.link, saving, self._count)  # type: ignore[arg-type]

    def _count(self, spec: RunSpec) -> None:
        self.handed_on += 1

    def stage(self, name: str, target: str, value: Any, ramp: Ramp | None = None, **more: Any) -> None:
        revision = len(self.link.staged) + 1
        facts = {"id": name, "revision": revision, "target": target, "value": value, "apply_at": "next", **more}
        self.link.staged.append(ControlCommand(type="control", ramp=ramp, **facts))

    def temperatures(self, first: int, last: int, boundary: Boundary = "group_dispatch") -> list[float]:
        found = []
        for step in range(first, last + 1):
            self.controls.apply(boundary, step, f"{step}-0", step - 1)
            self.controls.settle(SimpleNamespace(step=step, applications=self.steering.applications, controls=()))
            found.append(round(self.steering.spec.rollout.temperature, 6))
        return found


@pytest.fixture
def loop(spec: Callable[..., dict[str, Any]]) -> Loop:
    return Loop(spec())


def test_a_ramp_moves_with_each_step_and_settles_at_its_end(loop: Loop) -> None:
    loop.stage("ramp", TEMPERATURE, 0.6, Ramp(before=1.0, steps=4), apply_at=3)
    assert loop.temperatures(2, 8) == [1.0, 0.9, 0.8, 0.7, 0.6, 0.6, 0.6]
    assert loop.link.reports == [("ramp", "applied", 3), ("ramp", "settled", 6)]
    assert loop.handed_on == 4, "the dispatch is told of each move, and of none after the end"


def test_a_later_control_ends_a_ramp_where_it_is(loop: Loop) -> None:
    loop.stage("ramp", TEMPERATURE, 0.6, Ramp(before=1.0, steps=4))
    assert loop.temperatures(1, 2) == [0.9, 0.8]
    loop.stage("back", TEMPERATURE, 1.0)
    assert loop.temperatures(3, 6) == [1.0, 1.0, 1.0, 1.0]
    assert loop.link.reports == [
        ("ramp", "applied", 1),
        ("back", "applied", 3),
        ("ramp", "settled", 3),
        ("back", "settled", 3),
    ]


def test_a_ramp_that_could_not_reach_its_end_does_not_begin(loop: Loop) -> None:
    loop.stage("ramp", TEMPERATURE, -1.0, Ramp(before=1.0, steps=4))
    assert loop.temperatures(1, 3) == [1.0, 1.0, 1.0]
    assert loop.link.reports == [("ramp", "rejected", 1)]


def test_fields_of_a_set_move_together_at_the_latest_boundary(loop: Loop) -> None:
    rate = loop.steering.spec.optimizer.learning_rate
    loop.stage("temperature", TEMPERATURE, 0.8, Ramp(before=1.0, steps=2), change_set="s")
    loop.stage("rate", "optimizer.learning_rate", rate / 2, Ramp(before=rate, steps=2), change_set="s")
    assert loop.temperatures(1, 1) == [1.0], "the dispatch alone does not move them"
    assert loop.temperatures(1, 1, "optimizer_step") == [0.9]
    assert loop.steering.spec.optimizer.learning_rate == pytest.approx(0.75 * rate)
    applied = loop.controls.apply("optimizer_step", 2, "2-0", 1)
    assert [(one.control_id, one.is_under_way) for one in applied] == [("rate", False)], "it settles with this batch"
    assert loop.steering.spec.optimizer.learning_rate == rate / 2


def test_a_value_between_that_fits_nothing_else_is_left_out_and_told(loop: Loop) -> None:
    loop.stage("ramp", TEMPERATURE, 0.6, Ramp(before=1.0, steps=4))
    loop.temperatures(1, 1)
    moving = loop.steering.ramps.at("group_dispatch")[0]
    loop.steering.ramps.begin(type(moving)(moving.control, moving.boundary, 1, -1.0, 0.6, 4))
    assert loop.temperatures(2, 4) == [0.9, 0.2, 0.6]
    assert len(loop.link.logs) == 1
    assert "A ramp stays at its value: rollout.temperature" in loop.link.logs[0]


def test_an_attempt_goes_on_with_a_ramp_as_if_nothing_had_happened(spec: Callable[..., dict[str, Any]]) -> None:
    whole = Loop(spec())
    whole.stage("ramp", TEMPERATURE, 0.5, Ramp(before=1.0, steps=5))
    expected = whole.temperatures(1, 7)
    left = RampUnderWay(
        control_id="ramp",
        revision=1,
        target=TEMPERATURE,
        before=1.0,
        value=0.5,
        steps=5,
        boundary="group_dispatch",
        first_step=1,
    )
    again = Loop(spec(rollout__temperature=expected[1]), ramps=(left,))
    assert again.temperatures(3, 7) == expected[2:]
    assert again.link.reports == [("ramp", "settled", 5)]
