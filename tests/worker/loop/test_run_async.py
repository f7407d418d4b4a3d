"""One-step overlap: staleness, pause and resume, a checkpoint on request, and a platform that goes away."""

from collections.abc import Callable
from typing import Any

from tests.worker.loop.platform_double import PlatformDouble


def test_async_run_through_pause_and_outage(launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]) -> None:
    launcher.prepare(spec(rollout__mode={"type": "async"}, schedule__steps=10, checkpoint__keep_last=1))
    platform.stop_after = {2: "paused"}
    launcher.start()
    platform.wait(lambda: platform.states()[-1:] == ["paused"])

    stood_at = platform.steps()[-1]
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
    platform.stop_after = {}
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
    # The batch that was held back by the pause was sampled by the present weights; all others are one version old.
    assert {m["staleness/max"] for m in metrics} == {0.0, 1.0} and metrics[-1]["staleness/max"] == 1.0
    assert not platform.gaps and not platform.repeated
    applied, settled = platform.applied
    assert (applied["state"], settled["state"], applied["step"]) == ("applied", "settled", settled["step"])
    assert applied["step"] in (stood_at + 1, stood_at + 2) and applied["group"] == f"{applied['step']}-0"
    budgets = {event["step"]: event["data"]["metrics"].get("thinking/budget") for event in platform.of("step")}
    assert budgets == {step: 3.0 if step >= applied["step"] else None for step in range(1, 11)}
    limited = [m["thinking/max"] for step, m in enumerate(metrics, 1) if step >= applied["step"]]
    assert max(limited) <= 3
    launcher.until_gone()
