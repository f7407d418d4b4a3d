"""A run that trains an adapter: engines get merged weights that pass the probe, and a later attempt goes on with it."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.about import TRAINING
from tests.worker.loop.platform_double import PlatformDouble


@pytest.mark.expensive(16, "trains two short runs", about=TRAINING)
def test_run_trains_an_adapter_and_resumes(
    warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    chosen = spec(
        policy__adapter={"type": "lora", "rank": 8, "use_rslora": True},
        optimizer__learning_rate=3e-3,
        kl={"coefficient": 0.01, "reference": "start"},
        schedule__steps=3,
        rollout__engine__probe_tolerance=0.001,
    )
    warm_launcher.prepare(chosen)
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] in (["succeeded"], ["failed"]))
    assert platform.states() == ["starting", "running", "succeeded"], platform.of("state")[-1]
    steps = platform.of("step")
    assert [event["step"] for event in steps] == [1, 2, 3]
    for event in steps:
        metrics = event["data"]["metrics"]
        assert math.isfinite(metrics["critic/score/mean"]) and metrics["actor/grad_norm"] > 0
    # The reference is the policy without its adapter, which moves away from it.
    distances = [event["data"]["metrics"]["actor/kl_loss"] for event in steps]
    assert abs(distances[0]) < 1e-6 < distances[2]
    saved = platform.of("checkpoint")[-1]["data"]
    assert json.loads((Path(saved["path"]) / "adapter" / "adapter_config.json").read_text())["r"] == 8
    warm_launcher.until_gone()

    first = next(event["data"] for event in platform.of("checkpoint") if event["step"] == 2)
    resume = {"path": first["path"], "step": 2, "manifest_sha256": first["manifest_sha256"]}
    with platform.changed:
        platform.events.clear()
    warm_launcher.prepare(chosen, attempt=2, resume=resume)
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] in (["succeeded"], ["failed"]))
    assert platform.states()[-1] == "succeeded", platform.of("state")[-1]
    (again,) = platform.of("step")
    names = ("actor/loss", "actor/grad_norm", "actor/kl_loss", "critic/score/mean")
    assert [again["data"]["metrics"][name] for name in names] == [steps[2]["data"]["metrics"][name] for name in names]
    warm_launcher.until_gone()
