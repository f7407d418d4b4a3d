"""A run whose states are valued by branches: they are paid for in every step, and nothing is learned from them."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.worker.loop.platform_double import PlatformDouble

VINE = {"type": "vine", "branches": 3, "steps": {"type": "tokens", "every": 4}, "max_states": 4, "whiten": "none"}


@pytest.mark.parametrize("mode", [{"type": "sync"}, {"type": "async", "max_staleness": 1}], ids=["sync", "async"])
def test_run_values_states_by_branches(
    warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any], mode: dict[str, Any]
) -> None:
    warm_launcher.prepare(spec(advantage=VINE, rollout__mode=mode, schedule__steps=3, schedule__prompts_per_step=4))
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] in (["succeeded"], ["failed"]))

    assert platform.states() == ["starting", "running", "succeeded"], platform.of("state")[-1]
    assert platform.steps() == [1, 2, 3]
    for event in platform.of("step"):
        metrics = event["data"]["metrics"]
        assert metrics["groups/count"] == 4
        # Each prompt is valued once; a completion of up to 24 tokens has at most 4 states of its own.
        if metrics.get("vine/states") is not None:
            assert metrics["vine/branches"] == 3 * metrics["vine/states"]
            assert 0 < metrics["vine/token_share"] < 1
            assert 0 <= metrics["vine/value/mean"] <= 1
    paid = [event["data"]["metrics"].get("vine/states", 0.0) for event in platform.of("step")]
    assert sum(paid) >= 3 * 4
    rows = [row for event in platform.of("rollouts") for row in event["data"]["rows"]]
    assert rows and not any("branches" in row["group_id"] for row in rows)
    for row in rows:
        assert -1.0 <= row["advantage"] <= 1.0
        assert row["excluded"] in (None, "reward_error")
    assert all(event["data"]["metrics"]["actor/grad_norm"] >= 0 for event in platform.of("step"))
    warm_launcher.until_gone()
