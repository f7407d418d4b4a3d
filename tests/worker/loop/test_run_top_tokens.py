"""A run under DPPO over the likeliest tokens: engines tell them, and the learner finds them in what it is given."""

from collections.abc import Callable
from typing import Any

from tests.worker.loop.platform_double import PlatformDouble


def test_run_bounds_the_divergence_over_the_likeliest(
    warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    loss = {"type": "dppo", "approximation": "top_k", "k": 6, "divergence": "tv", "divergence_max": 0.02}
    warm_launcher.prepare(
        spec(
            loss=loss,
            corrections=[],
            rollout__mode={"type": "async", "max_staleness": 1},
            optimizer={"learning_rate": 2e-3},
            schedule__steps=4,
            schedule__updates_per_step=2,
        )
    )
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] in (["succeeded"], ["failed"]))

    assert platform.states() == ["starting", "running", "succeeded"], platform.of("state")[-1]
    shares = [event["data"]["metrics"].get("actor/pg_clipfrac") for event in platform.of("step")]
    known = [share for share in shares if share is not None]
    # With so narrow a region and so long a step, later updates and stale samples leave it.
    assert known and max(known) > 0
    warm_launcher.until_gone()
