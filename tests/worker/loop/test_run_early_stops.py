"""A whole run with every early stop, a thinking budget and adaptive concurrency: counted, shown, and learned from."""

from collections.abc import Callable
from typing import Any

from tests.worker.loop.platform_double import PlatformDouble


def test_run_prunes_and_enforces_its_budget(
    warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    warm_launcher.prepare(
        spec(
            rollout__mode={"type": "async", "max_staleness": 1},
            rollout__early_stop={
                "prune": {"after": 3, "keep": 0.5},
                "ngram_loop": {"size": 2, "repeats": 4},
                "probability_run": {"tokens": 40},
            },
            rollout__engine__concurrency={"type": "adaptive", "kv_target": 0.8, "increase": 2, "decrease": 0.5},
            rollout__engine__speculation="tail",
            rollout__engine__cuda_graphs=False,
            thinking={"type": "tags", "budget": 4},
            schedule__steps=3,
        )
    )
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] in (["succeeded"], ["failed"]))

    assert platform.states() == ["starting", "running", "succeeded"], platform.of("state")[-1]["data"]
    assert platform.steps() == [1, 2, 3]
    for event in platform.of("step"):
        metrics = event["data"]["metrics"]
        assert 0.0 < metrics["rollouts/pruned_share"] <= 0.5
        assert metrics["thinking/budget_violations"] == 0.0
        assert metrics["thinking/max"] <= 4.0
        assert metrics["reward/error_share"] == 0.0
    rows = [row for event in platform.of("rollouts") for row in event["data"]["rows"]]
    pruned = [row for row in rows if row["finish_reason"] == "pruned"]
    assert pruned
    for row in pruned:
        assert (row["reward"], row["reward_error"], row["excluded"], row["advantage"]) == (None, None, "pruned", 0.0)
        assert row["length"] >= 3
    assert all(row["reward"] is not None for row in rows if row["finish_reason"] != "pruned")
    warm_launcher.until_gone()
