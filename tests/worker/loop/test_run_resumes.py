"""A resumed attempt goes on exactly as the uninterrupted one would have, controls included."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.about import TRAINING
from tests.worker.loop.platform_double import PlatformDouble

CONTROLS = [
    {"id": "lr", "type": "control", "revision": 1, "target": "optimizer.learning_rate", "value": 1e-3, "apply_at": 3},
    {"id": "hot", "type": "control", "revision": 2, "target": "rollout.temperature", "value": 1.5, "apply_at": 4},
    {"id": "bad", "type": "control", "revision": 3, "target": "rollout.group_size", "value": 9, "apply_at": "next"},
    {"id": "mild", "type": "control", "revision": 4, "target": "rollout.temperature", "value": 1.2, "apply_at": 5},
    {"id": "slow", "type": "control", "revision": 5, "target": "optimizer.learning_rate", "value": 5e-4, "apply_at": 5},
]
for control in CONTROLS[3:]:
    control["change_set"] = "both"
"""The last two wait for each other: they take effect with the optimizer step."""


STAGES = [
    {
        "name": "sums",
        "sources": [{"name": "add"}],
        "gate": {"type": "reward", "threshold": -1.0, "window": 2, "min_steps": 3, "max_steps": 5},
    },
    {"name": "both", "sources": [{"name": "add"}, {"name": "mul", "weight": 2.0}]},
]
"""The checkpoint from which the run goes on is of the first stage; half of the gate's window was seen before it."""


def warned(platform: PlatformDouble) -> list[int]:
    """Steps of the alerts that warn."""
    return [event["step"] for event in platform.of("alert") if event["data"]["level"] == "warn"]


def begun(platform: PlatformDouble) -> list[tuple[int, str]]:
    """Stages with the steps that they begin with."""
    return [(e["step"], e["data"]["title"]) for e in platform.of("alert") if e["data"]["level"] == "info"]


def history(platform: PlatformDouble, first: int) -> list[Any]:
    """What was sampled and learned from step ``first`` on, to the last digit."""
    columns = ("group_id", "prompt_id", "completion", "reward", "advantage", "control_revision", "policy_versions")
    rows = [
        [row[column] for column in columns]
        for event in platform.of("rollouts")
        if event["step"] >= first
        for row in event["data"]["rows"]
    ]
    names = ("actor/loss", "actor/grad_norm", "actor/entropy", "actor/lr", "critic/score/mean", "control/revision")
    steps = [
        (event["step"], event["data"]["tokens_total"], [event["data"]["metrics"].get(name) for name in names])
        for event in platform.of("step")
        if event["step"] >= first
    ]
    return [rows, steps, [event for event in platform.of("eval") if event["step"] >= first][-1]["data"]]


@pytest.mark.live
@pytest.mark.expensive(60, "starts a run twice with processes of its own", about=TRAINING)
def test_resumed_equals_uninterrupted(launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]) -> None:
    document = spec(
        schedule__prompts_per_step=4,
        evaluation__every_steps=2,
        data__stages=STAGES,
        curriculum={"type": "difficulty_band"},
        guards=[{"type": "metric_bound", "metric": "critic/score/mean", "min": 2.0, "for_steps": 3}],
    )
    launcher.prepare(document)
    platform.commands = list(CONTROLS)
    assert launcher.start() is True
    assert launcher.start() is False, "a second message finds the controller there"
    platform.wait(lambda: platform.states()[-1:] == ["succeeded"])

    assert platform.states() == ["starting", "running", "succeeded"]
    assert platform.steps() == [1, 2, 3, 4, 5, 6]
    assert [event["step"] for event in platform.of("eval")] == [0, 2, 4, 6]
    assert {event["data"]["metrics"]["staleness/max"] for event in platform.of("step")} == {0.0}
    assert [event["data"]["metrics"]["control/revision"] for event in platform.of("step")] == [0, 0, 1, 2, 5, 5]
    assert warned(platform) == [3], "the guard acts once"
    assert begun(platform) == [(1, "Stage sums begins"), (4, "Stage both begins")]
    assert not platform.gaps and not platform.repeated
    reports = {(e["control_id"], e["state"]): (e["step"], e["group"], e["policy_version"]) for e in platform.applied}
    after = {e["step"]: e["data"]["metrics"]["training/policy_version"] for e in platform.of("step")}
    assert reports == {
        ("bad", "rejected"): (1, None, None),
        ("lr", "applied"): (3, "3-0", after[2]),
        ("lr", "settled"): (3, None, after[3]),
        ("hot", "applied"): (4, "4-0", after[3]),
        ("hot", "settled"): (4, None, after[4]),
        ("mild", "applied"): (5, None, after[4]),
        ("mild", "settled"): (6, None, after[6]),
        ("slow", "applied"): (5, "5-0", after[4]),
        ("slow", "settled"): (5, None, after[5]),
    }
    saved = [(e["step"], e["data"]["reason"], e["data"]["control_id"]) for e in platform.of("checkpoint")]
    assert saved == [
        (2, "schedule", None),
        (2, "before_control", "lr"),
        (3, "before_control", "hot"),
        (4, "schedule", None),
        (4, "before_control", "mild"),
        (4, "before_control", "slow"),
        (6, "final", None),
    ]
    launcher.until_gone()

    wanted = history(platform, 3)
    checkpoint = platform.of("checkpoint")[0]["data"]
    again = PlatformDouble()
    again.files = platform.files
    again.bundle = {
        **platform.bundle,
        "attempt": 2,
        "resume": {"step": 2, "path": checkpoint["path"], "manifest_sha256": checkpoint["manifest_sha256"]},
        "evaluated": False,
    }
    again.commands = [control for control in CONTROLS if control["id"] != "bad"]
    launcher.platform = again
    launcher.start_from_another_process()
    again.wait(lambda: again.states()[-1:] == ["succeeded"])
    assert again.steps() == [3, 4, 5, 6]
    assert history(again, 3) == wanted
    assert [event["step"] for event in again.of("eval")] == [2, 4, 6], "it begins with the evaluation that was lost"
    assert [event["data"] for event in again.of("eval")] == [event["data"] for event in platform.of("eval")][1:]
    assert warned(again) == [3], "the guard's count was kept"
    assert begun(again) == [(4, "Stage both begins")]
    again.close()
