"""The model of the loop against steps worked out by hand, and what must hold for any rates."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.about import LEARNING
from tests.trainer_core.planning.rates_for_planning import rates, work
from trainer_core.planning.simulate import most_engines, simulate
from trainer_core.planning.workload import LoopMode

SYNC = LoopMode("sync")
STREAMED = LoopMode("streamed", streams=True)
ASYNC = LoopMode("async", max_staleness=1)
IN_FLIGHT = LoopMode("in_flight", max_staleness=1, interrupts=True)


def test_a_synchronous_step_is_the_sum_of_its_phases() -> None:
    # prefill 8·10/40 = 2, decode 100·0.1 = 10, reward 1, hand-over 0.75, learn 8·110/440 + 0.5 = 2.5,
    # publish 0.25, load 0.5
    line = simulate(work(), SYNC, 1, 1)
    assert line.step_seconds == pytest.approx(17.0)
    assert line.engine_seconds == pytest.approx(12.0)
    assert line.learner_seconds == pytest.approx(2.75)
    assert line.load_seconds == pytest.approx(0.5)
    assert line.tokens_per_step == pytest.approx(800.0)
    assert line.staleness == 0.0


def test_overlap_leaves_the_longer_side() -> None:
    # Engines: 12 s of generation and 0.5 s of loading; the learner's 1 + 0.75 + 2.5 + 0.25 are hidden behind them.
    line = simulate(work(), ASYNC, 1, 1)
    assert line.step_seconds == pytest.approx(12.5)
    assert line.staleness == pytest.approx(1.0)


def test_a_slow_learner_decides_the_step_of_an_overlapping_loop() -> None:
    # Learning 8·110/22 = 40 s, fixed 0.5, publishing 0.25, hand-over 0.75: the next batch has long been ready.
    line = simulate(work(rates=rates(learner={"tokens_per_s": 22})), ASYNC, 1, 1)
    assert line.step_seconds == pytest.approx(41.5)
    assert line.learner_seconds == pytest.approx(40.75)


def test_every_pass_over_the_batch_takes_the_learners_time_again() -> None:
    # Learning 3 · (8·110/440 + 0.5) = 7.5 s in place of 2.5; publishing is once.
    line = simulate(work(epochs=3), SYNC, 1, 1)
    assert line.step_seconds == pytest.approx(22.0)
    assert line.learner_seconds == pytest.approx(7.75)
    assert line.tokens_per_step == pytest.approx(800.0)


def test_sequences_without_a_slot_wait_for_the_next_wave() -> None:
    # Two waves of four, each with 1 s of prefill; four sequences step as slowly as eight.
    line = simulate(work(max_running=4), SYNC, 1, 1)
    assert line.engine_seconds == pytest.approx(22.0)
    assert line.step_seconds == pytest.approx(27.0)


def test_two_engines_halve_the_load_not_the_latency() -> None:
    # Four sequences each: prefill 1 s, decode 10 s as before.
    line = simulate(work(), SYNC, 2, 1)
    assert line.step_seconds == pytest.approx(16.0)
    assert most_engines(work(), SYNC) == 2
    assert simulate(work(), SYNC, 50, 1) == line


def test_ranks_divide_the_learning_down_to_the_longest_trajectory() -> None:
    assert simulate(work(), SYNC, 1, 2).learner_seconds == pytest.approx(1.0 + 0.75)
    assert simulate(work(), SYNC, 1, 8).learner_seconds == pytest.approx(0.25 + 0.75)
    assert work().max_ranks() == 8
    assert simulate(work(), SYNC, 1, 99) == simulate(work(), SYNC, 1, 8)


def test_each_doubling_of_ranks_loses_its_share() -> None:
    some = work(rates=rates(learner={"doubling_efficiency": 0.5}))
    assert some.learn_seconds(880, 0, 1) == pytest.approx(2.0)
    assert some.learn_seconds(880, 0, 4) == pytest.approx(2.0 / (4 * 0.25))


def test_the_batch_waits_for_the_longest_of_all_engines() -> None:
    lengths = {"type": "lognormal", "median": 50, "sigma": 0.5}
    many = work(prompts=64, rates=rates(lengths=lengths))
    alone = work(prompts=2, rates=rates(lengths=lengths))
    spread, single = simulate(many, SYNC, 32, 999), simulate(alone, SYNC, 1, 999)
    assert spread.engine_seconds == pytest.approx(single.engine_seconds)
    assert spread.step_seconds > single.step_seconds + 2.0


def test_the_burst_of_the_first_batches_does_not_count() -> None:
    # Five batches are dispatched at once; while they end together, engines that are far too slow seem fast enough.
    tail = work(
        prompts=64,
        max_running=16,
        rates=rates(
            engine={"decode": [{"running": 1, "tokens_per_s": 10}, {"running": 16, "tokens_per_s": 100}]},
            learner={"tokens_per_s": 1e6, "seconds_per_update": 0.0},
            lengths={"type": "lognormal", "median": 40, "sigma": 1.0},
        ),
    )
    mode = LoopMode("in_flight", max_staleness=4, interrupts=True)
    few, many = (simulate(tail, mode, 40, 1, steps=steps).step_seconds for steps in (4, 64))
    assert few == pytest.approx(many, rel=0.05)


def test_a_shared_machine_slows_what_overlaps() -> None:
    # Engine 12 s and learner 2.75 s on one machine: while both work, each takes twice as long.
    line = simulate(work(rates=rates(overlap_slowdown=2.0)), ASYNC, 1, 1)
    assert line.step_seconds == pytest.approx(12.5 + 2.75)
    assert simulate(work(rates=rates(overlap_slowdown=2.0)), SYNC, 1, 1).step_seconds == pytest.approx(17.0)


def test_recomputing_the_cache_costs_a_prefill_of_what_runs() -> None:
    tail = work(rates=rates(lengths={"type": "lognormal", "median": 50, "sigma": 0.7}))
    kept = simulate(tail, IN_FLIGHT, 1, 1)
    computed = simulate(tail, LoopMode("in_flight", 1, interrupts=True, recomputes_kv=True), 1, 1)
    assert computed.step_seconds > kept.step_seconds


def test_a_surplus_of_groups_takes_the_tail_off_the_step() -> None:
    # Short of saturation a step is as long as its longest sequence.
    table = {"decode": [{"running": 96, "tokens_per_s": 960}], "prefill_tokens_per_s": 4000}
    tail = work(
        prompts=16,
        max_running=96,
        rates=rates(engine=table, lengths={"type": "lognormal", "median": 40, "sigma": 1.0}),
    )
    whole = simulate(tail, SYNC, 1, 1)
    partial = simulate(tail, LoopMode("sync", surplus=0.5), 1, 1)
    assert partial.step_seconds < 0.8 * whole.step_seconds
    assert 0 < partial.staleness < 1


@settings(max_examples=25, deadline=None)
@given(
    tokens=st.lists(st.integers(1, 300), min_size=7, max_size=7),
    table=st.lists(st.integers(1, 64), min_size=1, max_size=4, unique=True),
)
def test_the_clock_of_all_sequences_agrees_with_one_token_at_a_time(tokens: list[int], table: list[int]) -> None:
    lengths = sorted(tokens)
    lengths.append(lengths[-1])  # the longest of eight draws lies between the last two
    decode = [{"running": running, "tokens_per_s": 50 + 10 * running} for running in sorted(table)]
    some = work(
        max_tokens=400, rates=rates(engine={"decode": decode}, lengths={"type": "empirical", "tokens": lengths})
    )
    seconds = sum(
        some.rates.engine.step_seconds(sum(length > grown for length in lengths)) for grown in range(lengths[-1])
    )
    assert simulate(some, SYNC, 1, 1).engine_seconds == pytest.approx(2.0 + seconds)


@pytest.mark.expensive(2, "simulates runs", about=LEARNING)
@settings(max_examples=25, deadline=None)
@given(
    sigma=st.floats(0, 1.5),
    prompts=st.integers(1, 40),
    group_size=st.integers(1, 12),
    learn=st.floats(20, 20_000),
    slots=st.integers(1, 64),
    seconds=st.tuples(*[st.floats(0, 3)] * 4),
)
def test_what_holds_for_any_rates(
    sigma: float, prompts: int, group_size: int, learn: float, slots: int, seconds: tuple[float, ...]
) -> None:
    update, publish, load, reward = seconds
    some = work(
        prompts=prompts,
        group_size=group_size,
        max_running=slots,
        rates=rates(
            learner={"tokens_per_s": learn, "seconds_per_update": update},
            sync={"publish_seconds": publish, "load_seconds": load},
            reward_seconds=reward,
            lengths={"type": "lognormal", "median": 40, "sigma": sigma},
        ),
    )
    lines = {mode: simulate(some, mode, 1, 1) for mode in (SYNC, STREAMED, ASYNC, IN_FLIGHT)}
    for mode, line in lines.items():
        assert line.engine_seconds <= line.step_seconds * (1 + 1e-9), mode
        assert line.learner_seconds <= line.step_seconds * (1 + 1e-9), mode
        assert 0 <= line.staleness <= mode.max_staleness, mode
        # Every dispatched group is learned: what is learned per step is what a step asks for.
        assert line.tokens_per_step == pytest.approx(lines[SYNC].tokens_per_step, rel=0.35), mode
    assert lines[STREAMED].step_seconds <= lines[SYNC].step_seconds * (1 + 1e-9)
    assert simulate(some, ASYNC, 1, 1) == lines[ASYNC], "the model is not deterministic"
