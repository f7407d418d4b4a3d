"""A run whose samples are asked in different ways: budgets per prompt, phrases that end thinking, nudges, shaping."""

from collections.abc import Callable
from typing import Any

from tests.worker.loop.platform_double import PlatformDouble

PHRASES = ("0</think>", "00</think>")


def test_run_asks_each_sample_its_own_way(
    warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    warm_launcher.prepare(
        spec(
            rollout__group_size=8,
            thinking={
                "type": "tags",
                "prompt_budget": {"type": "sampled", "min": 1, "max": 3},
                "interruptions": list(PHRASES),
            },
            prompting={
                "nudges": {
                    "source": {"type": "listed", "strategies": ["0", "00"]},
                    "text": "{strategy}",
                    "dropout": 0.8,
                }
            },
            reward={"definition": "calculation@1", "length": {"type": "magistral", "buffer": 8}},
            schedule__steps=4,
        )
    )
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] in (["succeeded"], ["failed"]))

    assert platform.states() == ["starting", "running", "succeeded"], platform.of("state")[-1]["data"]
    rows = [row for event in platform.of("rollouts") for row in event["data"]["rows"]]
    cut = [row for row in rows if row["budget_hit"]]
    assert cut
    for row in cut:
        assert any(phrase in row["completion"] for phrase in PHRASES), row["completion"]
        assert row["thinking_tokens"] <= 3
    assert {phrase for row in cut for phrase in PHRASES if phrase in row["completion"]} == set(PHRASES)
    assert all("length_shaping" in row["reward_parts"] for row in rows if row["reward"] is not None)
    for event in platform.of("step"):
        assert event["data"]["metrics"]["thinking/budget_violations"] == 0.0
    warm_launcher.until_gone()
