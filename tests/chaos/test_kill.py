"""``kill -9`` of any worker process in mid-run: the run goes on, and its charts have no double and no missing step."""

import pytest

from tests.support.installation import Installation, wait_until
from tests.support.live_run import ENDED, LiveRun, small_spec

ABOUT = ("worker", "platform/dressage/runs", "platform/dressage/telemetry", "trainer_core/link")
pytestmark = [pytest.mark.chaos, pytest.mark.live, pytest.mark.timeout(420)]

ENGINE, LEARNER, CONTROLLER = "ray::RolloutWorker", "ray::LearnerWorker", "ray::RunController"
CELERY = "worker.cluster.app"
"""Command line of the process that starts runs."""
STEPS = 60
"""Enough that the run does not end before the last process is killed: it trains on while that is looked for."""


@pytest.mark.expensive(
    160, "one run that starts three times, and an engine more", about=("kernels", "platform", "trainer_core", "worker")
)
def test_a_run_survives_the_death_of_each_of_its_processes(installation: Installation) -> None:
    run = LiveRun.start(installation, "killed four times", small_spec(installation.api, STEPS))
    run.reach(4)
    priorities = {title: installation.process(title).nice() for title in ("raylet", LEARNER)}
    assert len(set(priorities.values())) == 1, f"Ray takes priority from its workers: {priorities}"
    for title, attempt in ((ENGINE, 1), (LEARNER, 2), (CONTROLLER, 3)):
        _kill_and_wait_for_another(run, title)
        run.train(4)
        assert run.now()["attempt"] == attempt
        _chart_is_whole(run, run.step)
    assert run.now()["state"] == "running", run.story()
    _kill_and_wait_for_another(run, CELERY)
    _succeeds(run, STEPS)


@pytest.mark.parametrize("mode", ["sync", "streamed", "in_flight"])
@pytest.mark.expensive(60, "a run whose engine starts twice", about=ABOUT)
def test_a_run_in_another_mode_survives_the_death_of_its_engine(installation: Installation, mode: str) -> None:
    run = LiveRun.start(installation, f"killed, {mode}", small_spec(installation.api, 14, mode))
    run.reach(3)
    installation.kill(ENGINE)
    _succeeds(run, 14)


def _kill_and_wait_for_another(run: LiveRun, title: str) -> None:
    installation = run.installation
    before = installation.pids(title)
    installation.kill(title)
    wait_until(lambda: installation.pids(title) - before, 120, run.story)


def _succeeds(run: LiveRun, steps: int) -> None:
    """The run ends well; no step is missing in it and none is there twice, and no group either."""
    ended = run.wait_for(*ENDED, seconds=240)
    assert (ended["state"], ended["step"]) == ("succeeded", steps), run.story()
    _chart_is_whole(run, steps)
    trained = [group for step in range(1, steps + 1) for group in _groups(run, step)]
    drawn = [f"{step}-{index}" for step in range(1, steps + 1) for index in range(4)]
    assert sorted(trained) == sorted(drawn), "every group that was dispatched is trained on once"


def _chart_is_whole(run: LiveRun, least: int) -> None:
    """The chart has each step once, and at least the first ``least`` of them."""
    series = run.series("critic/score/mean")
    last = max(least, len(series["x"]))
    assert series["x"] == list(range(1, last + 1))
    assert series["raw_count"] == last


def _groups(run: LiveRun, step: int) -> set[str]:
    rows = run.api.get(f"/runs/{run.id}/rollouts", step=step, limit=200)["data"]
    return {row["group_id"] for row in rows}
