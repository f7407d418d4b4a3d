"""What a run reserves: the same by the arithmetic of the platform and by what the worker places."""

import pytest

from trainer_core.planning.reservation import ENGINE_CPUS, LEARNER_CPUS, Reservation, ReservedShape
from trainer_core.spec.generation.rollout import Engine
from trainer_core.spec.learner.parallelism import Parallelism
from worker.cluster.placement import place
from worker.errors import ClusterError
from worker.loop import startup


def test_cpus_are_those_that_the_worker_reserves() -> None:
    assert (ENGINE_CPUS, LEARNER_CPUS) == (startup.ENGINE_CPUS, startup.LEARNER_CPUS)
    parallelism = Parallelism(rollout_workers=4, learner_ranks=2)
    assert Reservation.of(parallelism, Engine()).cpus == 5.0
    assert Reservation.of(parallelism, Engine(tensor_parallel_size=4, pipeline_parallel_size=2)).cpus == 33.0


@pytest.mark.parametrize("gpus", [0, 1, 2, 3, 5, 8, 64])
@pytest.mark.parametrize("devices", [1, 2, 4])
@pytest.mark.parametrize(("engines", "ranks"), [(1, 1), (2, 1), (4, 1), (4, 2), (1, 8)])
def test_gpus_are_those_that_the_worker_reserves(engines: int, ranks: int, devices: int, gpus: int) -> None:
    demand = Reservation(engines, ranks, devices)
    try:
        placement = place(engines, ranks, gpus, wide=engines if devices > 1 else 0, each=devices)
    except ClusterError:
        assert gpus < demand.least_gpus
        return
    assert gpus == 0 or gpus >= demand.least_gpus
    assert demand.gpus_held(gpus) == pytest.approx(placement.gpus * (engines * devices + ranks))


def test_the_autoscaler_is_asked_for_what_each_actor_reserves() -> None:
    assert Reservation(4, 2).shapes(64) == (ReservedShape(1.0, 1.0, 4), ReservedShape(0.5, 1.0, 2))
    assert Reservation(4, 2).shapes(0) == (ReservedShape(1.0, 0.0, 4), ReservedShape(0.5, 0.0, 2))
    assert Reservation(3, 1).shapes(2) == (ReservedShape(1.0, 0.5, 3), ReservedShape(0.5, 0.5, 1))
    # All devices of an engine are asked for in one piece, for they lie on one node, and never as shares.
    wide = Reservation(2, 1, devices=4)
    assert wide.shapes(64) == (ReservedShape(4.0, 4.0, 2), ReservedShape(0.5, 1.0, 1))
    assert wide.shapes(0) == (ReservedShape(4.0, 0.0, 2), ReservedShape(0.5, 0.0, 1))
    assert wide.shapes(8) == wide.shapes(64), "a node is missing"


def test_a_run_that_begins_with_fewer_engines_asks_for_those_and_for_others_that_have_room() -> None:
    growing = Reservation.of(Parallelism(rollout_workers=8, least_rollout_workers=2, learner_ranks=2), Engine())
    assert (growing.cpus, growing.gpus, growing.least_gpus) == (3.0, 4, 4)
    assert growing.shapes(64) == (ReservedShape(1.0, 1.0, 2), ReservedShape(0.5, 1.0, 2))
    assert [growing.further(64, cpus, 60).count for cpus in (-1, 0, 1.5, 61)] == [0, 0, 1, 6]
    assert [growing.further(8, 61, gpus) for gpus in (0, 4)] == [ReservedShape(1.0, 1.0, n) for n in (0, 4)]
    assert growing.further(0, 61, 0) == ReservedShape(1.0, 0.0, 6)
    assert [growing.gpus_held(gpus) for gpus in (0, 4, 7, 64)] == [0.0, 4.0, 7.0, 10.0]
    shared = Reservation(8, 1, least_engines=1)
    assert (shared.shapes(1), shared.gpus_held(1)) == ((ReservedShape(1.0, 0.5, 1), ReservedShape(0.5, 0.5, 1)), 1.0)
    assert (shared.further(3, 62, 1), shared.gpus_held(3)) == (ReservedShape(1.0, 1.0, 1), 3.0)
    assert Reservation(2, 1, least_engines=8).gpus == 3, "at most all"
