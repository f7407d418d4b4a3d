"""Every mode trains: all steps, each group once, and no token older than the mode allows."""

import io
from collections.abc import Callable
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.support.about import TRAINING
from tests.worker.loop.platform_double import PlatformDouble
from trainer_core.link.traces import TOKEN_COLUMNS, TraceRow

MODES: dict[str, tuple[dict[str, Any], int]] = {
    "sync": ({"type": "sync"}, 0),
    "streamed": ({"type": "streamed"}, 0),
    "async": ({"type": "async", "max_staleness": 3}, 3),
    "async, not interrupted": ({"type": "async", "max_staleness": 2, "interruptible": False}, 2),
    "in_flight": ({"type": "in_flight", "max_staleness": 4}, 4),
}


def traced(platform: PlatformDouble) -> dict[int, int]:
    """Groups in the trace files of each step, in which learner and engine have scored every token alike."""
    groups: dict[int, set[str]] = {}
    for (step, _), data in platform.traces.items():
        for row in pq.read_table(io.BytesIO(data)).to_pylist():
            told = TraceRow.model_validate_json(row["row"])
            groups.setdefault(step, set()).add(told.group_id)
            assert row["prompt"]
            assert {len(row[name]) for name in TOKEN_COLUMNS if row[name] is not None} == {told.length}
            # What the filters leave out of the loss is not scored by the learner.
            assert (row["learner_logprobs"] is None) == (row["entropy"] is None)
            if row["learner_logprobs"] is not None:
                pairs = zip(row["learner_logprobs"], row["engine_logprobs"], row["sampled"], strict=True)
                assert max(abs(a - b) for a, b, sampled in pairs if sampled) == pytest.approx(told.worst_gap, abs=1e-5)
    return {step: len(found) for step, found in sorted(groups.items())}


@pytest.mark.expensive(11, "trains a short run", about=TRAINING)
@pytest.mark.parametrize("name", MODES)
def test_mode_trains(warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any], name: str) -> None:
    mode, bound = MODES[name]
    # Four groups a step: all of them are shown to the platform.
    schedule = {"steps": 12, "prompts_per_step": 4}
    warm_launcher.prepare(spec(rollout__mode=mode, schedule=schedule, diagnosis={"every_steps": 3, "trajectories": 3}))
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] in (["succeeded"], ["failed"]))

    assert platform.states() == ["starting", "running", "succeeded"], platform.of("state")[-1]["data"]
    assert platform.steps() == list(range(1, 13))
    assert [event["step"] for event in platform.of("eval")] == [0, 3, 6, 9, 12]
    assert not platform.of("alert")
    metrics = [event["data"]["metrics"] for event in platform.of("step")]
    assert max(m["staleness/max"] for m in metrics) <= bound
    assert {m["groups/count"] for m in metrics} == {4.0}
    for m in metrics:
        assert sum(v for k, v in m.items() if k.startswith("staleness/share/")) == pytest.approx(1.0)
        # A short step may end without news of the engine; at the end of a run ahead it may have had nothing to do.
        assert 0.0 <= m.get("perf/engine_busy_share", 0.0) <= 1.0
        assert m["timing_s/wait"] >= 0.0 and m["probe/max_abs_diff"] < 0.05
    assert any(m.get("perf/engine_busy_share", 0.0) > 0.0 for m in metrics)
    replayed = [m for m in metrics if "rollout_corr/cause/numerics" in m]
    assert 1 <= len(replayed) <= 4, "due at steps 3, 6, 9 and 12; the next waits for an answer, the last may come late"
    for m in replayed:
        assert 0.0 < m["rollout_corr/cause/numerics"] < 1e-3
        assert m["rollout_corr/cause/unexplained"] < 1e-3
        assert m["rollout_corr/cause/template"] == m["rollout_corr/cause/truncation"] == 0.0
    if bound:
        assert metrics[-1]["staleness/max"] >= 1.0
    for event in platform.of("step"):
        timeline = event["data"]["timeline"]
        assert len(timeline) <= 40
        assert {"learn", "publish"} <= {span["phase"] for span in timeline if span["lane"] == "learner"}
        assert all(0.0 <= span["start"] <= span["end"] for span in timeline)
    lanes = {span["lane"] for event in platform.of("step") for span in event["data"]["timeline"]}
    assert lanes == {"engine-0", "reward", "learner", "sync"}
    shown = [row["group_id"] for event in platform.of("rollouts") for row in event["data"]["rows"] if not row["sample"]]
    drawn = [f"{step}-{index}" for step in range(1, 13) for index in range(4)]
    assert sorted(shown) == sorted(drawn), "every group that was drawn is trained on once"
    assert traced(platform) == {step: 4 for step in range(1, 13)}
    warm_launcher.until_gone()


def trained(platform: PlatformDouble, *steps: int) -> list[str]:
    rows = [row for event in platform.of("rollouts") if event["step"] in steps for row in event["data"]["rows"]]
    return [row["group_id"] for row in rows if not row["sample"]]


def test_groups_in_flight_at_a_checkpoint_are_generated_again(
    warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    schedule = {"steps": 8, "prompts_per_step": 4}
    mode = {"type": "in_flight", "max_staleness": 3}
    warm_launcher.prepare(
        spec(
            rollout__mode=mode,
            schedule=schedule,
            checkpoint__every_steps=4,
            evaluation__sources=[],
            traces={"full_steps": 2, "groups_per_step": 4, "max_mib": 64},
        )
    )
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] in (["succeeded"], ["failed"]))
    warm_launcher.until_gone()
    # All four groups of a step stay: one file, and none with such as go again.
    assert sorted(platform.traces) == [(step, 0) for step in range(1, 9)]
    saved = platform.of("checkpoint")[0]
    assert saved["step"] == 4

    again = PlatformDouble()
    again.files = platform.files
    resume = {"step": 4, "path": saved["data"]["path"], "manifest_sha256": saved["data"]["manifest_sha256"]}
    again.bundle = {**platform.bundle, "attempt": 2, "resume": resume}
    warm_launcher.platform = again
    warm_launcher.start()
    again.wait(lambda: again.states()[-1:] in (["succeeded"], ["failed"]))
    assert again.states()[-1] == "succeeded", again.of("state")[-1]
    assert again.steps() == [5, 6, 7, 8]
    metrics = [event["data"]["metrics"] for event in again.of("step")]
    assert metrics[0]["staleness/max"] == 0.0, "the first batch is made anew by the weights of the checkpoint"
    assert max(m["staleness/max"] for m in metrics) <= 3.0
    names = trained(platform, 1, 2, 3, 4) + trained(again, 5, 6, 7, 8)
    assert sorted(names) == sorted(f"{step}-{index}" for step in range(1, 9) for index in range(4))
    prompts = {row["group_id"]: row["prompt_id"] for e in platform.of("rollouts") for row in e["data"]["rows"]}
    again_prompts = {row["group_id"]: row["prompt_id"] for e in again.of("rollouts") for row in e["data"]["rows"]}
    assert all(prompts[name] == prompt for name, prompt in again_prompts.items()), "epochs go on where they stood"
    again.close()
