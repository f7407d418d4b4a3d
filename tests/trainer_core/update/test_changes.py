"""What has changed in weights, to the bit: found, applied, proved."""

from itertools import pairwise

import pytest
import torch
from torch import Tensor

from trainer_core.update.formats.changes import (
    GAPS,
    PLACES,
    STEPS,
    VALUES,
    Changed,
    apply,
    difference,
    digest,
    fault,
    touched,
)


def random_weights(seed: int, rows: int = 96) -> Tensor:
    return torch.randn(rows, 64, generator=torch.Generator().manual_seed(seed)).bfloat16()


def test_a_few_changes_travel_as_places_and_values() -> None:
    before, after = random_weights(0), random_weights(0)
    after[3, 5], after[95, 63], after[0, 0] = 7.0, -0.0, float(before[0, 0]) * 2
    found = difference("w", before, after)
    assert {name: one.dtype for name, one in found.items()} == {"w:places": torch.int32, "w:values": torch.bfloat16}
    assert found["w:places"].tolist() == [0, 3 * 64 + 5, 96 * 64 - 1]
    assert digest(before) != digest(after)
    apply(before, "w", found)
    assert digest(before) == digest(after)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("wider", [False, True], ids=["same type", "float32 in the engine"])
def test_small_moves_take_two_bytes_each_and_are_exact(dtype: torch.dtype, wider: bool) -> None:
    rng = torch.Generator().manual_seed(0)
    before = torch.randn(300, 1000, generator=rng).to(dtype)
    moved = torch.rand(before.shape, generator=rng) < 0.025
    moved[100:110] = False  # a stretch of 10,000 without any
    steps = torch.randint(1, 4, before.shape, generator=rng, dtype=torch.int16) * (1 - 2 * (before > 0).short())
    after = (before.view(torch.int16) + steps * moved.short()).view(dtype)
    after[0, 0], after[299, 999] = 7.0, 9.0
    found = difference("w", before, after)
    assert touched(found) == {"w"}
    sent = sum(one.numel() * one.element_size() for one in found.values())
    assert sent <= 1.02 * int(moved.sum()) * dtype.itemsize <= 0.03 * before.numel() * dtype.itemsize
    held = before.float() if wider else before.clone()
    assert fault(held, "w", found) is None
    apply(held, "w", found)
    assert digest(held.to(dtype)) == digest(after)


def test_moves_far_apart_travel_as_places() -> None:
    before = torch.randn(100, 1000, generator=torch.Generator().manual_seed(0)).bfloat16()
    after = before.clone()
    after.view(-1)[::5000] *= 1.0 + 2.0**-7
    assert list(difference("w", before, after)) == ["w:places", "w:values"]


def test_zero_and_minus_zero_differ() -> None:
    before, after = torch.zeros(64, 64, dtype=torch.bfloat16), torch.zeros(64, 64, dtype=torch.bfloat16)
    after[1, 1] = -0.0
    assert len(difference("w", before, after)["w:places"]) == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (random_weights(0), random_weights(1)),
        (random_weights(0, 4), random_weights(0, 4) * 2),
        (torch.zeros(96, 64), torch.ones(96, 64)),
    ],
    ids=["most have changed", "a small tensor", "float32"],
)
def test_where_places_are_not_less_the_tensor_travels_whole(before: Tensor, after: Tensor) -> None:
    found = difference("w", before, after)
    assert list(found) == ["w"]
    apply(before, "w", found)
    assert torch.equal(before, after)


def test_nothing_travels_where_nothing_has_changed() -> None:
    for weights in (random_weights(0), torch.ones(3)):
        assert difference("w", weights, weights.clone()) == {}


def test_a_chain_is_applied_in_its_order_and_leaves_its_base_alone() -> None:
    versions = [random_weights(0) for _ in range(3)]
    versions[1][0, :5] = 1.0
    versions[2][0, :3], versions[2][0, 3:5] = 2.0, 1.0
    chain = [difference("w", old, new) for old, new in pairwise(versions)]
    base = {"w": versions[0], "other": torch.ones(2)}
    found = Changed(base, chain)
    assert list(found) == ["w", "other"]
    assert torch.equal(found["w"], versions[2])
    assert found["other"] is base["other"]
    assert torch.equal(base["w"], random_weights(0))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"w": torch.ones(5)}, "w has 5 numbers, the model needs 6144"),
        ({"w" + PLACES: torch.tensor([6144]), "w" + VALUES: torch.ones(1)}, "outside its 6144 numbers"),
        ({"w" + PLACES: torch.tensor([-1]), "w" + VALUES: torch.ones(1)}, "outside its 6144 numbers"),
        (
            {
                "w" + PLACES: torch.zeros(0, dtype=torch.int32),
                "w" + VALUES: torch.zeros(0, dtype=torch.bfloat16),
                "w" + GAPS: torch.full((25,), 255, dtype=torch.uint8),
                "w" + STEPS: torch.ones(25, dtype=torch.int8),
            },
            "outside its 6144 numbers",
        ),
        ({"w" + PLACES: torch.tensor([0]), "w" + VALUES: torch.tensor([torch.nan])}, "w contains values that are not"),
    ],
)
def test_changes_that_do_not_fit_are_told(changes: dict[str, Tensor], sentence: str) -> None:
    assert touched(changes) == {"w"}
    reason = fault(random_weights(0), "w", changes)
    assert reason is not None and sentence in reason
