"""Times of weight updates: by hand, and against a broadcast that is walked through bucket by bucket."""

import math

import pytest

from tests.trainer_core.planning.cluster.clusters_by_hand import WHOLE, cluster
from trainer_core.planning.cluster.hardware import GpuLink
from trainer_core.planning.cluster.layout import EngineLayout
from trainer_core.planning.cluster.publication import PublicationPlan, Way, chain_seconds
from trainer_core.planning.workload import PlanError

WEIGHTS = 8e9


def walked(buckets: int, hosts: int, each: float) -> float:
    """Time of a chain: a host sends a bucket once it has it whole and has sent the one before."""
    has = [0.0] * buckets
    for _ in range(hosts):
        free = 0.0
        for bucket in range(buckets):
            free = max(free, has[bucket]) + each
            has[bucket] = free
    return has[-1]


@pytest.mark.parametrize(("hosts", "buckets"), [(2, 1), (2, 4), (5, 4), (64, 7)])
def test_a_chain_of_hosts_is_a_pipeline_of_buckets(hosts: int, buckets: int) -> None:
    # Two GPUs of each host send at 10 GB/s each.
    slow = cluster(64, network=GpuLink(10e9, 0.001))
    each = 0.001 + WEIGHTS / buckets / 20e9
    assert chain_seconds(slow, WEIGHTS, hosts, WHOLE, WEIGHTS / buckets) == pytest.approx(walked(buckets, hosts, each))


@pytest.mark.parametrize(
    ("way", "publish", "load"),
    [
        # One rank assembles 4.6 GB/s, which is slower than the chain of two hosts with four buckets: 5 · 2/20.
        ("gathered", 0.0, 8 / 4.6),
        # Two GPUs bring 4 GB each at 50 GB/s; the chain; the engine takes out 8 GB at 100 GB/s.
        ("sharded", 0.08, 0.5 + 0.08),
        # An engine's two GPUs receive 4 GB each, two GPUs send 2 · 8/2 = 8 GB each, at 10 GB/s.
        ("point_to_point", 0.0, 0.8),
        # 8 GB are looked through at 10.5 GB/s; a hundredth of them with 4 bytes of index for 2 of weight: 0.24 GB, on
        # two hops.
        ("delta", 8 / 10.5, 2 * 0.24 / 20),
        # One host uploads 8 GB at 5 GB/s, each of the engines' hosts downloads as much.
        ("store", 1.6, 1.6),
    ],
)
def test_each_way_takes_what_is_worked_out_by_hand(way: Way, publish: float, load: float) -> None:
    sync = PublicationPlan(way, changed=0.01).sync(cluster(3), WEIGHTS, 2, EngineLayout(2), 2, WHOLE)
    assert (sync.publish_seconds, sync.load_seconds) == pytest.approx((publish, load))


def test_a_delta_needs_a_share_that_makes_sense() -> None:
    for share in (0.0, 1.1, -1.0, math.nan):
        with pytest.raises(PlanError, match=r"the share of weights that changed must be above 0 and at most 1"):
            PublicationPlan("delta", share).sync(cluster(3), WEIGHTS, 2, EngineLayout(2), 2, WHOLE)
