"""The loop's part in the probe, without engines or learner: its text, and the noise that a checkpoint keeps."""

import time
from collections.abc import Callable
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from ray.exceptions import RayActorError

from tests.trainer_core.update.making import make_spec
from trainer_core.link.events import LogData
from worker.errors import RolloutError
from worker.loop.controller import Cancelled
from worker.loop.noise import KeptNoise
from worker.loop.probing import Probing
from worker.messages.probe import Floor, ProbeFigures

FLOOR = {"mean": 0.1, "quantile": 0.3, "spread": 0.2, "rounding": 0.05}


class FewWords:
    """Engines that are asked for text; what becomes of it is set by the test."""

    def __init__(self) -> None:
        self.floor: Floor | None = None
        self.asked = 0
        self.answer: Future[Any] = Future()

    def sample(self, prompts: list[list[int]], max_tokens: int, seed: int) -> "Future[Any]":
        self.asked += 1
        return self.answer


class Told:
    """The link and the learning stage, as far as they are told something."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def emit(self, data: Any, step: int) -> None:
        self.told.append(data)

    def probe_with(self, text: list[list[int]]) -> None:
        self.told.append(text)


def parts(learning: Any, engines: Any, state: dict[str, Any]) -> Any:
    """Parts of a run as far as the probe needs them."""
    return SimpleNamespace(
        generation=SimpleNamespace(engines=engines, check=lambda: None),
        sources={"a": SimpleNamespace(prompts=[np.array([1, 2, 3], np.int32)])},
        learning=learning,
        device="cpu",
        state=state,
    )


def result(future: "Future[Any]") -> Any:
    """Waits for nothing: the test's answers are there."""
    return future.result(0)


@pytest.fixture
def starting() -> tuple[Callable[..., Probing], Told, FewWords]:
    """Makes the probing of a run that has no text yet; its link and learner; its engines."""
    told: Any = Told()
    engines = FewWords()
    noise = KeptNoise(None, "cpu", again=False)
    return (lambda wait=result: Probing(parts(told, engines, {}), noise, told, wait)), told, engines


@pytest.mark.parametrize(
    ("floor", "text", "kept"),
    [
        (Floor(**FLOOR), [[1, 2]], {"device": "cpu", "floor": FLOOR}),
        (None, [[1, 2]], None),
        (Floor(0.1, 0.3, 0.2), [], None),
    ],
    ids=["kept", "not measured yet", "of random tokens"],
)
def test_the_noise_of_the_start_is_kept_with_its_text(
    floor: Floor | None, text: list[list[int]], kept: dict[str, Any] | None
) -> None:
    engines, told = FewWords(), Told()
    noise, link = KeptNoise(None, "cpu", again=False), cast(Any, told)
    probing = Probing(parts(told, engines, {"probe_text": text}), noise, link, result)
    engines.floor = floor
    assert probing.state() == {"probe_text": text, "probe_noise": kept}


@pytest.mark.parametrize(("device", "floor"), [("cpu", Floor(**FLOOR)), ("cuda", None)])
def test_the_noise_of_an_earlier_attempt_holds_on_its_kind_of_device(device: str, floor: Floor | None) -> None:
    engines, link = FewWords(), cast(Any, Told())
    noise = KeptNoise({"device": device, "floor": FLOOR}, "cpu", again=False)
    Probing(parts(link, engines, {"probe_text": [[1]]}), noise, link, result)
    assert engines.floor == floor


def test_a_kept_noise_judges_unless_people_distrust_it() -> None:
    kept = KeptNoise(None, "cpu", again=False).state(Floor(**FLOOR))
    assert KeptNoise(kept, "cpu", again=False).floor == Floor(**FLOOR)
    assert KeptNoise(None, "cpu", again=True).floor is None
    again, link = KeptNoise(kept, "cpu", again=True), cast(Any, Told())
    assert (again.floor, again.asked) == (None, True)
    probing = Probing(parts(link, FewWords(), {}), again, link, result)
    measured: Future[ProbeFigures] = Future()
    measured.set_result(ProbeFigures(0.25, 0.5, 0.75, Floor(0.25, 0.5, 0.3), 0.98))
    probing.watch(measured, time.perf_counter())
    probing.tell_noise(7)
    [told] = link.told
    assert (told.level, told.message) == (
        "info",
        "The noise between engine and learner was recalibrated as requested: 0.25 nats on average; it was 0.1 before. "
        "The 98% of the weights that can be read back are as published.",
    )


def test_a_run_probes_with_what_its_policy_says(starting: tuple[Any, Any, FewWords]) -> None:
    make, link, engines = starting
    engines.answer.set_result([[7, 8]])
    make().choose_text(make_spec(), 0)
    assert (link.told, engines.asked) == ([[[1, 2, 3, 7, 8]]], 1)


def test_a_worker_that_is_lost_at_the_start_costs_the_run_its_text_alone(starting: tuple[Any, Any, FewWords]) -> None:
    make, link, engines = starting
    engines.answer.set_exception(RayActorError())
    probing = make()
    probing.choose_text(make_spec(), 0)
    (line,) = link.told
    assert isinstance(line, LogData) and line.message.startswith("No text could be sampled for the probe (")
    assert probing.state()["probe_text"] == []

    def check() -> None:
        raise RolloutError("Rollout worker 0 died, and so did 3 replacements.")

    probing._parts.generation.check = check
    with pytest.raises(RolloutError, match="and so did 3 replacements"):
        probing.choose_text(make_spec(), 0)


def test_a_worker_that_hangs_at_the_start_does_not_keep_the_run_from_ending(
    starting: tuple[Any, Any, FewWords],
) -> None:
    make, link, engines = starting

    def cancel(future: "Future[Any]") -> None:
        assert not future.done()
        raise Cancelled

    with pytest.raises(Cancelled):
        make(cancel).choose_text(make_spec(), 0)
    assert (link.told, engines.asked) == ([], 1)


def test_a_transfer_that_fails_leaves_the_figures_of_the_last_one(starting: tuple[Any, Any, FewWords]) -> None:
    probing = starting[0]()
    assert probing.metrics() == {}
    passed: Future[ProbeFigures] = Future()
    probing.watch(passed, time.perf_counter())
    passed.set_result(figures := ProbeFigures(0.1, 0.2, 0.3, Floor(**FLOOR), 1.0, 0.5))
    assert probing.transfer_s > 0.0
    failed: Future[ProbeFigures] = Future()
    probing.watch(failed, time.perf_counter())
    failed.set_exception(OSError("lost"))
    assert probing.metrics() == figures.metrics()
