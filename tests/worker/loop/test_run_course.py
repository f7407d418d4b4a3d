"""Whole runs that go wrong without failing: no update was made, answers are all cut, the policy was destroyed."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.worker.loop.platform_double import PlatformDouble

CONSTANT = {
    "components": [{"name": "any", "weight": 1.0, "grader": {"type": "regex", "pattern": "(?s).*"}}],
    "success_threshold": 2.0,
}


def told(platform: PlatformDouble) -> list[tuple[int, str, str]]:
    """What was reported of the run as a whole: step, name, level."""
    alerts = [event for event in platform.of("alert") if event["data"].get("guard")]
    return [(event["step"], event["data"]["guard"]["guard"], event["data"]["level"]) for event in alerts]


def ran(launcher: Any, platform: PlatformDouble) -> str:
    """Train, and return the reason of the run's success."""
    launcher.start()
    platform.wait(lambda: platform.states()[-1:] in (["succeeded"], ["failed"]))
    assert platform.states() == ["starting", "running", "succeeded"], platform.of("state")[-1]["data"]
    launcher.until_gone()
    reason: str = platform.of("state")[-1]["data"]["reason"]
    return reason


@pytest.mark.parametrize("mode", [{"type": "sync"}, {"type": "streamed"}, {"type": "async", "max_staleness": 1}])
def test_a_constant_reward_makes_no_version_and_is_told(
    warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any], mode: dict[str, Any]
) -> None:
    short = {"schedule__steps": 3, "schedule__prompts_per_step": 4, "rollout__max_tokens": 1}
    document = spec(**short, rollout__mode=mode, reward__definition="constant@1")
    warm_launcher.prepare(document, reward={"ref": "constant@1", "definition": CONSTANT})
    reason = ran(warm_launcher, platform)
    assert reason.startswith("all steps are done. None of the 3 steps has updated the policy: 100% of the groups")
    assert "100% of the answers of the last 3 steps were cut at max_tokens = 1" in reason
    assert told(platform) == [(3, "no update", "error"), (3, "answers cut", "warn")]
    assert [event["data"]["metrics"]["training/policy_version"] for event in platform.of("step")] == [0.0, 0.0, 0.0]
    assert {event["data"]["policy_version"] for event in platform.of("checkpoint")} == {0}
    rows = [row for event in platform.of("rollouts") for row in event["data"]["rows"]]
    assert {tuple(row["policy_versions"]) for row in rows} == {(0, 0)}


def test_a_policy_destroyed_at_the_first_step_is_told(
    warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    schedule = {"steps": 3, "prompts_per_step": 8}
    warm_launcher.prepare(spec(optimizer__learning_rate=1.0, schedule=schedule, evaluation__max_prompts=16))
    reason = ran(warm_launcher, platform)
    assert "the policy has collapsed" in reason and "optimizer.learning_rate" in reason
    assert ("collapse", "error") in [(name, level) for _, name, level in told(platform)]
    assert platform.of("step")[-1]["data"]["metrics"]["training/policy_version"] < 3
