"""The link against a real HTTP server: order, outages, fencing, commands."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.worker.loop.platform_double import PlatformDouble
from trainer_core.link.commands import Applied
from trainer_core.link.events import LogData, PhaseData, StepData
from worker.link import client as module
from worker.link.client import Link
from worker.link.journal import Journal
from worker.loop.reporting.reports import checked

Connect = Callable[..., Link]
LOG = LogData(level="info", message="m")


def step_data(step: int, **metrics: float) -> StepData:
    return StepData(metrics={"n": step, **metrics}, tokens_total=step, seconds=0.5)


class Watched(threading.Event):
    """Shows for how long it was waited for, and that somebody does."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float | None] = []
        self.begun = threading.Event()

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout)
        self.begun.set()
        return super().wait(timeout)


@pytest.fixture
def connect(platform: PlatformDouble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connect]:
    monkeypatch.setattr(module, "BACKOFF_S", (0.05, 0.2))
    monkeypatch.setattr(module, "HEARTBEAT_S", 0.05)
    monkeypatch.setattr(module, "SPACING_S", 0.01)
    made: list[Link] = []

    def open_link(token: str = "secret", hurried: threading.Event | None = None) -> Link:
        link = Link(platform.url, token, "r", 1, Journal(tmp_path / "j.jsonl"))
        made.append(link)
        link._hurried = hurried or link._hurried
        link.start()
        return link

    yield open_link
    for link in made:
        link.close()


def test_events_arrive_in_order_without_gap(connect: Connect, platform: PlatformDouble) -> None:
    link = connect()
    for step in range(1, 1201):
        link.emit(step_data(step), step)
    assert link.flush(20)
    assert platform.steps() == list(range(1, 1201))
    assert not platform.gaps and not platform.repeated


def test_an_outage_delays_but_loses_and_doubles_nothing(connect: Connect, platform: PlatformDouble) -> None:
    link = connect()
    link.emit(step_data(1), 1)
    platform.wait(lambda: platform.steps() == [1], 10)
    platform.status = 503
    for step in range(2, 50):
        link.emit(step_data(step), step)
        link.phase("generate", step, step, 50)
    with platform.changed:
        assert platform.changed.wait_for(lambda: platform.refused >= 3, 10)
    platform.status = 200
    assert link.flush(20)
    assert platform.steps() == list(range(1, 50))
    assert len(platform.of("phase")) <= 2, "one phase was journaled before the outage showed; the newest follows"
    assert platform.of("phase")[-1]["step"] == 49
    assert not platform.gaps


def test_a_platform_that_vanishes_altogether_is_waited_for(connect: Connect, platform: PlatformDouble) -> None:
    link = connect()
    link.emit(LOG, 1)
    assert link.flush(10)
    platform.close()
    link.emit(LOG, 2)
    assert not link.flush(0.5)
    assert link.fenced is None


@pytest.mark.parametrize("status", [401, 403, 409])
def test_a_fenced_attempt_stops_talking(status: int, connect: Connect, platform: PlatformDouble) -> None:
    platform.status = status
    link = connect()
    link.emit(LOG, 1)
    assert link.flush(10)
    assert link.fenced is not None and str(status) in link.fenced
    assert platform.events == []


def test_a_revoked_token_fences(connect: Connect, platform: PlatformDouble) -> None:
    link = connect(token="stolen")
    link.emit(LOG, 1)
    assert link.flush(10)
    assert link.fenced is not None


def test_applied_entries_are_repeated_until_a_sync_succeeds(connect: Connect, platform: PlatformDouble) -> None:
    platform.status = 500
    link = connect()
    link.control(Applied(control_id="c1", state="applied", step=3, group="3-0", policy_version=2))
    with platform.changed:
        assert platform.changed.wait_for(lambda: platform.refused >= 2, 10)
    platform.status = 200
    link.control(Applied(control_id="c1", state="settled", step=3))
    assert link.flush(10)
    assert [(entry["control_id"], entry["state"]) for entry in platform.applied] == [
        ("c1", "applied"),
        ("c1", "settled"),
    ]
    assert platform.applied[0] == {
        "control_id": "c1", "state": "applied", "step": 3, "group": "3-0", "policy_version": 2, "error": None,
    }  # fmt: skip


def test_commands_and_desired_state_come_down(connect: Connect, platform: PlatformDouble) -> None:
    platform.commands = [{"id": "c1", "type": "checkpoint"}]
    platform.desired_state = "paused"
    link = connect()
    platform.wait(lambda: platform.syncs >= 2, 10)
    assert [command.wire() for command in link.commands()] == platform.commands
    assert link.desired_state == "paused"


def test_a_worker_says_that_it_gives_its_place_back_while_it_is_asked(
    connect: Connect, platform: PlatformDouble
) -> None:
    connect()
    for asked in (True, False, True):
        platform.release_place = asked
        platform.wait(lambda asked=asked: platform.last.get("releasing", False) == asked, 10)


def test_a_worker_tells_its_gpus_once_it_knows_them(connect: Connect, platform: PlatformDouble) -> None:
    link = connect()
    platform.wait(lambda: platform.syncs >= 1, 10)
    assert "gpus" not in platform.last
    link.tell_gpus(2.5)
    platform.wait(lambda: platform.last.get("gpus") == 2.5, 10)


def test_a_lost_attempt_says_so_with_its_last_events(connect: Connect, platform: PlatformDouble) -> None:
    platform.further, hurried = {"pace_s": 3600.0}, Watched()
    link = connect(hurried=hurried)
    assert hurried.begun.wait(10)
    assert "lost" not in platform.last
    for step in range(1, 1201):  # more than one sync takes
        link.emit(step_data(step), step)
    told: list[int] = []
    receive = platform.receive

    def received(body: dict[str, Any]) -> dict[str, Any]:
        answer = receive(body)
        if "lost" in body:
            told.append(answer["acked_seq"])
        return answer

    platform.receive = received  # type: ignore[method-assign]
    link.give_up("learner rank 0 died")
    assert link.flush(10), "without waiting for the pace"
    assert platform.steps() == list(range(1, 1201))
    assert (told[0], platform.last["lost"]) == (1200, "learner rank 0 died"), "nothing after it would be accepted"


def test_a_loss_is_repeated_until_the_platform_hears_of_it(connect: Connect, platform: PlatformDouble) -> None:
    link = connect()
    platform.wait(lambda: platform.syncs >= 1, 10)
    platform.status = 503
    link.give_up("x" * 600)
    platform.wait(lambda: platform.refused >= 2, 10)
    assert not link.flush(0.0)
    platform.status = 200
    assert link.flush(10)
    assert platform.last["lost"] == "x" * 500


def test_a_loss_is_told_though_the_disk_is_full(
    connect: Connect, platform: PlatformDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = connect()

    def refuse(events: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(link._journal, "append", refuse)
    link.emit(LOG)
    link.give_up("learner rank 0 died")
    assert link.flush(10)
    assert (platform.last["lost"], platform.events) == ("learner rank 0 died", [])


@pytest.mark.parametrize("status", [401, 403, 409])
def test_a_lost_attempt_that_was_replaced_ends(status: int, connect: Connect, platform: PlatformDouble) -> None:
    link = connect()
    platform.wait(lambda: platform.syncs >= 1, 10)
    platform.status = status  # it heard of the loss, and the answer was lost
    link.give_up("learner rank 0 died")
    assert link.flush(10) and link.fenced is not None


def test_a_worker_keeps_the_pace_that_it_is_asked_for(connect: Connect, platform: PlatformDouble) -> None:
    platform.further, hurried = {"pace_s": 3600.0}, Watched()
    link = connect(hurried=hurried)
    assert hurried.begun.wait(10)
    assert (platform.syncs, hurried.waits) == (1, [3600.0 - module.SPACING_S])
    for step in range(1, 4):
        link.emit(step_data(step), step)
    assert (platform.syncs, hurried.is_set()) == (1, False), "what happens meanwhile waits"
    assert link.flush(10), "but the end of a run does not wait"
    assert platform.steps() == [1, 2, 3]
    # One that holds more than one sync takes comes again at once.
    for step in range(4, 2000):
        link.emit(step_data(step), step)
    assert link.flush(10)
    assert platform.steps() == list(range(1, 2000))


def test_a_new_process_of_the_attempt_delivers_what_the_old_one_left(
    connect: Connect, platform: PlatformDouble, tmp_path: Path
) -> None:
    left = Journal(tmp_path / "j.jsonl")
    left.append([{"seq": 1, "kind": "step", "step": 1, "at": "", "data": {}}])
    left.close()
    link = connect()
    assert link.emit(LOG) == 2
    assert link.flush(10)
    assert [event["seq"] for event in platform.events] == [1, 2]


def test_numbers_without_a_json_word_travel_as_words(connect: Connect, platform: PlatformDouble) -> None:
    link = connect()
    link.emit(step_data(1, a=float("nan"), b=float("inf"), c=float("-inf"), d=1.5), 1)
    assert link.flush(10)
    (event,) = platform.of("step")
    assert event["data"]["metrics"] == {"n": 1.0, "a": "NaN", "b": "Infinity", "c": "-Infinity", "d": 1.5}
    assert StepData.model_validate(event["data"]).metrics["b"] == float("inf")


def test_commands_of_a_newer_platform_are_told_of_once_and_hide_no_others(
    connect: Connect, platform: PlatformDouble
) -> None:
    control = {"id": "c1", "type": "control", "revision": 1, "target": "t", "value": 1}
    platform.commands = [
        {"id": "d1", "type": "dance", "tempo": 3},
        {**control, "apply_at": "tomorrow"},
        {"id": "k1", "type": "checkpoint", "urgent": True},
    ]
    link = connect()
    platform.wait(lambda: platform.applied and platform.of("log") and platform.syncs >= 4, 10)
    assert [command.wire() for command in link.commands()] == [{"id": "k1", "type": "checkpoint"}]
    (log,) = platform.of("log")
    assert log["data"]["level"] == "warn"
    assert log["data"]["message"].startswith("This worker cannot read the command d1 of type 'dance'")
    (refused,) = platform.applied
    assert (refused["control_id"], refused["state"]) == ("c1", "rejected")
    assert "apply_at" in refused["error"] and refused["error"].endswith("Upgrade the cluster's workers.")


def test_what_the_link_cannot_carry_becomes_an_error_in_the_log() -> None:
    told = checked(lambda: PhaseData(phase="x" * 41))
    assert isinstance(told, LogData)
    assert (told.level, told.message) == (
        "error",
        "An event cannot be reported (PhaseData): phase: String should have at most 40 characters",
    )
    assert checked(lambda: LOG) is LOG
