"""Plans: splits, sums and refusals."""

from typing import Any

import pytest

from tests.support.about import LEARNING
from tests.trainer_core.planning.rates_for_planning import rates, work
from tests.trainer_core.specs import spec
from trainer_core.planning import PlanError, plan
from trainer_core.planning.simulate import _Loop
from trainer_core.planning.split import best_split
from trainer_core.planning.workload import LoopMode
from trainer_core.spec import RunSpec

SMALL: dict[str, Any] = {
    "rollout": {"group_size": 4, "max_tokens": 200, "engine": {"max_model_len": 256, "max_num_seqs": 8}},
    "schedule": {"steps": 36, "prompts_per_step": 2},
    "filters": [],
}


MOST_MOMENTS = 300_000
"""Simulated moments of a plan, however many GPUs there are. Of those that are tried, 64 take most."""


def small(**parts: Any) -> RunSpec:
    return spec(**{**SMALL, **parts})


def test_the_spec_as_it_stands_by_hand() -> None:
    found = plan(small(), 2, rates(), price=2.0).current
    assert (found.mode, found.rollout_gpus, found.learner_gpus, found.unused_gpus) == ("sync", 1, 1, 0)
    assert found.step_seconds == pytest.approx(17.0)
    assert found.total_seconds == pytest.approx(612.0)
    assert found.engine_idle_share == pytest.approx(5 / 17)
    assert found.learner_idle_share == pytest.approx(14.25 / 17)
    assert found.tokens_per_s == pytest.approx(800 / 17)
    assert found.gpu_hours == pytest.approx(2 * 612 / 3600)
    assert found.cost == pytest.approx(found.gpu_hours * 2)


def test_every_mode_has_its_best_split() -> None:
    found = plan(small(), 3, rates())
    assert [mode.mode for mode in found.modes] == ["sync", "streamed", "async", "in_flight"]
    assert found.mean_tokens == pytest.approx(100.0)
    assert all(mode.cost is None for mode in found.modes)
    # A second engine saves 1 s of prefill, a second rank 1 s of learning.
    assert found.modes[0].step_seconds == pytest.approx(16.0)
    assert all(mode.rollout_gpus + mode.learner_gpus + mode.unused_gpus == 3 for mode in found.modes)


def test_the_split_is_the_best_of_all() -> None:
    from trainer_core.planning.simulate import simulate

    some = work(prompts=64, group_size=8, max_running=64, max_tokens=400, rates=rates(learner={"tokens_per_s": 900}))
    for mode in (LoopMode("sync"), LoopMode("async", max_staleness=1)):
        every = [simulate(some, mode, engines, 24 - engines, steps=4).step_seconds for engines in range(1, 24)]
        assert best_split(some, mode, 24).timeline.step_seconds <= min(every) * 1.05


def test_workers_of_several_gpus_are_counted_whole() -> None:
    found = plan(small(), 7, rates(engine={"gpus": 2}, learner={"gpus": 4}))
    assert {(mode.rollout_gpus, mode.learner_gpus, mode.unused_gpus) for mode in found.modes} == {(2, 4, 1)}


def test_ranks_that_share_tokens_out_come_and_go_together() -> None:
    alone, shared = work(), work(context_ranks=2)
    assert (alone.max_ranks(), shared.max_ranks()) == (8, 16)
    # One trajectory is the work of one group, which learns from it in half the time.
    assert shared.learn_seconds(880, 880, 4) == pytest.approx(alone.learn_seconds(880, 440, 4))
    assert [best_split(shared, LoopMode("sync"), gpus).ranks for gpus in (3, 4)] == [2, 2]
    with pytest.raises(
        PlanError, match=r"2 GPUs cannot hold one rollout engine \(1\) and 2 context-parallel learner ranks"
    ):
        best_split(shared, LoopMode("sync"), 2)


def test_gpus_that_gain_nothing_stay_unused() -> None:
    found = plan(small(), 100, rates())
    sync = found.modes[0]
    assert (sync.rollout_workers, sync.learner_ranks) == (2, 8)
    assert sync.unused_gpus == 90


@pytest.mark.expensive(2, "simulates runs", about=LEARNING)
@pytest.mark.parametrize("gpus", [2, 64, 4096])
def test_the_work_of_a_plan_is_bounded(gpus: int, monkeypatch: pytest.MonkeyPatch) -> None:
    moments = 0
    settle = _Loop._settle

    def counted(loop: _Loop) -> None:
        nonlocal moments
        moments += 1
        settle(loop)

    monkeypatch.setattr(_Loop, "_settle", counted)
    large = spec(
        rollout={"group_size": 16, "max_tokens": 8192, "engine": {"max_model_len": 16_384}},
        schedule={"prompts_per_step": 1024, "steps": 500},
        parallelism={"max_tokens_per_microbatch": 16_384},
    )
    speed = rates(
        engine={
            "decode": [{"running": 1, "tokens_per_s": 90}, {"running": 256, "tokens_per_s": 9000}],
            "prefill_tokens_per_s": 100_000,
        },
        learner={"tokens_per_s": 9000},
        lengths={"type": "lognormal", "median": 1500, "sigma": 1.0},
    )
    found = plan(large, gpus, speed)
    assert moments < MOST_MOMENTS
    steps = {mode.mode: mode.step_seconds for mode in found.modes}
    assert steps["in_flight"] <= 1.02 * steps["async"] <= 1.04 * steps["sync"]


@pytest.mark.parametrize(
    ("gpus", "changes", "price", "sentence"),
    [
        (1, {}, None, "1 GPU cannot hold one rollout engine (1) and one learner rank (1)."),
        (5, {"engine": {"gpus": 4}, "learner": {"gpus": 2}}, None, "5 GPUs cannot hold one rollout engine (4)"),
        (0, {}, None, "a plan needs 1 to 65536 GPUs, not 0."),
        (2, {"prompt_tokens": 100}, None, "prompts of 100 tokens and completions of up to 200 do not fit"),
        (2, {}, -1.0, "a price must be 0 or more, not -1."),
    ],
)
def test_contradictions_are_a_sentence(gpus: int, changes: dict[str, Any], price: float | None, sentence: str) -> None:
    with pytest.raises(PlanError) as refusal:
        plan(small(), gpus, rates(**changes), price=price)
    assert sentence in str(refusal.value)
