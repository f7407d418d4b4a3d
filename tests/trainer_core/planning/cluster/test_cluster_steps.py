"""Steps on a cluster worked out by hand, and what must hold on any cluster."""

import math
from dataclasses import asdict, replace

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.trainer_core.planning.cluster.clusters_by_hand import ASYNC, NODE, SYNC, cluster, setting
from trainer_core.planning.cluster.hardware import GpuLink, Reliability, cluster_of
from trainer_core.planning.cluster.layout import EngineLayout, smallest_engine, smallest_learner
from trainer_core.planning.cluster.publication import PublicationPlan
from trainer_core.planning.cluster.rates import learner_rates
from trainer_core.planning.cluster.scale import SCALES
from trainer_core.planning.cluster.simulate import BatchWork, Setting, simulate_cluster
from trainer_core.planning.lengths import LognormalLengths
from trainer_core.planning.workload import LoopMode, PlanError

# Prefill: 80 tokens of 2e9 operations at 1.6e12 a second. Decoding: a step reads 2 GB of weights and, of eight
# sequences with 60 tokens each in the mean, 2,000 bytes a token, at 20 GB/s; a hundred times.
GENERATED = 0.1 + 100 * (2e9 + 8 * 60 * 2000) / 20e9
# 880 tokens of 8e9 operations, and 2 GB of gradients that two GPUs sum: there and back at 100 GB/s.
LEARNED = 4.4 + 0.04
# 2 GB from host memory at 50 GB/s; then over NVLink and into the engine, at 100 GB/s each.
PUBLISHED, LOADED = 0.04, 0.02 + 0.02


def test_a_step_on_two_gpus_is_the_sum_worked_out_by_hand() -> None:
    run = simulate_cluster(setting(), steps=20)
    assert run.step.engine_seconds == pytest.approx(GENERATED)
    assert run.step.learner_seconds == pytest.approx(LEARNED + PUBLISHED)
    assert run.step.load_seconds == pytest.approx(LOADED)
    step = GENERATED + 0.75 + LEARNED + PUBLISHED + LOADED
    assert run.step.step_seconds == pytest.approx(step)
    # Two checkpoints of 14 GB at 5 GB/s.
    assert run.seconds == pytest.approx(20 * step + 2 * 2.8)
    assert run.gpu_hours_per_1000_steps == pytest.approx(2 * (step + 0.28) * 1000 / 3600)
    assert run.shares.generating == pytest.approx(GENERATED / (step + 0.28) / 2)
    assert run.shares.failures == 0.0


def test_overlap_leaves_the_longer_side() -> None:
    run = simulate_cluster(setting(mode=ASYNC), steps=20)
    assert run.step.step_seconds == pytest.approx(GENERATED + LOADED)


def test_links_without_limits_leave_the_bound_of_overlap() -> None:
    endless = GpuLink(math.inf, 0.0)
    free = cluster(inside=endless, network=endless, host=endless)
    attained = replace(setting().attained, apply_bandwidth=math.inf)
    run = simulate_cluster(setting(cluster=free, mode=ASYNC, attained=attained), steps=20)
    assert run.sync.publish_seconds == run.sync.load_seconds == 0.0
    assert run.step.step_seconds == pytest.approx(max(GENERATED, 4.4 + 0.75))


@pytest.mark.parametrize(
    "mode", [SYNC, ASYNC, LoopMode("in_flight", 2, interrupts=True), LoopMode("sync", surplus=0.5)]
)
def test_all_time_is_accounted_for(mode: LoopMode) -> None:
    often = Reliability(gpu_hours_between_failures=0.2, restart_seconds=30, engine_restart_seconds=20, slowness=0.1)
    run = simulate_cluster(setting(cluster=replace(cluster(), reliability=often), mode=mode), steps=300)
    assert run.passage.learner_failures > 0 and run.passage.engine_failures > 0
    shares = asdict(run.shares)
    assert sum(shares.values()) == pytest.approx(1.0, abs=1e-9)
    assert all(share >= 0 for share in shares.values()), shares
    passed = run.passage
    assert (
        passed.seconds == pytest.approx(run.seconds) == passed.worked + passed.saved + passed.redone + passed.restarted
    )


@hypothesis_settings(max_examples=15, deadline=None)
@given(factor=st.floats(1.01, 50), which=st.sampled_from(["inside", "network", "host"]))
def test_a_faster_link_never_slows_a_step(factor: float, which: str) -> None:
    link = getattr(NODE, which)
    wider = {which: GpuLink(link.bandwidth * factor, link.latency)}
    for way in ("gathered", "sharded", "point_to_point", "delta", "store"):
        publication = PublicationPlan(way, changed=0.5)
        slow = simulate_cluster(setting(cluster=cluster(2), engines=2, publication=publication), steps=1)
        fast = simulate_cluster(setting(cluster=cluster(2, **wider), engines=2, publication=publication), steps=1)
        assert fast.step.step_seconds <= slow.step.step_seconds * (1 + 1e-9)


def test_more_failures_and_slower_hosts_never_hasten_a_run() -> None:
    seconds = [
        simulate_cluster(
            setting(cluster=replace(cluster(), reliability=Reliability(hours, 60, 60, slowness))), steps=400
        ).seconds
        for hours, slowness in ((math.inf, 0.0), (50.0, 0.0), (1.0, 0.0), (1.0, 0.3))
    ]
    assert seconds == sorted(seconds)


def test_the_same_seed_gives_the_same_run() -> None:
    often = setting(cluster=replace(cluster(), reliability=Reliability(1.0)))
    first, again = (simulate_cluster(often, steps=200, seed=3) for _ in range(2))
    assert first == again
    assert simulate_cluster(often, steps=200, seed=4).passage != first.passage


def test_a_pipeline_that_is_hardly_filled_stands_still_for_a_share() -> None:
    layout = replace(setting().learner, pipeline=2)
    rates = [learner_rates(cluster(), setting().scale, layout, 60, setting().attained, microbatches=n) for n in (1, 3)]
    whole = 2 * 1.6e12 / 8e9
    assert [rate.tokens_per_s for rate in rates] == pytest.approx([whole / 2, whole * 3 / 4])


def test_4096_gpus_are_simulated_with_failures() -> None:
    batch = BatchWork(4096, 16, 512.0, LognormalLengths(median=4000, sigma=1.0), 16_384)
    big, scale = cluster_of("H100", 4096), SCALES["Qwen3-32B"]
    engine, learner = smallest_engine(big, scale), smallest_learner(big, scale)
    mode = LoopMode("in_flight", 4, interrupts=True)
    run = simulate_cluster(
        Setting(big, scale, batch, mode, engine, learner, 2048 // engine.tensor, 2048 // learner.gpus), steps=1000
    )
    assert run.gpus == 4096
    assert run.passage.learner_failures + run.passage.engine_failures > 0
    assert 0 < run.shares.failures < 0.2
    assert run.step.staleness <= 4


def test_experts_that_nobody_is_sent_to_are_not_read() -> None:
    mixture, dense = SCALES["Qwen3-30B-A3B"], SCALES["Qwen3-32B"]
    assert dense.read_parameters(1) == dense.read_parameters(64) == dense.parameters
    assert mixture.read_parameters(1) == pytest.approx(mixture.active)
    assert mixture.active < mixture.read_parameters(4) < mixture.read_parameters(512) <= mixture.parameters


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"engines": 2}, "the run needs 3 GPUs; the cluster has 2."),
        ({"engines": 0}, "a run needs at least one engine and one copy of the learner."),
        (
            {"mode": ASYNC, "colocated": True},
            "engines and learner cannot share GPUs in the mode 'async': they overlap.",
        ),
        (
            {"engine": EngineLayout(4), "cluster": cluster(4)},
            "tensor parallelism over 4 GPUs exceeds a host of 2: every layer would wait for the network.",
        ),
        (
            {"scale": replace(setting().scale, parameters=70e9, active=70e9)},
            "the weights of a policy of 70 billion parameters take 130 GiB; an engine of 1 GPU has 38 GiB for them.",
        ),
        (
            {"scale": replace(setting().scale, parameters=5e9, active=5e9)},
            "a learner of 5 billion parameters takes 94 GiB on each of 1 GPU, which have 40 GiB.",
        ),
    ],
)
def test_what_does_not_fit_is_refused_in_words(changes: dict[str, object], sentence: str) -> None:
    with pytest.raises(PlanError) as refused:
        simulate_cluster(setting(**changes))
    assert str(refused.value) == sentence


def test_the_smallest_layouts_that_fit_are_chosen() -> None:
    h100 = cluster_of("H100", 64)
    assert smallest_engine(h100, SCALES["Llama-3.1-8B"]).tensor == 1
    assert smallest_engine(h100, SCALES["Qwen2.5-72B"]).tensor == 4
    assert smallest_learner(h100, SCALES["Llama-3.1-8B"]).gpus == 2
    with pytest.raises(PlanError, match="take 1,250 GiB; an engine of 8 GPUs has 617 GiB"):
        smallest_engine(h100, SCALES["DeepSeek-V3"])
    with pytest.raises(PlanError, match="one sequence of 3,000,000 tokens needs"):
        smallest_engine(h100, SCALES["Qwen3-235B-A22B"], sequence_tokens=3e6)


@pytest.mark.parametrize(
    ("gpu", "gpus", "sentence"),
    [
        ("abacus", 8, "'abacus' is not a known kind of GPU; known are A100, H100, H800, H20, H200, B200."),
        ("H100", 12, "12 GPUs do not fill hosts of 8."),
        ("H100", 0, "0 GPUs do not fill hosts of 8."),
    ],
)
def test_clusters_are_of_full_hosts(gpu: str, gpus: int, sentence: str) -> None:
    with pytest.raises(PlanError) as refused:
        cluster_of(gpu, gpus)
    assert str(refused.value) == sentence
