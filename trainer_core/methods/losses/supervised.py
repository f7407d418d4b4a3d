"""The supervised term: negative log-likelihood of given or chosen tokens."""

from torch import Tensor


def negative_log_likelihood(logprobs: Tensor, chosen: Tensor) -> Tensor:
    """``−log π_θ`` where ``chosen`` (bool) is true, else 0, both [N].

    Applied to the policy's own right answers, it is VAPO's positive-example term (arXiv 2504.05118).
    """
    return -logprobs.masked_fill(~chosen, 0.0)
