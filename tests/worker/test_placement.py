"""Where models go: a GPU each, shares of one, a CPU, or a refusal."""

import pytest
import ray
import torch

from worker.cluster import placement
from worker.cluster.actors import actor_options
from worker.cluster.placement import Placement, check_one_node, place, usable_gpus
from worker.errors import ClusterError


@pytest.mark.parametrize(
    ("engines", "ranks", "gpus", "expected"),
    [
        (1, 1, 0.0, Placement()),
        (1, 1, 3.0, Placement("cuda", 1.0, 1.0)),
        (1, 1, 2.0, Placement("cuda", 0.5, 0.5)),
        (1, 1, 1.0, Placement("cuda", 1 / 3, 1 / 3)),
        (1, 0, 1.0, Placement("cuda", 0.5, 0.5)),
        (3, 4, 8.0, Placement("cuda", 1.0, 1.0)),
        (3, 4, 7.0, Placement("cuda", 1.0, 0.0)),
    ],
)
def test_reward_models_count_as_one_model_of_the_run(
    engines: int, ranks: int, gpus: float, expected: Placement
) -> None:
    assert place(engines, ranks, gpus, scoring=True) == expected


@pytest.mark.parametrize(
    ("engines", "ranks", "gpus", "expected"),
    [
        (1, 1, 0.0, Placement()),
        (4, 8, 0.0, Placement()),
        (1, 1, 2.0, Placement("cuda", 1.0)),
        (3, 4, 8.0, Placement("cuda", 1.0)),
        (1, 1, 1.0, Placement("cuda", 0.5)),
        (2, 1, 2.0, Placement("cuda", 0.5)),
        (3, 1, 1.0, Placement("cuda", 0.25)),
        (1, 0, 1.0, Placement("cuda", 1.0)),
    ],
)
def test_models_share_only_where_they_must(engines: int, ranks: int, gpus: float, expected: Placement) -> None:
    assert place(engines, ranks, gpus) == expected


def test_ranks_of_a_learner_cannot_share() -> None:
    with pytest.raises(
        ClusterError, match=r"needs 3 GPUs, one for each learner rank \(2\) and engine \(1\); the cluster has 2"
    ):
        place(1, 2, 2.0)


@pytest.mark.parametrize(
    ("resources", "built", "expected"),
    [({"CPU": 2.0}, True, 0.0), ({"GPU": 8.0}, True, 8.0), ({"GPU": 8.0}, False, 0.0)],
)
def test_gpus_count_where_the_installation_can_use_them(
    monkeypatch: pytest.MonkeyPatch, resources: dict[str, float], built: bool, expected: float
) -> None:
    monkeypatch.setattr(ray, "cluster_resources", lambda: resources)
    monkeypatch.setattr(placement, "built_for_gpus", lambda: built)
    assert usable_gpus() == expected


def test_what_this_installation_was_built_for() -> None:
    assert placement.built_for_gpus() == torch.backends.cuda.is_built()


def test_an_actor_reserves_what_it_is_given() -> None:
    assert actor_options("a", 1.0, 0.5)["num_gpus"] == 0.5
    assert actor_options("a", 1.0)["num_gpus"] == 0.0


@pytest.mark.parametrize(
    ("gpus", "scoring", "expected"),
    [
        (0.0, False, Placement()),
        (9.0, False, Placement("cuda", 1.0)),
        (10.0, True, Placement("cuda", 1.0, 1.0)),
        (9.0, True, Placement("cuda", 1.0, 0.0)),
    ],
)
def test_each_device_of_a_wide_engine_has_a_gpu_of_its_own(gpus: float, scoring: bool, expected: Placement) -> None:
    assert place(2, 1, gpus, scoring=scoring, wide=2, each=4) == expected


def test_wide_engines_never_share() -> None:
    with pytest.raises(
        ClusterError,
        match=r"needs 9 GPUs: 4 for each of 2 engines .* one for each of 1 other models; .* has 8\. Engines",
    ):
        place(2, 1, 8.0, wide=2, each=4)


def test_an_engine_that_no_node_holds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [{"Alive": True, "Resources": {"CPU": 3.0, "GPU": 4.0}}] * 2
    monkeypatch.setattr(ray, "nodes", lambda: [*nodes, {"Alive": False, "Resources": {"CPU": 64.0, "GPU": 8.0}}])
    check_one_node(4, 1.0, Placement("cuda", 1.0))
    check_one_node(3, 1.0, Placement())
    check_one_node(1, 64.0, Placement())
    with pytest.raises(ClusterError, match=r"needs 8 GPUs on one node .*; the largest node of the cluster has 4\."):
        check_one_node(8, 1.0, Placement("cuda", 1.0))
    with pytest.raises(ClusterError, match=r"needs 4 CPUs on one node .*; the largest node of the cluster has 3\."):
        check_one_node(4, 1.0, Placement())
