"""Learner ranks on two nodes, engines on two others; the death of a rank's node ends the attempt, and the next one goes
on from the checkpoint with the nodes that are left."""

import json
from collections.abc import Callable
from typing import Any

from tests.cluster.cases.conftest import alerts, nodes_of, until, until_alert, until_succeeded
from tests.support.nodes import Nodes
from tests.worker.loop.conftest import Launcher
from tests.worker.loop.platform_double import PlatformDouble


def test_a_learner_on_two_nodes_goes_on_from_its_checkpoint_when_one_dies(
    nodes: Nodes, launcher: Launcher, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    for name in "abcd":
        nodes.add(name, cpus=1)
    nodes.until_alive(4)
    document = spec(
        parallelism__rollout_workers=2,
        parallelism__learner_ranks=2,
        parallelism__learner_placement="spread",
        schedule__steps=8,
        evaluation__sources=[],
    )
    launcher.prepare(document)
    launcher.start()
    until(platform, lambda: len(platform.of("checkpoint")) >= 1)
    ranks, engines = nodes_of("LearnerWorker", nodes), nodes_of("RolloutWorker", nodes)
    assert sorted([*ranks, *engines]) == ["a", "b", "c", "d"], "each on a node of its own"
    assert nodes_of("RunController", nodes) == ["head"]
    nodes.kill(ranks[0])
    until_alert(platform, "A process of the run died")
    launcher.until_gone()
    assert platform.states() == ["starting", "running"], "a new attempt is the platform's to make"

    saved = platform.of("checkpoint")[-1]
    platform.events.clear()
    resume = {"step": saved["step"], **{key: saved["data"][key] for key in ("path", "manifest_sha256")}}
    launcher.prepare(document, attempt=2, resume=resume)
    launcher.start()
    until_succeeded(platform)
    assert platform.states() == ["starting", "running", "succeeded"], json.dumps(platform.of("state"))
    assert platform.steps() == list(range(saved["step"] + 1, 9))
    assert set(alerts(platform)) <= {"The run waits for room on the cluster", "The run has room"}
    print("told:", [event["data"]["message"] for event in platform.of("alert")])
