"""SCOPE: right samples teach themselves, the teacher corrects wrong ones (arXiv 2604.10688)."""

import math
from collections.abc import Sequence

from torch import Tensor

from trainer_core.methods.losses.ratio import bounded_ratio
from trainer_core.spec.methods.distillation import ScopeWeighting


def scope_weights(
    spec: ScopeWeighting, right: Sequence[bool], student: Sequence[float], teacher: Sequence[float]
) -> list[float]:
    """Weights of the samples of one prompt, [S]; those of right samples sum to 1, and those of wrong ones (eq. 4, 5).

    Right samples weigh ``∝ PPL_student^(1/τ)``: the less likely they were under the policy, the more they teach. Wrong
    ones weigh ``∝ PPL_teacher^(−1/τ)``: a teacher that is lost after a wrong beginning is not followed.

    Args:
        spec: the temperature τ.
        right: whether each sample's answer is right, [S].
        student: mean log-probability per token under the policy before the step, [S].
        teacher: the same under the teacher, [S].
    """
    logits = [
        (-own if ok else theirs) / spec.temperature for ok, own, theirs in zip(right, student, teacher, strict=True)
    ]
    result = [0.0] * len(logits)
    for kind in (True, False):
        members = [index for index, ok in enumerate(right) if ok is kind]
        highest = max((logits[index] for index in members), default=0.0)
        powers = {index: math.exp(logits[index] - highest) for index in members}
        total = math.fsum(powers.values())
        for index in members:
            result[index] = powers[index] / total
    return result


def scope_values(logprobs: Tensor, old_logprobs: Tensor, teacher_logprobs: Tensor, right: Tensor) -> Tensor:
    """Loss of each token before its sample's weight, [N] (eq. 2, 3), with ``ρ = π_θ / π_old``.

    ``−ρ`` for right samples, ``ρ · sg(log π_θ − log π_teacher)`` for wrong ones.

    Args:
        logprobs: current policy, [N], with gradient.
        old_logprobs: the policy before the step, [N].
        teacher_logprobs: the teacher, [N].
        right: whether the token's sample is right, bool [N].
    """
    ratio = bounded_ratio(logprobs - old_logprobs.detach())
    distance = (logprobs - teacher_logprobs).detach()
    return ratio * distance.masked_fill(right, -1.0)
