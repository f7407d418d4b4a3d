"""Shadow rewards beside a live run, the promotion of one of them, and a resume from behind it."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.about import TRAINING
from tests.worker.loop.platform_double import PlatformDouble

RIGHT = {"name": "right", "weight": 1.0, "grader": {"type": "numeric"}}
THREE_FOLD = {"components": [{**RIGHT, "weight": 3.0}], "success_threshold": 2.0}
"""Says the same as the trained reward, on another scale."""
STRICT = {"components": [{"name": "right", "grader": {"type": "exact", "reference": "nowhere"}}]}
"""Cannot score a row that has no such field."""
PROMOTION = {
    "id": "promote",
    "type": "control",
    "revision": 2,
    "target": "reward.definition",
    "value": "calculation@2",
    "apply_at": 3,
    "definitions": {"calculation@2": {"definition": THREE_FOLD, "judges": {}, "reward_models": {}}},
}
LONG_S = 300.0
REFUSED = {
    "unknown": ("reward.shadow", ["missing@7"], {}, "the definition of missing@7 did not come"),
    "unreadable": (
        "reward.definition",
        "odd@1",
        {"odd@1": {"definition": {"components": []}}},
        "the definition of odd@1 is not valid here",
    ),
    "needs an engine": (
        "reward.shadow",
        ["judged@1"],
        {
            "judged@1": {
                "definition": {"components": [{"name": "j", "grader": {"type": "rubric", "items_field": "rubric"}}]},
                "judges": {"default": {"model": "j", "model_dir": "/nowhere", "base_url": None}},
                "reward_models": {},
            }
        },
        "judged@1 uses the judge default, whose engine starts only with a run",
    ),
}


def refused(number: int, name: str) -> dict[str, Any]:
    target, value, definitions, _ = REFUSED[name]
    control = {"id": name, "type": "control", "revision": 3 + number, "target": target, "value": value}
    return {**control, "apply_at": 2, "definitions": definitions}


def rows(platform: PlatformDouble) -> list[dict[str, Any]]:
    found = [{**row, "step": event["step"]} for event in platform.of("rollouts") for row in event["data"]["rows"]]
    assert all(row["reward_error"] is None for row in found)
    return found


def history(platform: PlatformDouble, first: int) -> list[Any]:
    columns = ("step", "group_id", "completion", "reward", "reward_version", "shadow", "advantage")
    names = ("critic/score/max", "actor/loss", "train/pass_rate/add", "reward_shadow/calculation@1/mean")
    learned = [e for e in platform.of("step") if e["step"] >= first]
    return [
        [[row[column] for column in columns] for row in rows(platform) if row["step"] >= first],
        [[event["data"]["metrics"].get(name) for name in names] for event in learned],
    ]


@pytest.fixture(scope="module")
def bad_shadow() -> dict[str, Any]:
    return {"definition": STRICT, "judges": {}, "reward_models": {}}


@pytest.mark.expensive(20, "trains two short runs", about=TRAINING)
def test_a_shadow_is_compared_then_promoted(
    warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any], bad_shadow: dict[str, Any]
) -> None:
    document = spec(
        reward__shadow=["calculation@1", "strict@1"],
        schedule__prompts_per_step=8,
        schedule__steps=5,
        checkpoint__every_steps=3,
        evaluation__every_steps=5,
    )
    warm_launcher.prepare(document, shadow={"strict@1": bad_shadow})
    switch = {**PROMOTION, "id": "watch", "target": "reward.shadow", "apply_at": 2}
    switch |= {"value": ["calculation@2", "calculation@1"], "revision": 1}
    platform.commands = [switch, PROMOTION, *(refused(n, name) for n, name in enumerate(REFUSED))]
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] in (["succeeded"], ["failed"]), LONG_S)
    assert platform.states()[-1] == "succeeded", platform.of("state")[-1]["data"]

    reports = {(entry["control_id"], entry["state"]): entry for entry in platform.applied}
    assert [reports[name, "applied"]["step"] for name in ("watch", "promote")] == [2, 3]
    assert reports["promote", "settled"]["step"] == 3
    for name, (_, _, _, words) in REFUSED.items():
        assert words in reports[name, "rejected"]["error"]

    metrics = {event["step"]: event["data"]["metrics"] for event in platform.of("step")}
    size = 8 * 4
    assert metrics[1]["reward_shadow/strict@1/errors"] == size
    assert "reward_shadow/strict@1/mean" not in metrics[1] and "reward_shadow/strict@1/errors" not in metrics[2]
    alerts = [event["data"]["message"] for event in platform.of("alert")]
    assert len(alerts) == 1 and "32 of this step, of a shadow, without effect on training: strict@1: right" in alerts[0]
    assert not any(name.startswith("reward_shadow/calculation") for name in metrics[1])
    for step, found in metrics.items():
        other = {1: None, 2: "calculation@2"}.get(step, "calculation@1")
        if other is None:
            continue
        assert {name.split("/")[1] for name in found if name.startswith("reward_shadow/")} == {other}
        assert found[f"reward_shadow/{other}/agreement"] == 1.0 and found[f"reward_shadow/{other}/errors"] == 0.0
        factor = 3.0 if other == "calculation@2" else 1 / 3
        assert found[f"reward_shadow/{other}/mean"] == pytest.approx(factor * found["critic/score/mean"])
        if found["critic/score/std"] > 0.0:
            assert found[f"reward_shadow/{other}/correlation"] == pytest.approx(1.0)
        assert 0.0 <= found["train/pass_rate/add"] <= 1.0
        assert found["train/pass_rate/add"] == pytest.approx(found["critic/score/mean"] / (1.0 if step == 2 else 3.0))

    seen = rows(platform)
    for row in seen:
        promoted = row["step"] >= 3
        assert row["reward_version"] == ("calculation@2" if promoted else "calculation@1")
        assert row["reward"] == row["reward_parts"]["right"] * (3.0 if promoted else 1.0)
        shadow = {1: {"strict@1": None}, 2: {"calculation@2": 3.0 * row["reward"]}}
        assert row["shadow"] == shadow.get(row["step"], {"calculation@1": row["reward"] / 3.0})
    assert any(row["reward"] == 3.0 for row in seen), "something was right after the promotion"
    warm_launcher.until_gone()

    checkpoint = next(event["data"] for event in platform.of("checkpoint") if event["step"] == 3)
    again = PlatformDouble()
    again.files = platform.files
    again.bundle = {
        **platform.bundle,
        "attempt": 2,
        "spec": {**document, "reward": {"definition": "calculation@2", "shadow": ["calculation@2", "calculation@1"]}},
        "revision": 2,
        "shadow": {},
        "resume": {"step": 3, "path": checkpoint["path"], "manifest_sha256": checkpoint["manifest_sha256"]},
    }
    warm_launcher.platform = again
    warm_launcher.start()
    again.wait(lambda: again.states()[-1:] in (["succeeded"], ["failed"]), LONG_S)
    assert again.states()[-1] == "succeeded", again.of("state")[-1]["data"]
    warm_launcher.until_gone()
    assert history(again, 4) == history(platform, 4), "the checkpoint holds the definition that the bundle lacks"
    assert again.of("eval")[-1]["data"] == platform.of("eval")[-1]["data"]
    again.close()


def test_groups_keep_the_version_of_their_dispatch_when_modes_overlap(
    warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    document = spec(
        rollout__mode={"type": "async", "max_staleness": 2},
        schedule__steps=8,
        reward__shadow=["calculation@1"],
        evaluation__sources=[],
    )
    warm_launcher.prepare(document)
    platform.commands = [PROMOTION]
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] in (["succeeded"], ["failed"]), LONG_S)
    assert platform.states()[-1] == "succeeded", platform.of("state")[-1]["data"]
    versions: dict[str, set[tuple[str, int]]] = {}
    for row in rows(platform):
        versions.setdefault(row["group_id"], set()).add((row["reward_version"], row["control_revision"]))
        first = row["reward_version"] == "calculation@1"
        assert row["reward"] == row["reward_parts"]["right"] * (1.0 if first else 3.0)
        assert row["shadow"] == ({} if first else {"calculation@1": row["reward"] / 3.0})
    assert all(len(found) == 1 for found in versions.values())
    assert {one for found in versions.values() for one in found} == {("calculation@1", 0), ("calculation@2", 2)}
    rates = [event["data"]["metrics"]["train/pass_rate/add"] for event in platform.of("step")]
    assert all(0.0 <= rate <= 1.0 for rate in rates)
    warm_launcher.until_gone()
