"""What a run does while it stands paused, without engines or learner: saves that fail, and what its state says."""

import re
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from ray.exceptions import RayActorError

from tests.trainer_core.update.making import make_spec
from trainer_core.link.events import PLACE_GIVEN_BACK, AlertData, EventData, LogData, StateData
from worker.errors import PlaceReleased, RolloutError, WeightsRefused
from worker.loop import run as module
from worker.loop.checkpoints import Checkpoints
from worker.loop.controller import Cancelled, RunController
from worker.loop.evaluation import Evaluator
from worker.loop.noise import WAY_OUT, KeptNoise
from worker.loop.run import ActiveRun
from worker.loop.saving import Saving
from worker.messages.probe import Floor, ProbeFigures


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
        return [event.message for event in self.told if isinstance(event, AlertData)]

    @property
    def states(self) -> list[str]:
        return [event.state for event in self.told if isinstance(event, StateData)]


class FullDisk:
    """Learning stage whose checkpoints cannot be written, for the reason that ``error`` gives."""

    error = "disk full"
    tries = 0

    def save(self, path: Path, state: dict[str, Any], then: Callable[..., None]) -> "Future[Any]":
        self.tries += 1
        saved: Future[Any] = Future()
        saved.set_exception(OSError(self.error))
        return saved


@pytest.fixture
def still(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[ActiveRun, Any, Any]:
    """A run after step 7 that saves on a full disk; its link; its learning stage."""
    monkeypatch.setattr(module, "POLL_S", 0.0)
    monkeypatch.setattr(module, "RELEASE_AGAIN_S", 0.0)
    link: Any = PlatformSide()
    learning: Any = FullDisk()
    run: Any = ActiveRun.__new__(ActiveRun)
    run._link = link
    run._saving = Saving(Checkpoints(tmp_path, 1, 2, link), learning, link)
    run._saving.remember(7, {})
    run._state = dict
    run._commands = SimpleNamespace(wish_requested=lambda step: None)
    run._dispatcher = SimpleNamespace(absorb=lambda: None, feed=lambda: None)
    run._parts = SimpleNamespace(woken=Event(), generation=SimpleNamespace(check=lambda: None))
    run._evaluator = run._rewards = SimpleNamespace(last=None)
    run._performance = SimpleNamespace(restart_clock=lambda: None)
    run._sync = run._hold = run._told_trouble = None
    run._release_after = 0.0
    return run, link, learning


def script(run: Any, *rounds: Callable[[], Any]) -> None:
    """What happens before each round of the pause, in order; the last one must end it."""
    left = list(rounds)
    run._interrupt = lambda: left.pop(0)()


def test_a_full_disk_is_told_once_until_its_reason_changes(still: tuple[Any, Any, Any]) -> None:
    run, link, learning = still
    link.release_place = True

    def nothing() -> None:
        pass

    def other() -> None:
        learning.error = "read-only file system"

    def resume() -> None:
        link.desired_state, link.release_place = "running", False

    script(run, nothing, nothing, nothing, other, nothing, resume)
    run.pause_if_asked(7)
    assert learning.tries == 5
    stays = ". The run stays paused and keeps its place; saving is tried again in a minute."
    assert link.alerts == [
        f"The checkpoint after step 7 could not be written: {why}{stays}"
        for why in ("disk full", "read-only file system")
    ]
    # What was told does not pause it again, now that people have resumed it.
    run.pause_if_asked(7)
    assert link.states == ["paused", "running"]


def test_a_checkpoint_that_people_asked_for_in_a_pause_and_that_fails_is_told_then(still: tuple[Any, Any, Any]) -> None:
    run, link, _ = still

    def resume() -> None:
        link.desired_state = "running"

    script(run, lambda: run._saving.wish(7, "requested"), resume)
    run.pause_if_asked(7)
    assert link.alerts == ["The checkpoint after step 7 could not be written: disk full"]
    run.pause_if_asked(7)
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
    run._evaluator, run._tokens_total, run._probe_text = evaluator, 0, []
    run._guards = run._experience = run._rewards = SimpleNamespace(state=dict)
    run._steering, run._parts = SimpleNamespace(revision=0), parts_that_kept(None)
    assert run._state()["evaluated_at_start"] == (before or result)


def parts_that_kept(floor: Floor | None) -> Any:
    """Parts of a run as far as its state tells of them."""
    generation = SimpleNamespace(engines=SimpleNamespace(floor=floor), check=lambda: None)
    return SimpleNamespace(timeline=SimpleNamespace(elapsed_s=0.0), generation=generation, device="cpu", woken=Event())


@pytest.mark.parametrize(
    ("floor", "text", "kept"),
    [
        (
            Floor(0.1, 0.3, 0.2, 0.05),
            [[1, 2]],
            {"device": "cpu", "floor": {"mean": 0.1, "quantile": 0.3, "spread": 0.2, "rounding": 0.05}},
        ),
        (None, [[1, 2]], None),
        (Floor(0.1, 0.3, 0.2), [], None),
    ],
    ids=["kept", "not measured yet", "of random tokens"],
)
def test_the_noise_of_the_start_is_kept_with_its_text(
    floor: Floor | None, text: list[list[int]], kept: dict[str, Any] | None
) -> None:
    run: Any = ActiveRun.__new__(ActiveRun)
    run._parts, run._probe_text, run._kept_noise = parts_that_kept(floor), text, KeptNoise(None, "cpu", again=False)
    assert run._noise() == kept


def test_a_kept_noise_judges_unless_people_distrust_it_or_the_device_is_another() -> None:
    floor = Floor(0.1, 0.3, 0.2, 0.05)
    kept = KeptNoise(None, "cpu", again=False).state(floor)
    assert KeptNoise(kept, "cpu", again=False).floor == floor
    assert KeptNoise(kept, "cuda", again=False).floor is None
    assert KeptNoise(None, "cpu", again=True).floor is None
    again = KeptNoise(kept, "cpu", again=True)
    assert (again.floor, again.asked) == (None, True)
    told = again.told(ProbeFigures(0.25, 0.5, 0.75, Floor(0.25, 0.5, 0.3), 0.98))
    assert (told.level, told.message) == (
        "info",
        "The noise between engine and learner was measured again, as asked: 0.25 nats on average; it was 0.1 before. "
        "The 98% of the weights that can be read back are as published.",
    )


def test_a_pause_over_scores_alone_says_how_the_noise_is_measured_again(still: tuple[Any, Any, Any]) -> None:
    run, link, _ = still
    run._whole_after, run._version = None, 7
    script(run, lambda: None, lambda: setattr(link, "desired_state", "running"))
    with pytest.raises(PlaceReleased):
        run.stand_refused(WeightsRefused("Rollout worker 0: they differ by 0.5 nats", by_noise=True))
    assert link.alerts[0].endswith(f"start it from there with new engines. {WAY_OUT}")
    assert '"Measure the noise again" before you resume' in WAY_OUT


class FewWords:
    """Engines that are asked for text; what becomes of it is set by the test."""

    def __init__(self) -> None:
        self.floor, self.asked = None, 0
        self.answer: Future[Any] = Future()

    def sample(self, prompts: list[list[int]], max_tokens: int, seed: int) -> "Future[Any]":
        self.asked += 1
        return self.answer


@pytest.fixture
def starting(still: tuple[Any, Any, Any]) -> tuple[Any, Any, FewWords]:
    """A run that has no text to probe with yet; its link; its engines."""
    run, link, _ = still
    engines, run._parts = FewWords(), parts_that_kept(None)
    run._parts.generation.engines = engines
    run._parts.sources = {"a": SimpleNamespace(prompts=[np.array([1, 2, 3], np.int32)])}
    run._parts.learning = SimpleNamespace(probe_with=lambda text: link.told.append(text))
    spec = make_spec()
    run._steering, run._probe_text, run._version = SimpleNamespace(spec=spec), [], 0
    run._interrupt, link.desired_state = lambda: None, "running"
    return run, link, engines


def test_a_run_probes_with_what_its_policy_says(starting: tuple[Any, Any, FewWords]) -> None:
    run, link, engines = starting
    engines.answer.set_result([[7, 8]])
    run._choose_probe_text()
    assert (link.told, engines.asked) == ([[[1, 2, 3, 7, 8]]], 1)


def test_a_worker_that_is_lost_at_the_start_costs_the_run_its_text_alone(starting: tuple[Any, Any, FewWords]) -> None:
    run, link, engines = starting
    engines.answer.set_exception(RayActorError())
    run._choose_probe_text()
    (line,) = link.told
    assert isinstance(line, LogData) and line.message.startswith("No text could be sampled for the probe (")
    assert run._probe_text == []

    def check() -> None:
        raise RolloutError("Rollout worker 0 died, 3 fresh ones too.")

    run._parts.generation.check = check
    with pytest.raises(RolloutError, match="3 fresh ones too"):
        run._choose_probe_text()


def test_a_worker_that_hangs_at_the_start_does_not_keep_the_run_from_ending(
    starting: tuple[Any, Any, FewWords],
) -> None:
    run, link, engines = starting

    def cancel() -> None:
        raise Cancelled

    run._interrupt = cancel
    with pytest.raises(Cancelled):
        run._choose_probe_text()
    assert (link.told, engines.asked) == ([], 1)


@pytest.mark.parametrize(
    ("whole", "kept"),
    [
        (7, "It could not be saved after step 7 (disk full), and goes on from its last checkpoint."),
        (None, "It goes on from its last checkpoint: the learner was in the middle of a step."),
    ],
)
def test_refused_weights_hold_the_run_until_people_resume_it(
    still: tuple[Any, Any, Any], whole: int | None, kept: str
) -> None:
    run, link, learning = still
    run._whole_after, run._version = whole, 7
    link.desired_state = "running"

    def nothing() -> None:
        pass

    def note() -> None:
        link.desired_state = "paused"

    def resume() -> None:
        link.desired_state = "running"

    # Until the platform has taken note of the pause it still says "running": that resumes nothing.
    script(run, nothing, nothing, note, nothing, resume)
    with pytest.raises(PlaceReleased, match=re.escape(kept)):
        run.stand_refused(
            WeightsRefused("Rollout worker 0 does not compute with the new weights: weights 7: all differ")
        )
    reason = (
        f"Rollout worker 0 does not compute with the new weights: weights 7: all differ. {kept} "
        "Resume the run to start it from there with new engines."
    )
    assert link.alerts == [reason]
    (state,) = [event for event in link.told if isinstance(event, StateData)]
    assert (state.state, state.reason, state.by_request) == ("paused", reason, False)
    assert learning.tries == (0 if whole is None else 1)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("", PLACE_GIVEN_BACK),
        ("It goes on from its last checkpoint.", "Its place was given back. It goes on from its last checkpoint."),
    ],
)
def test_a_suspended_run_says_from_where_it_goes_on(said: str, reason: str) -> None:
    controller: Any = RunController.__new__(RunController)

    class Gone:
        def emit(self, data: EventData) -> None:
            raise PlaceReleased(said) if said else PlaceReleased

    assert controller._execute(None, {}, Gone()) == ("suspended", reason, None)
