"""Guards of a whole run: one asks for another learning rate, one pauses, and people change them meanwhile."""

from collections.abc import Callable
from typing import Any

from tests.worker.loop.platform_double import PlatformDouble

SLOWER = {
    "type": "metric_bound",
    "metric": "groups/count",
    "max": 0.0,
    "name": "too fast",
    "why": "Every step has groups.",
    "severity": "error",
    "for_steps": 2,
    "action": "change",
    "change": {"target": "optimizer.learning_rate", "multiply": 0.5},
    "at_most": 2,
    "cooldown": 2,
    "unless_solved": False,
}
"""Its bound is broken by every step."""
MUTED = {
    "type": "metric_bound",
    "metric": "groups/count",
    "max": 0.0,
    "name": "muted",
    "muted_until": 1000,
    "action": "change",
    "change": {"target": "rollout.temperature", "value": 0.9},
}
GUARDS = [
    SLOWER,
    MUTED,
    {"type": "held_out_falls", "metric": "critic/score/mean", "name": "held out", "max_fall": 0.5, "for_steps": 50},
]
PAUSES = {"type": "metric_bound", "metric": "groups/count", "max": 0.0, "name": "enough", "action": "pause"}
RATE = {"id": "slow", "type": "control", "revision": 1, "target": "optimizer.learning_rate", "value": 1e-4}
EDIT = {"id": "edit", "type": "control", "revision": 2, "target": "guards", "value": [PAUSES]}


def news(platform: PlatformDouble) -> list[tuple[int, str, str, str]]:
    """What guards have told: step, guard, state, action."""
    told = [(event["step"], event["data"].get("guard")) for event in platform.of("alert")]
    return [(step, one["guard"], one["state"], one.get("action", "")) for step, one in told if one is not None]


def test_guards_act_and_are_changed_while_the_run_goes(
    warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    warm_launcher.prepare(spec(schedule__steps=12, schedule__prompts_per_step=4, guards=GUARDS))
    # The platform makes the change, as a control like any other, and people put other guards in their place.
    platform.commands = [{**RATE, "apply_at": 4}, {**EDIT, "apply_at": 7}]
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] == ["paused"])
    assert news(platform)[0] == (2, "too fast", "acts", "change")
    (first,) = [event["data"] for event in platform.of("alert") if event["step"] == 2]
    assert (first["level"], first["title"], first["guard"]["since"]) == ("error", "Guard: too fast", 1)
    reports = {(one["control_id"], one["state"]) for one in platform.applied}
    assert reports >= {("slow", "settled"), ("edit", "applied")}
    assert [event["data"]["metrics"]["actor/lr"] for event in platform.of("step")][-1] == 1e-4
    assert news(platform)[1:] == [
        (4, "too fast", "repeats", "change"),
        (7, "enough", "acts", "pause"),
        (7, "too fast", "calm", ""),
    ], "as often as it may, after its cooldown"
    paused = platform.of("state")[-1]["data"]
    assert paused["reason"] == "groups/count is 4, above 0, for 1 step (step 7)" and not paused.get("by_request")
    assert platform.steps()[-1] == 7

    # Only people let it go on; the guard has said what it had to say.
    platform.desired_state = "paused"
    syncs = platform.syncs
    platform.wait(lambda: platform.syncs > syncs + 1)
    platform.desired_state = "running"
    platform.wait(lambda: platform.states()[-1:] == ["succeeded"])
    assert platform.steps()[-1] == 12 and len(news(platform)) == 4
    warm_launcher.until_gone()
