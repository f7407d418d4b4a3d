"""VinePPO: advantages from Monte-Carlo values."""

import pytest
import torch

from trainer_core.methods.advantages.vine import vine


def test_each_token_has_what_its_step_changed() -> None:
    # Three steps from 0.5: the first helps, the second spoils it, the last is saved by luck.
    values, starts = torch.tensor([0.5, 0.75, 0.25], dtype=torch.float64), torch.tensor([0, 2, 3])
    found = vine(values, starts, 6, reward=1.0)
    assert found.tolist() == [0.25, 0.25, -0.5, 0.75, 0.75, 0.75]
    assert found[starts].sum() == 1.0 - 0.5


def test_one_step_is_the_reward_above_the_value_of_the_prompt() -> None:
    found = vine(torch.tensor([0.25], dtype=torch.float64), torch.tensor([0]), 3, reward=0.0)
    assert found.tolist() == [-0.25] * 3


@pytest.mark.parametrize("starts", [[1, 2], [0, 0], [0, 4], [0], [0, 2, 1]])
def test_steps_that_do_not_cut_the_completion_are_refused(starts: list[int]) -> None:
    with pytest.raises(ValueError, match="do not split 4 tokens into steps"):
        vine(torch.zeros(2), torch.tensor(starts), 4, reward=1.0)
