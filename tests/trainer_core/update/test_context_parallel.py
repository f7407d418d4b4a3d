"""Ranks that share out the tokens of their micro-batches find what one rank finds. Four processes over gloo."""

import multiprocessing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.trainer_core.update import context_ranks
from tests.trainer_core.update.context_ranks import POLICIES, RANKS, ROUNDED, UPDATES, learned, make_policy, spec_of
from trainer_core.update.learner import Learner

pytestmark = pytest.mark.expensive(
    4, "its share of four processes over gloo", about=("trainer_core/update", "worker/learner", "kernels")
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("policies")
    return {name: make_policy(place / name.replace(" ", "-"), sizes) for name, sizes in POLICIES.items()}


@pytest.fixture(scope="module")
def told(folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What each rank has found. The libraries are loaded once: ranks are forks of a process that has them."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([context_ranks.__name__, "deepspeed"])
    answers = context.Queue()
    meeting = str(tmp_path_factory.mktemp("ranks") / "meeting")
    ranks = [
        context.Process(target=context_ranks.run, args=(rank, meeting, folders, answers), daemon=True)
        for rank in range(RANKS)
    ]
    try:
        for process in ranks:
            process.start()
        found: dict[int, Any] = {}
        while len(found) < RANKS and not any(isinstance(one, str) for one in found.values()):
            rank, one = answers.get(timeout=240)
            found[rank] = one
    finally:
        for process in ranks:
            process.kill()
            process.join()
    assert [one for one in found.values() if isinstance(one, str)] == []
    return [found[rank] for rank in range(RANKS)]


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("name", POLICIES)
def test_loss_and_every_gradient_are_those_of_one_rank(told: list[dict[str, Any]], name: str, size: int) -> None:
    for one in told:
        found = one[f"{name}, {size}"]
        assert {"loss", "value_head.weight", "model.embed_tokens.weight"} <= found.keys()
        bound = 1e-6 if name in ROUNDED else 1e-9
        assert {key: distance for key, distance in found.items() if distance > bound} == {}


@pytest.mark.parametrize("name", UPDATES)
def test_two_steps_are_those_of_one_rank(told: list[dict[str, Any]], folders: dict[str, Path], name: str) -> None:
    policy = folders["mixture" if "mixture" in name else "grouped queries"]
    alone = learned(Learner(policy, spec_of(name, 1)), name, 1)
    weights = alone.pop("weights")
    for one in told:
        found = one[name]
        for ours, theirs in zip(found["metrics"], alone["metrics"], strict=True):
            assert ours == pytest.approx(theirs, rel=2e-4, abs=1e-6)
        assert found["metrics"] == told[0][name]["metrics"], "all ranks tell the same"
        for ours, theirs in zip(found["scores"], alone["scores"], strict=True):
            assert ours == pytest.approx(theirs, abs=1e-4)
        assert found["rescored"].keys() == alone["rescored"].keys()
        for key, kept in alone["rescored"].items():
            assert found["rescored"][key] == pytest.approx(kept, abs=1e-3)
    for step, expected in enumerate(alone["written"]):
        merged = {key: values for one in told for key, values in one[name]["written"][step].items()}
        assert merged.keys() == expected.keys()
        for key, values in expected.items():
            assert merged[key] == pytest.approx(values, abs=1e-4)
    for key, weight in weights.items():
        np.testing.assert_allclose(told[0][name]["weights"][key], weight, atol=2e-6)
