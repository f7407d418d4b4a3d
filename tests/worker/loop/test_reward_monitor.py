"""What a step tells of its rewards: metrics, an alert, and a reason to pause."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

from trainer_core.episodes import Group, Trajectory, Verdict
from trainer_core.link.events import AlertData, EventData
from trainer_core.link.reward import RewardVersion
from trainer_core.rewards.definition import RewardDefinition
from trainer_core.spec import RunSpec
from worker.link.client import Link
from worker.loop.reward_monitor import RewardMonitor
from worker.rewards.versions import RewardVersions

DEFINITION = RewardDefinition.model_validate({"components": [{"name": "style", "grader": {"type": "numeric"}}]})


class Events:
    """Takes what is emitted."""

    def __init__(self) -> None:
        self.seen: list[tuple[EventData, int]] = []

    def emit(self, data: EventData, step: int) -> int:
        self.seen.append((data, step))
        return len(self.seen)


def group(ref: str) -> Group:
    """64 samples whose grade is their length."""
    rows = [
        Trajectory(
            trajectory_id=f"t{length}",
            prompt_ids=np.zeros(1, np.int32),
            token_ids=np.zeros(length, np.int32),
            behaviour_logprobs=np.zeros(length, np.float32),
            versions=np.zeros(length, np.int32),
            sampled=np.ones(length, np.bool_),
            finish_reason="stop",
            temperature=1.0,
            verdict=Verdict(reward=length / 64, parts={"style": length / 64}, shadow_rewards={"shadow@1": 1.0}),
        )
        for length in range(1, 65)
    ]
    return Group("1-0", "a:0", "a", "a@1", {"prompt": "p"}, "", 0, rows, reward_ref=ref)


@pytest.mark.parametrize("reaction", ["alert", "pause"])
def test_a_bias_is_told_and_pauses_where_that_is_the_reaction(spec: Callable[..., Any], reaction: str) -> None:
    bias = {"component": "style", "window": 64, "reaction": reaction}
    document = RunSpec.model_validate(spec(reward={"definition": "a@1", "shadow": ["shadow@1"], "length_bias": bias}))
    known = {ref: RewardVersion(definition=DEFINITION) for ref in ("a@1", "shadow@1")}
    versions, events = RewardVersions(document, known, {}, lambda fresh: None), Events()

    def nobody() -> Any:
        raise AssertionError("no rubric evolves")

    monitor = RewardMonitor(document, versions, cast(Link, events), nobody, {})
    batch = [group("a@1")]
    monitor.correct(batch)
    metrics, hold = monitor.close(1, batch, lambda item: item["prompt"])
    assert metrics["reward/length_bias"] == pytest.approx(1.0)
    assert metrics["reward_shadow/shadow@1/mean"] == 1.0
    ((data, step),) = events.seen
    assert isinstance(data, AlertData)
    assert (data.title, step) == ("The judge pays for length", 1)
    assert hold == (data.message if reaction == "pause" else None)
    saved = monitor.state()
    assert set(saved["definitions"]) == {"a@1", "shadow@1"}
    again = RewardMonitor(document, versions, cast(Link, events), nobody, saved)
    assert again.state() == saved
    assert monitor.last is None
