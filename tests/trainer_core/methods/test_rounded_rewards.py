"""A sum of weights that misses a threshold by its rounding reaches it, wherever right answers are told apart."""

from pathlib import Path

import torch

from tests.trainer_core.batches import group, trajectory
from tests.trainer_core.specs import spec
from trainer_core.methods import filters
from trainer_core.methods.advantages.inputs import Inputs
from trainer_core.methods.advantages.pass_k import pass_k
from trainer_core.methods.filters import keep
from trainer_core.rewards.outcomes import succeeded
from trainer_core.spec.methods.advantage import PassKAdvantage
from trainer_core.spec.methods.filters import LengthOutliersFilter, MasteredTokensFilter, RecompositionFilter
from trainer_core.spec.methods.sft import PositiveExamples
from trainer_core.update.auxiliary.supervised import Supervisor

SUCCESS = 0.8
ROUNDED = 0.7 + 0.1


def test_the_sum_lies_below_its_threshold() -> None:
    assert ROUNDED < SUCCESS


def test_a_sample_succeeds() -> None:
    assert succeeded(trajectory(ROUNDED), SUCCESS)


def test_it_is_an_example(tmp_path: Path) -> None:
    one = trajectory(ROUNDED)
    shown = Supervisor(tmp_path).samples(PositiveExamples(success=SUCCESS), [group([one, trajectory(0.7)])], spec())
    assert len(shown) == 1 and shown[0].reward == ROUNDED


def test_it_is_right_in_a_set_of_k() -> None:
    rewards, mask = torch.tensor([[ROUNDED, 0.0, 0.0]], dtype=torch.float64), torch.ones(1, 3, dtype=torch.bool)
    right, *wrong = pass_k(PassKAdvantage(k=2, success=SUCCESS), rewards, mask, Inputs())[0].tolist()
    assert right > 0 > max(wrong)


def test_its_mastered_tokens_rest() -> None:
    chosen = MasteredTokensFilter(success=SUCCESS)
    zeros = torch.zeros(2, dtype=torch.float64)
    assert keep(chosen, zeros, zeros, torch.tensor([ROUNDED, 0.7], dtype=torch.float64)).tolist() == [False, True]


def test_it_may_be_an_outlier() -> None:
    batch = [group([*(trajectory(ROUNDED) for _ in range(11)), trajectory(ROUNDED, length=200)])]
    filters.prepare((LengthOutliersFilter(success=SUCCESS, deviations=2.0),), batch)
    assert batch[0].trajectories[-1].finish_reason == "length"


def test_it_is_recomposed_as_a_right_one() -> None:
    batch = [group([trajectory(ROUNDED, length=3), trajectory(ROUNDED, length=9)])]
    filters.apply((RecompositionFilter(success=SUCCESS),), batch)
    # Of right answers the shortest has priority, of wrong ones the longest.
    assert [t.excluded for t in batch[0].trajectories] == [None, "recomposed"]
