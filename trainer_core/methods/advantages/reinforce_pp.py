"""REINFORCE++ advantages (arXiv 2501.03262): standardised over the batch, with or without a group baseline."""

from torch import Tensor

from trainer_core.methods.advantages.group import centred_on_group
from trainer_core.methods.advantages.inputs import Inputs
from trainer_core.methods.advantages.whiten import whiten
from trainer_core.methods.ragged import suffix_sum
from trainer_core.spec.methods.advantage import ReinforcePlusPlusAdvantage, ReinforcePlusPlusBaselineAdvantage


def base(
    spec: ReinforcePlusPlusAdvantage | ReinforcePlusPlusBaselineAdvantage, rewards: Tensor, mask: Tensor
) -> Tensor:
    """Values that are standardised over the batch [G, S]: the rewards, minus their group's mean if that is the
    baseline."""
    return centred_on_group(rewards, mask) if isinstance(spec, ReinforcePlusPlusBaselineAdvantage) else rewards


def penalised_to_go(base: Tensor, penalties: Tensor, sequence: Tensor) -> Tensor:
    """``a_t = r − Σ_{i≥t} β·KL_i`` of each token, before it is standardised (arXiv 2501.03262, §3).

    Args:
        base: r of each token's completion, [N].
        penalties: β·KL of each token, [N].
        sequence: index of each token's completion, int64 [N]; its tokens are contiguous and in order.
    """
    return base - suffix_sum(penalties, sequence)


def reinforce_pp(spec: ReinforcePlusPlusAdvantage, rewards: Tensor, mask: Tensor, inputs: Inputs) -> Tensor:
    """``(r − mean_batch) / (std_batch + ε)``.

    Args:
        spec: weighting, deviation, ε.
        rewards: shape [groups, samples].
        mask: shape [groups, samples]; samples outside it are ignored.
        inputs: only the lengths are used.
    """
    lengths = inputs.lengths_like(rewards)
    return whiten(rewards, _weights(spec, mask, lengths).to(rewards.dtype), spec.std, spec.epsilon)


def reinforce_pp_baseline(
    spec: ReinforcePlusPlusBaselineAdvantage, rewards: Tensor, mask: Tensor, inputs: Inputs
) -> Tensor:
    """``(a − mean_batch) / (std_batch + ε)`` with ``a = r − mean_group``; arguments as in ``reinforce_pp``."""
    lengths = inputs.lengths_like(rewards)
    return whiten(base(spec, rewards, mask), _weights(spec, mask, lengths).to(rewards.dtype), spec.std, spec.epsilon)


def _weights(
    spec: ReinforcePlusPlusAdvantage | ReinforcePlusPlusBaselineAdvantage, mask: Tensor, lengths: Tensor
) -> Tensor:
    return mask * lengths if spec.weighting == "tokens" else mask
