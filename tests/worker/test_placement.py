"""Where models go: a GPU each, shares of one, a CPU, or a refusal."""

import pytest
import ray
import torch

from worker.cluster import placement
from worker.cluster.actors import actor_options
from worker.cluster.placement import Placement, place, usable_gpus
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
