"""VinePPO advantage (arXiv 2410.01679): Monte-Carlo values at chosen tokens instead of a critic's."""

import torch
from torch import Tensor


def vine(state_values: Tensor, starts: Tensor, length: int, reward: float) -> Tensor:
    """The advantage of each token: how much its step raised the chance of success.

    ``A_t = V(s_{k+1}) − V(s_k)`` for the tokens of step k; the value after the last step is the reward itself.

    Args:
        state_values: mean reward of the branches from the beginning of each step, shape [steps].
        starts: first token of each step, shape [steps]: starts with 0, ascending.
        length: completion tokens, T.
        reward: the reward of the whole completion.

    Returns:
        Shape [T]; the steps' advantages sum to ``reward − V(s_0)``.

    Raises:
        ValueError: the starts do not split the completion into steps.
    """
    rising = bool((starts.diff() > 0).all())
    if len(starts) != len(state_values) or len(starts) == 0 or starts[0] != 0 or starts[-1] >= length or not rising:
        raise ValueError(f"{starts.tolist()} do not split {length} tokens into steps")
    after = torch.cat([state_values[1:], state_values.new_tensor([reward])])
    sizes = torch.cat([starts[1:], starts.new_tensor([length])]) - starts
    return (after - state_values).repeat_interleave(sizes)
