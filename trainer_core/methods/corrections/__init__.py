"""Corrections: weights for tokens that another policy than the learner's has sampled."""

from torch import Tensor

from trainer_core.methods.corrections.truncated_is import truncated_is
from trainer_core.spec.corrections import Correction


def token_weights(
    spec: Correction, old_logprobs: Tensor, behaviour_logprobs: Tensor, mask: Tensor, sequence: Tensor
) -> tuple[Tensor, dict[str, Tensor]]:
    """Weight of each token [N], without gradient, with its metrics.

    Args:
        spec: which correction.
        old_logprobs: the learner's before the step's first update [N].
        behaviour_logprobs: those of the policy that sampled [N].
        mask: tokens that count [N].
        sequence: index of each token's trajectory [N], int64.
    """
    return truncated_is(spec, old_logprobs, behaviour_logprobs, mask, sequence)
