"""Advantages against numpy in float64 and against numbers worked out by hand."""

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.trainer_core.batches import group, rewarded, trajectory
from trainer_core.methods import advantages
from trainer_core.methods.advantages.assign import assign
from trainer_core.spec.methods.advantage import Advantage, DrGRPOAdvantage, GRPOAdvantage

SPECS: list[Advantage] = [GRPOAdvantage(std="sample"), GRPOAdvantage(std="population"), DrGRPOAdvantage()]


def rows(*groups: list[float]) -> tuple[Tensor, Tensor]:
    rewards = torch.tensor(groups, dtype=torch.float64)
    return rewards, torch.ones_like(rewards, dtype=torch.bool)


@pytest.mark.parametrize("spec", SPECS)
def test_agrees_with_numpy_on_ragged_groups(spec: Advantage) -> None:
    generator = np.random.default_rng(0)
    rewards, mask = generator.normal(size=(20, 7)), generator.random((20, 7)) < 0.7
    mask[:, :2] = True
    found = advantages.compute(spec, torch.from_numpy(rewards), torch.from_numpy(mask)).numpy()
    for row in range(20):
        counted = rewards[row][mask[row]]
        expected = counted - counted.mean()
        if isinstance(spec, GRPOAdvantage):
            expected /= counted.std(ddof=1 if spec.std == "sample" else 0) + spec.epsilon
        np.testing.assert_allclose(found[row][mask[row]], expected, rtol=1e-12)
        assert (found[row][~mask[row]] == 0.0).all()


def test_by_hand() -> None:
    # Mean 0.25; squared deviations 3 · 0.0625 + 0.5625 = 0.75; std 0.5 with n − 1 and √0.1875 with n.
    rewards, mask = rows([1.0, 0.0, 0.0, 0.0])
    exact = {"epsilon": 0.0}
    assert advantages.compute(GRPOAdvantage(std="sample", **exact), rewards, mask)[0].tolist() == [
        1.5,
        -0.5,
        -0.5,
        -0.5,
    ]
    population = advantages.compute(GRPOAdvantage(std="population", **exact), rewards, mask)[0]
    torch.testing.assert_close(population, torch.tensor([3.0, -1.0, -1.0, -1.0], dtype=torch.float64) / 3**0.5)
    assert advantages.compute(DrGRPOAdvantage(), rewards, mask)[0].tolist() == [0.75, -0.25, -0.25, -0.25]


@pytest.mark.parametrize("spec", [*SPECS, GRPOAdvantage(epsilon=0.0)])
def test_no_signal_is_exactly_zero(spec: Advantage) -> None:
    # 0.1 three times has a mean that is not 0.1; a group of one must not get its raw reward.
    rewards, mask = rows([0.1, 0.1, 0.1], [5.0, 7.0, 9.0], [1.0, 2.0, 3.0])
    mask[1] = torch.tensor([False, True, False])
    mask[2] = False
    assert advantages.compute(spec, rewards, mask).abs().max() == 0.0


@pytest.mark.parametrize("spec", SPECS)
def test_samples_outside_the_mask_may_be_anything(spec: Advantage) -> None:
    rewards, mask = rows([1.0, 0.0, float("nan")])
    mask[0, 2] = False
    alone, everyone = rows([1.0, 0.0])
    found = advantages.compute(spec, rewards, mask)[0]
    assert found.tolist() == [*advantages.compute(spec, alone, everyone)[0].tolist(), 0.0]


def test_assign_leaves_failed_rewards_out_of_the_mean() -> None:
    batch = [rewarded(1.0, None, 0.0), rewarded(3.0, 1.0)]
    assign(DrGRPOAdvantage(), batch)
    assert [[t.advantage for t in group.trajectories] for group in batch] == [[0.5, 0.0, -0.5], [1.0, -1.0]]
    assert [t.excluded for t in batch[0].trajectories] == [None, "reward_error", None]


def test_assign_counts_a_truncated_sample_in_the_mean() -> None:
    batch = [group([trajectory(1.0), trajectory(0.0, excluded="truncated")])]
    assign(DrGRPOAdvantage(), batch)
    assert [t.advantage for t in batch[0].trajectories] == [0.5, -0.5]
    assert batch[0].trajectories[1].excluded == "truncated"


def test_assign_obeys_an_exclusion_made_for_a_failed_reward() -> None:
    # A run may score failures as 0 for its charts and still leave them out.
    batch = [group([trajectory(1.0), trajectory(0.5), trajectory(0.0, excluded="reward_error")])]
    assign(DrGRPOAdvantage(), batch)
    assert [t.advantage for t in batch[0].trajectories] == [0.25, -0.25, 0.0]


@pytest.mark.parametrize("reward", [float("nan"), float("inf")])
def test_assign_refuses_a_reward_that_is_no_number(reward: float) -> None:
    batch = [rewarded(1.0, 0.0), rewarded(reward, 0.0)]
    with pytest.raises(ValueError, match="the reward of t is"):
        assign(GRPOAdvantage(), batch)
    assert all(t.advantage == 0.0 for t in batch[0].trajectories)


def test_assign_accepts_nothing() -> None:
    assign(GRPOAdvantage(), [])
    assign(GRPOAdvantage(), [group([])])
