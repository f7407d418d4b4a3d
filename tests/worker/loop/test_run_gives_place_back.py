"""A paused run gives its place back, another one trains, and it goes on exactly as if it had never stood still."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.about import RUNS, TRAINING
from tests.worker.loop.conftest import Launcher, pausing_after
from tests.worker.loop.platform_double import PlatformDouble
from tests.worker.loop.test_run_resumes import history


@pytest.mark.live
@pytest.mark.expensive(4, "starts three runs with processes of their own", about=RUNS)
def test_suspended_and_resumed_equals_uninterrupted(
    launcher: Any, platform: PlatformDouble, spec: Callable[..., Any], tmp_path: Path
) -> None:
    document = spec(
        schedule__steps=4,
        schedule__prompts_per_step=4,
        checkpoint__every_steps=100,
        evaluation__every_steps=1,
        curriculum={"type": "difficulty_band"},
        **pausing_after(1),
    )
    launcher.prepare(document)
    launcher.start()
    platform.wait(lambda: platform.states()[-1:] == ["paused"])
    platform.desired_state = "paused"  # as the platform takes note of the pause
    stood = platform.steps()[-1]
    assert stood == 1
    assert platform.of("checkpoint") == [], "nobody has asked for one yet"

    # The disk is full at first: then the run stays, and says so. A second try succeeds.
    folder = launcher.folder / "run" / "checkpoints"
    folder.write_text("no folder")
    platform.release_place = True
    platform.wait(lambda: len(platform.of("alert")) == 3)
    _, first, alert = (event["data"] for event in platform.of("alert"))
    assert (first["level"], first["title"]) == ("warn", "A checkpoint could not be written")
    assert (alert["level"], alert["title"]) == ("error", "The run could not be saved")
    assert alert["message"].endswith("The run stays paused and keeps its slot; saving is retried in a minute.")
    assert platform.states()[-1] == "paused" and launcher.actors()
    folder.unlink()
    platform.release_place = False
    platform.commands = [{"id": "ckr_1", "type": "checkpoint"}]  # people need not wait for the minute to be over
    platform.wait(lambda: platform.of("checkpoint") != [])
    platform.commands = []
    platform.release_place = True
    platform.wait(lambda: platform.states()[-1:] == ["suspended"])
    launcher.until_gone()
    assert platform.states() == ["starting", "running", "paused", "suspended"]
    [saved] = platform.of("checkpoint")
    assert saved["step"] == stood
    assert [event["step"] for event in platform.of("eval")] == list(range(stood + 1)), "what was under way is told"
    assert not platform.gaps and not platform.repeated

    # In the place, another run trains: the same, and never interrupted.
    undisturbed = PlatformDouble()
    other = Launcher(undisturbed, tmp_path / "other")
    other.prepare({**document, "guards": []})
    try:
        other.start()
        undisturbed.wait(lambda: undisturbed.states()[-1:] == ["succeeded"])
    finally:
        other.stop()

    again = PlatformDouble()
    again.files = platform.files
    resume = {"step": stood, "path": saved["data"]["path"], "manifest_sha256": saved["data"]["manifest_sha256"]}
    again.bundle = {**platform.bundle, "attempt": 2, "resume": resume}
    launcher.platform = again
    launcher.start()
    again.wait(lambda: again.states()[-1:] == ["succeeded"])
    assert platform.steps() + again.steps() == [1, 2, 3, 4]
    assert history(again, stood + 1) == history(undisturbed, stood + 1)
    assert [event["step"] for event in (*platform.of("eval"), *again.of("eval"))] == [0, 1, 2, 3, 4]
    undisturbed.close()
    again.close()


@pytest.mark.expensive(14, "trains two short runs", about=TRAINING)
def test_a_run_that_stood_before_its_first_step_is_evaluated_once(
    warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    warm_launcher.prepare(spec(schedule__steps=1, schedule__prompts_per_step=4, evaluation__every_steps=1))
    platform.desired_state = "paused"
    platform.release_place = True
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] == ["suspended"])
    warm_launcher.until_gone()
    [saved] = platform.of("checkpoint")
    assert (saved["step"], saved["data"]["reason"], platform.steps()) == (0, "release", [])
    assert platform.last["releasing"] is True

    again = PlatformDouble()
    again.files = platform.files
    resume = {"step": 0, "path": saved["data"]["path"], "manifest_sha256": saved["data"]["manifest_sha256"]}
    again.bundle = {**platform.bundle, "attempt": 2, "resume": resume}
    warm_launcher.platform = again
    warm_launcher.start()
    again.wait(lambda: again.states()[-1:] == ["succeeded"])
    warm_launcher.until_gone()
    assert again.steps() == [1]
    assert [event["step"] for event in (*platform.of("eval"), *again.of("eval"))] == [0, 1]
    again.close()
