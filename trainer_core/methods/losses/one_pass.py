"""PPO's and CISPO's loss with its metrics in one pass: on a GPU every separate operation costs a kernel launch."""

from torch import Tensor

from kernels.backend import Backend, uses_triton
from kernels.policy_loss import Method, policy_loss
from trainer_core.methods.view import TokenView

BACKEND: Backend = "auto"
"""Backend of the single pass. It gains nothing on a CPU, where ``auto`` leaves the loss to torch's own operations."""


def one_pass(
    method: Method, ratio_min: float, ratio_max: float, view: TokenView
) -> tuple[Tensor, dict[str, Tensor]] | None:
    """Loss of each token [N] and the metrics of ``ratio.edge_metrics``; None if separate operations compute them."""
    if view.log_shift is not None or (BACKEND == "auto" and not uses_triton(view.logprobs, BACKEND)):
        return None
    loss, found = policy_loss(
        view.logprobs,
        view.old_logprobs,
        view.behaviour_logprobs,
        view.advantages,
        view.mask,
        method=method,
        ratio_min=ratio_min,
        ratio_max=ratio_max,
        backend=BACKEND,
    )
    low, high = found["clip_low"], found["clip_high"]
    return loss, {
        "actor/pg_clipfrac": low + high,
        "actor/clip_high_share": high,
        "actor/clip_low_share": low,
        "actor/ppo_kl": found["k1"],
    }
