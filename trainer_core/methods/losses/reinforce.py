"""REINFORCE (Williams 1992)."""

from torch import Tensor

from trainer_core.methods.masked import masked_mean


def reinforce(
    logprobs: Tensor, old_logprobs: Tensor, advantages: Tensor, mask: Tensor
) -> tuple[Tensor, dict[str, Tensor]]:
    """``−A · log π``, shape [N]. Off-policy tokens are left to the corrections."""
    drift = masked_mean((old_logprobs - logprobs).detach(), mask)
    return -advantages * logprobs.masked_fill(~mask, 0.0), {"actor/ppo_kl": drift}
