"""One-step overlap: staleness, pause and resume, a checkpoint on request, and a platform that goes away."""

from collections.abc import Callable
from typing import Any

from tests.worker.loop.conftest import pausing_after
from tests.worker.loop.platform_double import PlatformDouble


def test_async_run_through_pause_and_outage(
    warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    document = spec(rollout__mode={"type": "async"}, schedule__steps=10, checkpoint__keep_last=1, **pausing_after(2))
    warm_launcher.prepare(document)
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] == ["paused"])

    platform.desired_state = "paused"  # as the platform takes note of the pause
    stood_at = platform.steps()[-1]
    assert stood_at == 2
    platform.commands = [{"id": "keep", "type": "checkpoint"}]
    platform.wait(lambda: any(e["data"]["control_id"] == "keep" for e in platform.of("checkpoint")))
    seen = platform.syncs
    platform.wait(lambda: platform.syncs >= seen + 4)
    assert platform.steps()[-1] == stood_at, "a paused run keeps its lease and learns nothing"
    assert platform.of("checkpoint")[-1]["step"] == stood_at

    platform.commands = [
        {"id": "c", "type": "control", "revision": 1, "target": "thinking.budget", "value": 3, "apply_at": "next"}
    ]
    seen = platform.syncs
    platform.wait(lambda: platform.syncs >= seen + 2)
    platform.desired_state = "running"
    platform.wait(lambda: platform.steps()[-1] > stood_at)
    platform.status = 503
    with platform.changed:
        assert platform.changed.wait_for(lambda: platform.refused >= 2, 30)
    platform.status = 200
    platform.wait(lambda: platform.states()[-1:] == ["succeeded"])

    assert platform.states() == ["starting", "running", "paused", "running", "succeeded"]
    assert platform.steps() == list(range(1, 11))
    assert [event["step"] for event in platform.of("eval")] == [0, 3, 6, 9, 10]
    metrics = [event["data"]["metrics"] for event in platform.of("step")]
    # The first batch was sampled by the weights it was learned from; those behind it are up to one version old.
    assert {m["staleness/max"] for m in metrics} == {0.0, 1.0}
    after = [m["training/policy_version"] for m in metrics]
    assert metrics[-1]["staleness/max"] == after[-2] - after[-3], "none, if the step between has updated nothing"
    assert not platform.gaps and not platform.repeated
    applied, settled = platform.applied
    assert (applied["state"], settled["state"]) == ("applied", "settled")
    assert stood_at < applied["step"] <= stood_at + 3 and applied["group"].startswith(f"{applied['step']}-")
    assert applied["step"] <= settled["step"] <= applied["step"] + 1, "the first batch that is wholly under it"
    limited = [m for step, m in enumerate(metrics, 1) if step >= settled["step"]]
    assert max(m["thinking/max"] for m in limited) <= 3
    assert {m["thinking/budget"] for m in limited} == {3.0}
    warm_launcher.until_gone()
