"""What a run does while it stands paused, without engines or learner: saves that fail, and what its state says."""

import re
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from trainer_core.link.events import PLACE_GIVEN_BACK, AlertData, EventData, StateData
from worker.errors import PlaceReleased, WeightsRefused
from worker.loop import controller as controller_module
from worker.loop import pausing as module
from worker.loop import startup
from worker.loop.checkpoints import Checkpoints
from worker.loop.controller import RunController
from worker.loop.evaluation import Evaluator
from worker.loop.noise import WAY_OUT
from worker.loop.pausing import Pausing
from worker.loop.run import ActiveRun
from worker.loop.saving import Saving


class PlatformSide:
    """Link to a platform that has asked for a pause, and keeps what it is told."""

    def __init__(self) -> None:
        self.desired_state, self.release_place, self.acked_seq = "paused", False, 0
        self.told: list[EventData] = []

    def emit(self, data: EventData, step: int | None = None) -> int:
        self.told.append(data)
        return len(self.told)

    def phase(self, phase: str, step: int) -> None:
        pass

    @property
    def alerts(self) -> list[str]:
        return [event.message for event in self.told if isinstance(event, AlertData) and event.level == "error"]

    @property
    def warnings(self) -> list[str]:
        return [event.message for event in self.told if isinstance(event, AlertData) and event.level == "warn"]

    @property
    def states(self) -> list[str]:
        return [event.state for event in self.told if isinstance(event, StateData)]


class FullDisk:
    """Learning stage whose checkpoints cannot be written, for the reason that ``error`` gives."""

    error = "disk full"
    checkpoints = 0

    def save(
        self, path: Path, state: dict[str, Any], then: Callable[..., None], failed: Callable[..., float | None]
    ) -> "Future[Any]":
        self.checkpoints += 1
        saved: Future[Any] = Future()
        error = OSError(self.error)
        tries = 1
        while failed(error) is not None:
            tries += 1
        assert tries == 3
        saved.set_exception(error)
        return saved


@pytest.fixture
def still(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Pausing, Any, Any]:
    """The pauses of a run after step 7 that saves on a full disk; its link; its learning stage."""
    monkeypatch.setattr(module, "POLL_S", 0.0)
    monkeypatch.setattr(module, "RELEASE_AGAIN_S", 0.0)
    link: Any = PlatformSide()
    learning: Any = FullDisk()
    saving = Saving(Checkpoints(tmp_path, 1, 2, link), learning, link, dict)
    saving.remember(7, {})
    commands: Any = SimpleNamespace(wish_requested=lambda step: None)
    pausing = Pausing(link, saving, commands, settle=lambda: None, interrupt=lambda: None)
    return pausing, link, learning


def script(pausing: Any, *rounds: Callable[[], Any]) -> None:
    """What happens before each round of the pause, in order; the last one must end it."""
    left = list(rounds)
    pausing._interrupt = lambda: left.pop(0)()


def test_a_full_disk_is_told_once_until_its_reason_changes(still: tuple[Any, Any, Any]) -> None:
    pausing, link, learning = still
    link.release_place = True

    def nothing() -> None:
        pass

    def other() -> None:
        learning.error = "read-only file system"

    def resume() -> None:
        link.desired_state, link.release_place = "running", False

    script(pausing, nothing, nothing, nothing, other, nothing, resume)
    pausing.pause_if_asked(7)
    assert learning.checkpoints == 5
    stays = ". The run stays paused and keeps its slot; saving is retried in a minute."
    assert link.alerts == [
        f"The checkpoint after step 7 could not be written: {why}{stays}"
        for why in ("disk full", "read-only file system")
    ]
    assert link.warnings == [
        f"The checkpoint after step 7: {why}. It is retried, three times in total."
        for why in ("disk full", "read-only file system")
    ]
    assert pausing._saving.metrics() == {"checkpoint/failures": 15.0}
    assert pausing._saving.metrics() == {"checkpoint/failures": 0.0}
    # What was told does not pause it again, now that people have resumed it.
    pausing.pause_if_asked(7)
    assert link.states == ["paused", "running"]


def test_a_checkpoint_that_people_asked_for_in_a_pause_and_that_fails_is_told_then(still: tuple[Any, Any, Any]) -> None:
    pausing, link, _ = still

    def resume() -> None:
        link.desired_state = "running"

    script(pausing, lambda: pausing._saving.wish(7, "requested"), resume)
    pausing.pause_if_asked(7)
    assert link.alerts == ["The checkpoint after step 7 could not be written: disk full"]
    pausing.pause_if_asked(7)
    assert link.states == ["paused", "running"]


def ended(error: Exception | None = None) -> "Future[Any]":
    future: Future[Any] = Future()
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)
    return future


def cancelled() -> "Future[Any]":
    future: Future[Any] = Future()
    future.cancel()
    return future


@pytest.mark.parametrize(
    ("last", "result"),
    [(None, False), (Future(), False), (ended(), True), (ended(OSError("lost")), False), (cancelled(), False)],
    ids=["none", "under way", "ended", "failed", "cancelled"],
)
@pytest.mark.parametrize("before", [False, True])
def test_an_evaluation_of_an_earlier_attempt_is_not_forgotten(
    before: bool, last: "Future[Any] | None", result: bool
) -> None:
    """A run that gives its place back twice before its first step was evaluated twice before."""
    unused: Any = None
    evaluator = Evaluator([], unused, unused, 8, evaluated_before=before)
    evaluator.last = last
    assert evaluator.has_result == (before or result)
    run: Any = ActiveRun.__new__(ActiveRun)
    run._evaluator, run._tokens_total = evaluator, 0
    run._guards = run._experience = run._rewards = run._probing = SimpleNamespace(state=dict)
    run._steering, run._parts = SimpleNamespace(revision=0), SimpleNamespace(timeline=SimpleNamespace(elapsed_s=0.0))
    assert run._state()["evaluated_at_start"] == (before or result)


def test_a_pause_over_scores_alone_says_how_the_noise_is_measured_again(still: tuple[Any, Any, Any]) -> None:
    pausing, link, _ = still
    script(pausing, lambda: None, lambda: setattr(link, "desired_state", "running"))
    with pytest.raises(PlaceReleased):
        refused = WeightsRefused("Rollout worker 0: they differ by 0.5 nats", by_noise=True)
        pausing.stand_refused(refused, 7, whole=False)
    assert link.alerts[0].endswith(f"start it from there with new engines. {WAY_OUT}")
    assert '"Recalibrate numerics noise" before you resume' in WAY_OUT


@pytest.mark.parametrize(
    ("whole", "kept"),
    [
        (True, "It could not be saved after step 7 (disk full), and continues from its last checkpoint."),
        (False, "It continues from its last checkpoint: the learner was in the middle of a step."),
    ],
)
def test_refused_weights_hold_the_run_until_people_resume_it(
    still: tuple[Any, Any, Any], whole: bool, kept: str
) -> None:
    pausing, link, learning = still
    link.desired_state = "running"

    def nothing() -> None:
        pass

    def note() -> None:
        link.desired_state = "paused"

    def resume() -> None:
        link.desired_state = "running"

    # Until the platform has taken note of the pause it still says "running": that resumes nothing.
    script(pausing, nothing, nothing, note, nothing, resume)
    with pytest.raises(PlaceReleased, match=re.escape(kept)):
        refused = WeightsRefused("Rollout worker 0 does not compute with the new weights: weights 7: all differ")
        pausing.stand_refused(refused, 7, whole=whole)
    reason = (
        f"Rollout worker 0 does not compute with the new weights: weights 7: all differ. {kept} "
        "Resume the run to start it from there with new engines."
    )
    assert link.alerts == [reason]
    (state,) = [event for event in link.told if isinstance(event, StateData)]
    assert (state.state, state.reason, state.by_request) == ("paused", reason, False)
    assert learning.checkpoints == (1 if whole else 0)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("", PLACE_GIVEN_BACK),
        ("It goes on from its last checkpoint.", "Its slot was released. It goes on from its last checkpoint."),
    ],
)
def test_a_suspended_run_says_from_where_it_goes_on(said: str, reason: str) -> None:
    controller: Any = RunController.__new__(RunController)

    class Gone:
        def emit(self, data: EventData) -> None:
            raise PlaceReleased(said) if said else PlaceReleased

    assert controller._execute(None, {}, Gone()) == ("suspended", reason, None)


@pytest.mark.parametrize("broken", [False, True])
def test_an_attempt_that_ends_holds_no_gpus_though_its_parts_do_not_close(
    broken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    controller: Any = RunController.__new__(RunController)
    told: list[float] = []

    class Started:
        gpus_held = staticmethod(lambda: 2.0)

        def __init__(self, *parts: Any) -> None:
            pass

        def run(self, tell: Any) -> None:
            raise PlaceReleased

        def close(self) -> None:
            if broken:
                raise OSError("cannot be removed")

    import_module("worker.loop.examples.startup")  # before: its class is made of the one that is replaced here
    monkeypatch.setattr(startup, "Startup", Started)
    of_rl = SimpleNamespace(spec=SimpleNamespace(examples=None))
    monkeypatch.setattr(controller_module, "parse_bundle", lambda document: of_rl)
    link = SimpleNamespace(emit=lambda data: None, tell_gpus=told.append)
    with pytest.raises(OSError, match="cannot be removed") if broken else nullcontext():
        controller._execute(SimpleNamespace(objection=None), {}, link)
    assert told == [0.0]
