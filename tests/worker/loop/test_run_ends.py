"""A whole run, start to finish, in both modes."""

from collections.abc import Callable
from typing import Any

import pytest


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_run_reports_every_step_once_and_ends(mode: str, launcher: Any, platform: Any, spec: Callable) -> None:
    launcher.prepare(spec(rollout__mode={"type": mode}))
    assert launcher.start() is True
    assert launcher.start() is False, "a second ring finds the controller there"
    platform.wait(lambda: platform.states() and platform.states()[-1] in ("succeeded", "failed"))

    assert platform.states() == ["starting", "running", "succeeded"], platform.describe()
    assert platform.steps() == [1, 2, 3, 4, 5, 6]
    assert [event["step"] for event in platform.of("eval")] == [0, 3, 6]
    staleness = [event["data"]["metrics"]["staleness/max"] for event in platform.of("step")]
    assert staleness == ([0.0] * 6 if mode == "sync" else [0.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    assert [event["step"] for event in platform.of("checkpoint")] == [2, 4, 6]
    assert platform.of("checkpoint")[-1]["data"]["reason"] == "final"
    assert not platform.gaps and not platform.repeated
