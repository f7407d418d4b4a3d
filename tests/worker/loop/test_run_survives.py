"""kill -9 of the run's processes: engines and reward workers are replaced, a learner's death ends the attempt."""

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.about import RUNS
from tests.worker.loop.platform_double import PlatformDouble
from tests.worker.loop.processes import ray_processes

pytestmark = [pytest.mark.live, pytest.mark.expensive(50, "starts a run with processes of its own", about=RUNS)]


def kill(class_name: str) -> None:
    (pid,) = ray_processes(class_name)
    os.kill(pid, signal.SIGKILL)


def titles(platform: PlatformDouble) -> list[str]:
    return [event["data"]["title"] for event in platform.of("alert")]


def test_kills_in_mid_run(launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]) -> None:
    launcher.prepare(spec(rollout__mode={"type": "async"}, schedule__steps=500, evaluation__sources=[]))
    launcher.start()
    platform.wait(lambda: len(platform.steps()) >= 2)
    kill("RolloutWorker")
    kill("RewardWorker")
    platform.wait(lambda: len(titles(platform)) >= 2)
    reached = platform.steps()[-1]
    platform.wait(lambda: platform.steps()[-1] >= reached + 4)
    assert sorted(titles(platform)) == ["A reward worker was replaced", "A rollout worker was replaced"]
    assert platform.steps() == list(range(1, platform.steps()[-1] + 1))
    metrics = [event["data"]["metrics"] for event in platform.of("step")]
    assert {m["reward/error_share"] for m in metrics} == {0.0}
    assert max(m["staleness/max"] for m in metrics) == 1.0

    kill("LearnerWorker")
    platform.wait(lambda: titles(platform)[-1] == "A process of the run died")
    launcher.until_gone()
    assert platform.states() == ["starting", "running"], "no final state: a new attempt is made"
    assert platform.last["lost"].startswith("learner rank 0 died in "), "and at once"
    assert not platform.gaps and not platform.repeated

    survives_its_checkpoint(launcher, platform)


def survives_its_checkpoint(launcher: Any, platform: PlatformDouble) -> None:
    """A second attempt outlives the checkpoint that it began with, which newer ones replace: a later engine reads the
    policy's own folder."""
    begun = platform.of("checkpoint")[-1]
    again = PlatformDouble()
    again.files = platform.files
    folder = Path(begun["data"]["path"])
    resume = {"step": begun["step"], "path": str(folder), "manifest_sha256": begun["data"]["manifest_sha256"]}
    again.bundle = {**platform.bundle, "attempt": 2, "resume": resume}
    launcher.platform = again
    launcher.start()
    again.wait(lambda: len(again.steps()) >= 2)
    shutil.rmtree(folder, ignore_errors=True)
    kill("RolloutWorker")
    again.wait(lambda: titles(again) == ["A rollout worker was replaced"])
    reached = again.steps()[-1]
    again.wait(lambda: again.steps()[-1] >= reached + 4)
    assert again.steps() == list(range(begun["step"] + 1, again.steps()[-1] + 1))
    assert again.states() == ["starting", "running"]
    again.desired_state = "cancelled"
    again.wait(lambda: again.states()[-1:] == ["cancelled"])
    launcher.until_gone()
    again.close()


def test_an_attempt_whose_controller_died_does_not_run_twice(
    launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    launcher.prepare(spec())
    launcher.start()
    platform.wait(lambda: platform.states() == ["starting"])
    kill("RunController")
    seen = platform.syncs
    launcher.until_gone()
    launcher.start()
    platform.wait(lambda: titles(platform) == ["The controller died"])
    platform.wait(lambda: platform.last.get("lost") == "its controller died")
    assert platform.syncs > seen
    assert platform.states() == ["starting"]
