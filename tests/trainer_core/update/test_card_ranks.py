"""Ranks on GPUs: their group refuses tensors of the host where a card's are meant, and every collective call gets by.

Two processes meet as they would on GPUs. In place of NCCL stands a backend that serves a card's tensors alone.
"""

import multiprocessing
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from tests.trainer_core.update import card_ranks
from trainer_core.update import collectives

RANKS = pytest.mark.expensive(
    8, "a third of two processes that load the libraries", about=("trainer_core/update", "worker/learner", "kernels")
)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the checkpoint that the ranks write."""
    return tmp_path_factory.mktemp("ranks") / "checkpoint"


@pytest.fixture(scope="module")
def outcomes(policy_dir: Path, saved: Path) -> list[dict[str, Any]]:
    """Outcome of each rank."""
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    meeting = str(saved.with_name("meeting"))
    ranks = [
        context.Process(target=card_ranks.run, args=(rank, meeting, str(policy_dir), str(saved), answers), daemon=True)
        for rank in range(2)
    ]
    try:
        for process in ranks:
            process.start()
        found = dict(answers.get(timeout=240) for _ in ranks)
    finally:
        for process in ranks:
            process.kill()
            process.join()
    assert [one for one in found.values() if isinstance(one, str)] == []
    return [found[0], found[1]]


@RANKS
def test_the_stand_in_refuses_a_tensor_of_the_host(outcomes: list[dict[str, Any]]) -> None:
    for outcome in outcomes:
        assert "No backend type associated with device type cpu" in outcome["refused"]


@RANKS
def test_ranks_agree_on_values_of_the_host(outcomes: list[dict[str, Any]]) -> None:
    for rank, outcome in enumerate(outcomes):
        assert outcome["rank"] == rank
        assert outcome["largest"] == 11
        assert outcome["gathered"] == [{"rank": 0}, {"rank": 1}]
        assert outcome["tensors"] == [[0], [1]]
        assert outcome["sums"] == [3]
        assert outcome["totals"] == {"loss": 1.0}


@RANKS
def test_they_train_save_and_go_on(outcomes: list[dict[str, Any]], saved: Path) -> None:
    one, other = outcomes
    assert one["metrics"] == other["metrics"]
    assert {"actor/loss", "actor/ess_share", "critic/vf_loss"} <= one["metrics"].keys()
    assert (one["extra"], other["extra"]) == ({"kept": 1}, {"kept": 1})
    assert one["random"] and other["random"], "each rank's generator goes on where it was"
    assert load_file(saved / "training" / "random.safetensors").keys() == {"torch.0", "torch.1"}


@pytest.mark.parametrize(("device", "expected"), [("cpu", "gloo"), ("cuda", "cpu:gloo,cuda:nccl"), ("meta", "gloo")])
def test_backends(device: str, expected: str) -> None:
    assert collectives.backend(torch.device(device)) == expected


def test_several_ranks_need_a_place_to_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collectives.dist, "is_initialized", lambda: False)
    with pytest.raises(ValueError, match="2 ranks need an init_method"):
        collectives.join(0, 2, None, torch.device("cpu"))
