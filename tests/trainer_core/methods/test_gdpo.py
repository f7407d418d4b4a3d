"""GDPO: reward parts are standardised apart, so that they neither collapse nor drown one another."""

import numpy as np
import pytest
import torch

from tests.trainer_core.batches import group, trajectory
from trainer_core.episodes import Group
from trainer_core.methods import advantages
from trainer_core.methods.advantages.assign import assign
from trainer_core.methods.advantages.inputs import Inputs
from trainer_core.spec.methods.advantage import GDPOAdvantage, GRPOAdvantage


def parted(*parts: dict[str, float] | None) -> Group:
    """A group of trajectories with these reward parts, each with their sum as reward; None has failed."""
    return group([trajectory(None) if p is None else trajectory(sum(p.values()), reward_parts=p) for p in parts])


def found(batch: list[Group]) -> list[list[float]]:
    return [[t.advantage for t in group.trajectories] for group in batch]


def test_agrees_with_the_formula_on_ragged_groups() -> None:
    generator = np.random.default_rng(0)
    parts, mask = generator.normal(size=(9, 6, 3)), generator.random((9, 6)) < 0.7
    mask[:, :2] = True
    weights = np.array([1.0, 0.5, 2.0])
    summed = np.zeros((9, 6))
    for g in range(9):
        for k in range(3):
            counted = parts[g, mask[g], k]
            summed[g] += weights[k] * (parts[g, :, k] - counted.mean()) / (counted.std(ddof=1) + 1e-4)
    expected = (summed - summed[mask].mean()) / (summed[mask].std(ddof=1) + 1e-4)
    parts[~mask] = np.nan
    inputs = Inputs(parts=torch.from_numpy(parts), part_weights=torch.from_numpy(weights))
    rewards = torch.zeros(9, 6, dtype=torch.float64)
    result = advantages.compute(GDPOAdvantage(), rewards, torch.from_numpy(mask), inputs).numpy()
    np.testing.assert_allclose(result[mask], expected[mask], rtol=1e-10)
    assert (result[~mask] == 0).all()


def test_mixtures_that_a_sum_collapses_stay_apart() -> None:
    # Two samples of worth 1, made of different parts: right answers are rarer than the format here.
    batch = [
        parted({"a": 1, "f": 0}, {"a": 0, "f": 1}, {"a": 0, "f": 1}, {"a": 0, "f": 1}, {"a": 0, "f": 0}),
        parted({"a": 1, "f": 1}, {"a": 0, "f": 0}),
    ]
    assign(GRPOAdvantage(), batch)
    assert batch[0].trajectories[0].advantage == batch[0].trajectories[1].advantage
    assign(GDPOAdvantage(), batch)
    assert batch[0].trajectories[0].advantage > batch[0].trajectories[1].advantage + 0.25


def test_the_scale_of_a_part_does_not_matter_but_its_weight_does() -> None:
    def batch(scale: float) -> list[Group]:
        return [parted({"a": 1, "b": 0}, {"a": 0, "b": scale}, {"a": 0, "b": 0})]

    small, large = batch(1.0), batch(1000.0)
    for groups in (small, large):
        assign(GDPOAdvantage(epsilon=0.0), groups)
    assert found(small)[0] == pytest.approx(found(large)[0])
    heavier = batch(1.0)
    assign(GDPOAdvantage(weights={"b": 3.0}), heavier)
    first, second, _ = found(heavier)[0]
    assert second > first


def test_equal_sums_of_different_parts_carry_a_signal_and_equal_parts_do_not() -> None:
    batch = [parted({"a": 1, "b": 0}, {"a": 0, "b": 1}, {"a": 0, "b": 1}), parted({"a": 0.1, "b": 1})]
    assign(GDPOAdvantage(weights={"a": 2.0}), batch)
    assert found(batch)[0][0] > 0 > found(batch)[0][1]
    assert found(batch)[1] == [0.0]


def test_a_failed_reward_is_left_out_and_a_missing_part_refused() -> None:
    batch = [parted({"a": 1}, {"a": 0}, None)]
    assign(GDPOAdvantage(), batch)
    assert found(batch)[0][2] == 0.0 and batch[0].trajectories[2].excluded == "reward_error"
    with pytest.raises(ValueError, match="t has no reward part 'b'"):
        assign(GDPOAdvantage(), [parted({"a": 1, "b": 1}, {"a": 0})])
    with pytest.raises(ValueError, match="no part 'c'"):
        assign(GDPOAdvantage(weights={"c": 1.0}), [parted({"a": 1}, {"a": 0})])
    with pytest.raises(ValueError, match="no reward has parts"):
        assign(GDPOAdvantage(), [parted({}, {})])
    with pytest.raises(ValueError, match="needs the parts"):
        advantages.compute(GDPOAdvantage(), torch.zeros(1, 2), torch.ones(1, 2, dtype=torch.bool))


def test_a_part_that_is_not_for_a_groups_row_tells_nothing_there() -> None:
    both = [parted({"a": 1, "b": 0}, {"a": 0, "b": 0}), parted({"b": 1}, {"b": 0})]
    alone = [parted({"a": 1, "b": 0}, {"a": 0, "b": 0}), parted({"a": 0, "b": 1}, {"a": 0, "b": 0})]
    for groups in (both, alone):
        assign(GDPOAdvantage(), groups)
    assert found(both) == found(alone)


def test_shaping_that_did_not_concern_a_sample_has_taken_nothing_from_it() -> None:
    shaped = parted({"a": 1, "length_shaping": -1}, {"a": 1}, {"a": 0})
    assign(GDPOAdvantage(epsilon=0.0), [shaped])
    first, second, third = found([shaped])[0]
    assert second > first and second > third
