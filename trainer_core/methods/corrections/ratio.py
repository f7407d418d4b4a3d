"""The raw importance ratio between the learner before the step and the policy that sampled."""

from torch import Tensor

from trainer_core.methods.masked import masked_mean
from trainer_core.methods.ragged import sequence_sum
from trainer_core.methods.view import TokenView
from trainer_core.spec.methods.corrections import Level


def raw_ratio(level: Level, view: TokenView) -> Tensor:
    """``π_old / π_behaviour`` of each token, or its sequence's product of them: [N], 1 outside the mask."""
    log_ratio = view.log_mismatch
    if level == "sequence":
        log_ratio = sequence_sum(log_ratio, view.sequence).masked_fill(~view.mask, 0.0)
    # Bounded only against overflow; the bound is beyond any that a spec accepts.
    return log_ratio.clamp(max=20.0).exp()


def masked_share(left_out: Tensor, view: TokenView) -> dict[str, Tensor]:
    """Metric: share of tokens that a mask leaves out, ``left_out`` bool [N]."""
    found = masked_mean(left_out.to(view.advantages.dtype), view.mask)
    return {"rollout_corr/rollout_is_masked_share": found}
