"""Corrections: weights for tokens that another policy than the learner's has sampled."""

from torch import Tensor

from trainer_core.methods.corrections.truncated_is import truncated_is
from trainer_core.methods.view import TokenView
from trainer_core.spec.corrections import Correction


def token_weights(spec: Correction, view: TokenView) -> tuple[Tensor, dict[str, Tensor]]:
    """Weight of each token [N], without gradient and 1 outside the mask, with its metrics."""
    return truncated_is(spec, view)
