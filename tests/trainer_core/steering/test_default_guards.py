"""The guards that every run begins with: each fires on what it is for, and none on runs that are well."""

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.trainer_core.specs import spec
from trainer_core.metrics import find
from trainer_core.spec.operation.guard_presets import PRESETS, STRICT, WATCH
from trainer_core.steering.guards import GuardWatch

RECORDED = Path(__file__).parent / "recorded_runs.json"
HEALTHY = {
    "actor/entropy": 0.4,
    "rollout_corr/rollout_is_mean": 1.0,
    "rollout_corr/k3_kl": 0.001,
    "rollout_corr/rollout_is_eff_sample_size": 0.95,
    "groups/zero_advantage_share": 0.4,
    "response_length/clip_ratio": 0.05,
    "reward/error_share": 0.0,
    "reward/length_bias": 0.1,
    "critic/score/mean": 0.5,
    "train/pass_rate/sums": 0.5,
    "actor/grad_norm": 0.8,
    "timing_s/step": 12.0,
}


def fired(steps: Iterable[Mapping[str, float]], guards: Any = WATCH) -> dict[str, int]:
    """First step at which each guard acts."""
    watch, found = GuardWatch(guards), dict[str, int]()
    for step, metrics in enumerate(steps, start=1):
        for alert in watch.check(step, metrics):
            found.setdefault(alert.guard, step)
    return found


def planted(healthy: int = 30, ill: int = 20, **values: float) -> list[dict[str, float]]:
    """A healthy run that falls ill after its step ``healthy``."""
    return [dict(HEALTHY)] * healthy + [{**HEALTHY, **values}] * ill


@pytest.mark.parametrize(
    ("guard", "values", "step"),
    [
        ("entropy collapse", {"actor/entropy": 0.01}, 45),
        ("mismatch", {"rollout_corr/rollout_is_mean": 0.4}, 33),
        ("mismatch", {"rollout_corr/rollout_is_mean": 2.1}, 33),
        ("mismatch KL", {"rollout_corr/k3_kl": 0.3}, 33),
        ("few effective samples", {"rollout_corr/rollout_is_eff_sample_size": 0.2}, 33),
        ("dead groups", {"groups/zero_advantage_share": 1.0}, 40),
        ("length runaway", {"response_length/clip_ratio": 0.8}, 40),
        ("reward errors", {"reward/error_share": 0.2}, 33),
        ("judge bias", {"reward/length_bias": 0.5}, 31),
        ("judge bias", {"reward/length_bias": -0.5}, 31),
        ("gradient spike", {"actor/grad_norm": math.nan}, 32),
        ("gradient spike", {"actor/grad_norm": 80.0}, 32),
        ("spend", {"timing_s/step": 300.0}, 35),
    ],
)
def test_each_fires_on_what_it_is_for(guard: str, values: dict[str, float], step: int) -> None:
    assert fired(planted(**values)) == {guard: step}


def test_held_out_that_falls_while_the_reward_rises() -> None:
    def run(held_out: list[float], rewards: list[float]) -> list[dict[str, float]]:
        steps = []
        for evaluated, reward in zip(held_out, rewards, strict=True):
            steps += [{**HEALTHY, "critic/score/mean": reward}] * 4
            steps.append({**HEALTHY, "critic/score/mean": reward, "eval/held_out/score/mean": evaluated})
        return steps

    rising = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
    assert fired(run([0.3, 0.4, 0.5, 0.44, 0.43, 0.42], rising)) == {"held-out falls": 25}
    assert fired(run([0.3, 0.4, 0.5, 0.44, 0.5, 0.44], rising)) == {}, "twice in a row"
    assert fired(run([0.3, 0.4, 0.5, 0.46, 0.46, 0.46], rising)) == {}, "less than a tenth"
    assert fired(run([0.3, 0.4, 0.5, 0.4, 0.3, 0.2], [0.3, 0.4, 0.5, 0.4, 0.3, 0.2])) == {}, "both fall"
    (alert,) = [
        alert
        for step, metrics in enumerate(run([0.5, 0.4, 0.3], [0.3, 0.4, 0.5]), start=1)
        for alert in GUARD.check(step, metrics)
    ]
    assert alert.message == (
        "the held-out reward is 0.3, more than 10% below its best of 0.5 while critic/score/mean rose to 0.5, "
        "for 2 evaluations (step 15)"
    )
    assert (alert.since, alert.severity, alert.action) == (10, "error", "alert")


GUARD = GuardWatch([guard for guard in WATCH if guard.name == "held-out falls"])


@pytest.mark.parametrize("saved_after", [1, 4, 5, 6, 9])
def test_a_checkpoint_keeps_what_was_not_evaluated_yet(saved_after: int) -> None:
    """A run without evaluations has nothing to compare with, and must be saved all the same."""
    steps = [{"critic/score/mean": reward} for reward in (0.3, 0.3, 0.3, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)]
    for step, held_out in ((4, 0.5), (6, 0.4), (9, 0.3)):
        steps[step]["eval/held_out/score/mean"] = held_out
    guards = [guard for guard in WATCH if guard.name == "held-out falls"]
    straight, first, resumed = GuardWatch(guards), GuardWatch(guards), GuardWatch(guards)
    expected = [straight.check(step, metrics) for step, metrics in enumerate(steps, start=1)]
    found = [first.check(step, metrics) for step, metrics in enumerate(steps[:saved_after], start=1)]
    resumed.load(json.loads(json.dumps(first.state(), allow_nan=False)))
    found += [resumed.check(step, metrics) for step, metrics in enumerate(steps[saved_after:], start=saved_after + 1)]
    assert found == expected
    assert [len(alerts) for alerts in expected] == [0] * 9 + [1]


def test_a_solved_task_is_no_collapse() -> None:
    still = {"actor/entropy": 0.005, "groups/zero_advantage_share": 1.0}
    assert fired(planted(**still, **{"train/pass_rate/sums": 0.97})) == {}
    assert fired(planted(**still, **{"train/pass_rate/sums": 0.5})) == {"entropy collapse": 45, "dead groups": 40}
    assert fired(planted(**{"actor/entropy": math.nan, "train/pass_rate/sums": 1.0})) == {"entropy collapse": 45}


@pytest.mark.parametrize("name", ["plain", "async"])
def test_runs_that_were_well_set_off_nothing(name: str) -> None:
    steps = recorded(name)
    assert len(steps) >= 60 and steps[-1]["critic/score/mean"] > 0.8, "it has learned"
    assert fired(steps) == {}


def test_a_run_that_learned_its_rows_by_heart_is_found() -> None:
    """At three times the learning rate it repeats 64 rows: the reward rises to 0.98, the held-out one falls to 0.5."""
    steps = recorded("quick")
    assert [row["eval/held_out/score/mean"] for row in steps if "eval/held_out/score/mean" in row][::3] == [
        0.8125, 0.6875, 0.5
    ]  # fmt: skip
    assert fired(steps) == {"held-out falls": 40}


def recorded(name: str) -> list[dict[str, float]]:
    """Metrics of a run of the starter policy, step by step, with the evaluations that ended at each."""
    columns = json.loads(RECORDED.read_text())[name]
    length = len(columns["actor/lr"])
    return [
        {metric: float(values[step]) for metric, values in columns.items() if values[step] is not None}
        for step in range(length)
    ]


def test_presets_make_a_run_and_say_why() -> None:
    assert [preset.name for preset in PRESETS] == ["off", "watch", "strict"]
    assert spec().guards == WATCH
    assert spec(guards=[]).guards == (), "stored specs name theirs"
    for preset in PRESETS:
        assert spec(guards=[guard.model_dump(mode="json") for guard in preset.guards]).guards == preset.guards
    for guard in WATCH:
        assert guard.why.endswith(".") and guard.action == "alert" and find(guard.metric) is not None
    assert {guard.action for guard in STRICT} == {"pause"}
