"""The device of a learner: which GPU a rank takes, and the way there through page-locked memory."""

import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.update import device, learner
from trainer_core.update.optimization.engine import UpdateEngine
from trainer_core.update.packed.packing import Packing, pack
from trainer_core.update.recording import as_trajectory

CARD = torch.device("cuda", 0)


@pytest.mark.parametrize(
    ("visible", "rank", "expected"),
    [(0, 3, 0), (1, 0, 0), (1, 3, 0), (8, 3, 3), (8, 11, 3)],
    ids=["no GPU", "alone", "Ray shows one", "a box of eight", "the second box"],
)
def test_a_rank_takes_a_gpu_that_its_process_sees(
    visible: int, rank: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[torch.device] = []
    monkeypatch.setattr(torch.cuda, "device_count", lambda: visible)
    monkeypatch.setattr(torch.cuda, "set_device", taken.append)
    assert device.local_rank(rank) == expected
    assert device.claim("cuda", rank) == torch.device("cuda", expected)
    assert device.claim("cuda:5", rank) == torch.device("cuda", 5)
    assert taken == [torch.device("cuda", expected), torch.device("cuda", 5)]
    assert device.claim("cpu", rank) == torch.device("cpu") and len(taken) == 2


class Calls:
    """Tells how tensors of the host are asked to travel, and leaves them where they are."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pinned: list[int] = []
        self.moved: list[tuple[int, bool]] = []
        monkeypatch.setattr(Tensor, "pin_memory", lambda tensor: self._pin(tensor))
        monkeypatch.setattr(Tensor, "to", lambda tensor, *_, non_blocking=False: self._to(tensor, non_blocking))

    def _pin(self, tensor: Tensor) -> Tensor:
        self.pinned.append(tensor.data_ptr())
        return tensor

    def _to(self, tensor: Tensor, non_blocking: bool) -> Tensor:
        self.moved.append((tensor.data_ptr(), non_blocking))
        return tensor


def test_a_batch_reaches_a_gpu_through_page_locked_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    [batch] = pack([as_trajectory([1, 2, 3, 4])], Packing(64))
    calls = Calls(monkeypatch)
    batch.to(CARD)
    # What has no bytes is moved too; nothing waits, and nothing goes by another way.
    assert len(calls.moved) == len(calls.pinned) >= 15
    assert all(without_wait for _, without_wait in calls.moved)
    assert sorted(calls.pinned) == sorted(place for place, _ in calls.moved)


def test_a_batch_stays_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    [batch] = pack([as_trajectory([1, 2, 3, 4])], Packing(64))
    calls = Calls(monkeypatch)
    assert batch.to(torch.device("cpu")) is batch
    assert calls.pinned == calls.moved == []


def test_a_clock_waits_for_a_gpu_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[torch.device] = []
    monkeypatch.setattr(torch.cuda, "synchronize", waited.append)
    device.settle(torch.device("cpu"))
    assert waited == []
    device.settle(CARD)
    assert waited == [CARD]


def test_a_copy_of_the_host_comes_back_as_it_was() -> None:
    tensor = torch.arange(6.0).view(2, 3).T
    copy = device.host_copy(tensor, pinned=False)
    assert torch.equal(copy, tensor) and copy.data_ptr() != tensor.data_ptr()
    assert torch.equal(device.move(copy, torch.device("cpu")), tensor)


def test_a_step_tells_what_it_took_of_a_gpus_memory(policy_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec, name = make_spec(), "perf/learner_memory_max"
    own = learner.Learner(policy_dir, spec)
    assert name not in own.update(make_groups(1), spec, 1), "a host has other ways to tell"
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda place: 3 << 29)
    forgotten: list[torch.device] = []
    monkeypatch.setattr(torch.cuda, "reset_peak_memory_stats", forgotten.append)
    monkeypatch.setattr(learner, "take_peak", lambda _: device.take_peak(CARD))
    assert own.update(make_groups(2), spec, 2)[name] == 1.5
    assert forgotten == [CARD]
    # The ranks of a context group hold different tokens: the fullest may be none whose other figures are told.
    monkeypatch.setattr(learner, "gather_values_from_ranks", lambda own: [own, 5 << 29, None])
    assert own.update(make_groups(3), spec, 3)[name] == 2.5


class OnCard:
    """A copy of an offloaded moment on a card, as DeepSpeed gives it out."""

    def __init__(self, values: torch.Tensor, held: weakref.WeakSet["OnCard"]) -> None:
        self.values, self.held = values, held
        held.add(self)

    def flatten(self) -> "OnCard":
        return OnCard(self.values.flatten(), self.held)

    def __getitem__(self, part: slice) -> "OnCard":
        return OnCard(self.values[part], self.held)

    def cpu(self) -> torch.Tensor:
        return self.values


def test_offloaded_moments_do_not_stand_on_the_card_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    held: weakref.WeakSet[OnCard] = weakref.WeakSet()
    seen: list[int] = []

    def give(parameter: Any, key: str) -> OnCard:
        seen.append(len(held))
        return OnCard(torch.arange(4.0).view(2, 2) + len(key), held)

    monkeypatch.setattr("deepspeed.utils.safe_get_local_optimizer_state", give)
    monkeypatch.setattr(dist, "get_rank", lambda: 1)
    weight = SimpleNamespace(ds_tensor=torch.zeros(4), ds_numel=7)
    engine: Any = SimpleNamespace(_trained=lambda: [("a", weight), ("b", weight)], _offloads=True)
    found = UpdateEngine.moment_parts(engine)
    assert {name: part.tolist() for name, part in found.items()} == {
        "exp_avg.a": [7.0, 8.0, 9.0],
        "exp_avg.b": [7.0, 8.0, 9.0],
        "exp_avg_sq.a": [10.0, 11.0, 12.0],
        "exp_avg_sq.b": [10.0, 11.0, 12.0],
    }
    assert seen == [0, 1, 1, 1], "the one before at most"
