"""An engine that does not compute with the new weights: the run pauses, saved, and goes on with new engines."""

from collections.abc import Callable
from typing import Any

import pytest
import ray

from tests.support.about import RUNS
from tests.support.engine_process import EngineProcess
from tests.support.warm_loop import WarmLoop
from tests.worker.loop.platform_double import PlatformDouble
from worker.cluster.actors import NAMESPACE
from worker.rollout.worker import RolloutWorker

LAYER = "model.layers.1.mlp.down_proj.weight"


def lose_a_layer(worker: RolloutWorker) -> None:
    """From now on one tensor of each update does not reach the kernels."""
    weights: Any = worker._engine._weights
    load, kept = weights.load, {}

    def half(tensors: dict[str, Any]) -> None:
        kept.setdefault(LAYER, tensors[LAYER].clone())
        load({**tensors, LAYER: kept[LAYER]})

    weights.load = half


def spoil_a_layer_once(process: EngineProcess) -> None:
    """The next load writes a wrong tensor, and those behind it are right."""
    assert process.worker is not None
    weights: Any = process.worker._engine._weights
    load = weights.load

    def spoilt(tensors: dict[str, Any]) -> None:
        weights.load = load
        load({**tensors, LAYER: tensors[LAYER] * 1.01})

    weights.load = spoilt


def test_a_run_goes_on_over_weights_that_arrive_at_the_second_loading(
    warm_loop: WarmLoop, warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    steps = 4
    warm_launcher.prepare(spec(schedule__steps=steps, schedule__prompts_per_step=4, evaluation__every_steps=100))
    platform.desired_state = "paused"  # from the start: however busy the machine is, no step is ahead of it
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] == ["paused"])
    ray.get(warm_loop.engine_process.__ray_call__.remote(spoil_a_layer_once))
    platform.desired_state = "running"
    platform.wait(lambda: platform.states()[-1:] in (["succeeded"], ["failed"]))
    assert platform.states() == ["starting", "running", "paused", "running", "succeeded"]
    assert platform.steps() == list(range(1, steps + 1))
    [alert] = [event["data"] for event in platform.of("alert")]
    assert (alert["level"], alert["title"]) == ("warn", "Weights were loaded a second time")
    assert alert["message"].startswith("Rollout worker 0 failed its probe (weights ")
    assert f": 1 of 47 tensors in the engine is not as published: {LAYER}" in alert["message"]
    assert alert["message"].endswith("). It received all weights again and passes.")
    assert all(event["data"]["metrics"]["rollouts/regenerated"] == 0.0 for event in platform.of("step"))
    warm_launcher.until_gone()


@pytest.mark.live
@pytest.mark.expensive(3, "starts a run twice with processes of its own", about=RUNS)
def test_a_run_pauses_over_weights_that_an_engine_has_not_and_goes_on_from_its_checkpoint(
    launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    launcher.prepare(
        spec(
            schedule__steps=6,
            schedule__prompts_per_step=4,
            checkpoint__every_steps=100,
            evaluation__every_steps=100,
        )
    )
    platform.desired_state = "paused"  # from the start: however busy the machine is, no step is ahead of it
    launcher.start()
    platform.wait(lambda: platform.states()[-1:] == ["paused"])
    assert platform.steps() == []
    (name,) = [name for name in launcher.actors() if "rollout" in name]
    engine = ray.get_actor(name, namespace=NAMESPACE)
    ray.get(engine.__ray_call__.remote(lose_a_layer))
    platform.desired_state = "running"
    platform.wait(lambda: platform.states() == ["starting", "running", "paused", "running", "paused"])
    refused = platform.of("state")[-1]
    step = refused["step"]
    # The first version that it is given still sets what is kept: the second is refused, at once.
    assert step == platform.steps()[-1] == 2
    reason = refused["data"]["reason"]
    assert reason.startswith(
        f"Rollout worker 0 does not compute with the new weights: weights {step}: 1 of 47 tensors in the engine is not "
        f"as published: {LAYER} (it has those of version {step - 1})"
    ), reason
    assert reason.endswith(
        f"The checkpoint after step {step} is safe. Resume the run to start it from there with new engines."
    )
    assert refused["data"]["by_request"] is False
    [saved] = platform.of("checkpoint")
    assert saved["step"] == step
    alerts = platform.of("alert")
    assert [(a["data"]["level"], a["data"]["title"]) for a in alerts] == [
        ("error", "An engine's weights differ from the learner's")
    ]
    assert [name for name in launcher.actors() if "rollout" in name] == [name], "no engine was replaced"

    platform.desired_state = "paused"  # as the platform takes note of the pause
    syncs = platform.syncs
    platform.wait(lambda: platform.syncs > syncs + 2)
    assert platform.states()[-1] == "paused", "nobody has resumed it"
    platform.desired_state = "running"
    platform.wait(lambda: platform.states()[-1:] == ["suspended"])
    assert platform.of("state")[-1]["data"]["reason"] == (
        f"Its slot was released. The checkpoint after step {step} is safe."
    )
    launcher.until_gone()

    again = PlatformDouble()
    again.files = platform.files
    resume = {"step": step, "path": saved["data"]["path"], "manifest_sha256": saved["data"]["manifest_sha256"]}
    again.bundle = {**platform.bundle, "attempt": 2, "resume": resume}
    launcher.platform = again
    launcher.start()
    again.wait(lambda: again.states()[-1:] == ["succeeded"])
    assert again.steps() == list(range(step + 1, 7)) and again.of("alert") == []
    noise = {one["data"]["metrics"]["probe/noise_floor"] for one in [*platform.of("step"), *again.of("step")]}
    assert len(noise) == 1, "the second attempt judges by the noise of the first"
    again.close()
