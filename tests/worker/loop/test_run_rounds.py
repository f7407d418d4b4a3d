"""Batches that are not simply what was drawn: over-provisioned, tail-batched, refilled until they carry a signal."""

from collections.abc import Callable
from typing import Any

from tests.worker.loop.platform_double import PlatformDouble

NEVER_RIGHT = {"components": [{"name": "right", "weight": 1.0, "grader": {"type": "exact", "reference": "prompt"}}]}


def train(
    warm_launcher: Any, platform: PlatformDouble, document: dict[str, Any], **changes: Any
) -> list[dict[str, float]]:
    warm_launcher.prepare(document, **changes)
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] in (["succeeded"], ["failed"]))
    assert platform.states()[-1] == "succeeded", platform.of("state")[-1]["data"]
    metrics = [event["data"]["metrics"] for event in platform.of("step")]
    assert {m["groups/count"] for m in metrics} == {8.0}
    warm_launcher.until_gone()
    return metrics


def total(metrics: list[dict[str, float]], name: str) -> int:
    return int(sum(m[name] for m in metrics))


def test_stopped_groups_are_continued_first(
    warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    partial = {"over_provision": 1.5, "max_continuations": 1}
    document = spec(rollout__partial=partial, schedule__steps=10, evaluation__sources=[], rollout__max_tokens=40)
    metrics = train(warm_launcher, platform, document)
    parked, continued = total(metrics, "rollouts/parked"), total(metrics, "rollouts/continued")
    assert parked > 0
    assert continued == parked, "no stopped group is dropped, and the last batch leaves none behind"
    ages = [m["staleness/max"] for m in metrics]
    assert max(ages) == 1.0, "what was continued holds tokens of the version before, and none older"
    assert any(0.0 < m["staleness/mean"] < 1.0 for m in metrics), "groups hold the versions of both"


def test_tails_are_collected_for_rounds_of_their_own(
    warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    document = spec(
        rollout__partial={"over_provision": 1.5, "max_continuations": 0},
        rollout__scheduler={"type": "tail_batching"},
        rollout__max_tokens=40,
        schedule__steps=10,
        evaluation__sources=[],
    )
    metrics = train(warm_launcher, platform, document)
    assert {m["staleness/max"] for m in metrics} == {0.0}, "strictly on-policy"
    deferred = [m["rollouts/deferred"] for m in metrics]
    long_rounds = [step for step, count in enumerate(deferred, 1) if count == 0]
    assert max(deferred) == 4.0 and long_rounds, "two short rounds of 12 leave 8 groups: a batch of their own"
    assert long_rounds[0] >= 3
    left = [e["data"]["message"] for e in platform.of("log") if "not trained on" in e["data"]["message"]]
    assert len(left) == (1 if sum(deferred) > 8 * len(long_rounds) else 0), "what was never finished is told"


def test_groups_without_signal_are_replaced(
    warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    document = spec(
        rollout__dynamic_sampling={"enabled": True, "max_refills": 20}, schedule__steps=4, evaluation__sources=[]
    )
    metrics = train(warm_launcher, platform, document)
    assert total(metrics, "rollouts/rejected") > 0
    assert {m["groups/zero_advantage_share"] for m in metrics} == {0.0}
    assert not platform.of("alert")


def test_data_that_cannot_fill_a_batch_is_told_once(
    warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    document = spec(
        rollout__dynamic_sampling={"enabled": True, "max_refills": 1}, schedule__steps=3, evaluation__sources=[]
    )
    document["reward"]["definition"] = "never@1"
    metrics = train(warm_launcher, platform, document, reward={"ref": "never@1", "definition": NEVER_RIGHT})
    assert [m["rollouts/rejected"] for m in metrics] == [8.0, 8.0, 8.0], "as many as max_refills allows"
    assert {m["groups/zero_advantage_share"] for m in metrics} == {1.0}
    titles = [event["data"]["title"] for event in platform.of("alert")]
    assert titles == ["The data cannot fill the batch", "No step has updated the policy"]
