"""Generalised advantage estimation (Schulman et al., arXiv 1506.02438) on packed sequences."""

import torch
from torch import Tensor


@torch.no_grad()
def gae(
    rewards: Tensor, values: Tensor, sequence: Tensor, gamma: float, lam: Tensor | float, after: Tensor | None = None
) -> Tensor:
    """``A_t = δ_t + γλ·A_{t+1}`` with ``δ_t = r_t + γ·V_{t+1} − V_t``; the value after the last token is ``after``.

    Args:
        rewards: [N], any floating type.
        values: value of the state before each token, [N].
        sequence: index of each token's trajectory, int64 [N]. The tokens of a sequence are contiguous and in order;
            forced tokens are left out, so t + 1 is the next sampled token.
        gamma: discount.
        lam: λ, or one for each token, [N].
        after: value of the state after each sequence's last token, in the order of the sequences, [S]: 0 if the episode
            ended, a bootstrap if it was cut (Pardo et al., arXiv 1712.00378, eq. 6). All 0 by default.

    Returns:
        float64 [N].
    """
    if not len(sequence):
        return rewards.double()
    _, lengths = sequence.unique_consecutive(return_counts=True)
    first = torch.cumsum(lengths, 0) - lengths
    row = torch.repeat_interleave(torch.arange(len(lengths), device=sequence.device), lengths)
    column = torch.arange(len(sequence), device=sequence.device) - first[row]

    def padded(tensor: Tensor) -> Tensor:
        # One column more than the longest sequence: its zeros follow the last token.
        shape = (len(lengths), int(lengths.max()) + 1)
        return tensor.new_zeros(shape, dtype=torch.float64).index_put((row, column), tensor.double())

    value = padded(values)
    decay = gamma * padded(lam if isinstance(lam, Tensor) else torch.full_like(values, lam, dtype=torch.float64))
    following = torch.cat([value[:, 1:], torch.zeros_like(value[:, :1])], 1)
    if after is not None:
        following[torch.arange(len(lengths), device=sequence.device), lengths - 1] = after.double()
    delta = padded(rewards) + gamma * following - value
    result = torch.zeros_like(delta)
    for t in range(delta.shape[1] - 2, -1, -1):
        result[:, t] = delta[:, t] + decay[:, t] * result[:, t + 1]
    return result[row, column]


def length_adaptive_lambda(alpha: float, sequence: Tensor) -> Tensor:
    """VAPO's λ of each token (arXiv 2504.05118, §4.2), ``max(0, 1 − 1/(αl))``: ``sequence`` [N] → float64 [N]."""
    _, index, lengths = sequence.unique(return_inverse=True, return_counts=True)
    return (1.0 - 1.0 / (alpha * lengths.double())).clamp(min=0.0)[index]
