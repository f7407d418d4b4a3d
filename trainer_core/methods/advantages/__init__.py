"""Advantages: from the rewards of groups to one number per sample."""

import torch
from torch import Tensor

from trainer_core.methods.advantages.dr_grpo import dr_grpo
from trainer_core.methods.advantages.gdpo import gdpo
from trainer_core.methods.advantages.group import has_signal
from trainer_core.methods.advantages.grpo import grpo
from trainer_core.methods.advantages.inputs import Inputs
from trainer_core.methods.advantages.magistral import magistral
from trainer_core.methods.advantages.maxrl import maxrl
from trainer_core.methods.advantages.mc_grpo import mc_grpo
from trainer_core.methods.advantages.opo import opo
from trainer_core.methods.advantages.pass_k import pass_k
from trainer_core.methods.advantages.reinforce import reinforce
from trainer_core.methods.advantages.reinforce_pp import reinforce_pp, reinforce_pp_baseline
from trainer_core.methods.advantages.rloo import rloo
from trainer_core.methods.advantages.vcpo import vcpo
from trainer_core.methods.advantages.whiten import whiten
from trainer_core.spec.methods.advantage import (
    Advantage,
    DrGRPOAdvantage,
    GDPOAdvantage,
    GroupAdvantage,
    GRPOAdvantage,
    MagistralAdvantage,
    MaxRLAdvantage,
    MCGRPOAdvantage,
    OPOAdvantage,
    PassKAdvantage,
    ReinforceAdvantage,
    ReinforcePlusPlusAdvantage,
    ReinforcePlusPlusBaselineAdvantage,
    RLOOAdvantage,
    VCPOAdvantage,
)
from trainer_core.spec.methods.branching import VineAdvantage
from trainer_core.spec.methods.critic import GAEAdvantage


def compute(spec: Advantage, rewards: Tensor, mask: Tensor, inputs: Inputs | None = None) -> Tensor:
    """Advantages [G, S] of ``rewards`` [G, S]; samples outside ``mask`` [G, S] do not count and get 0.

    Args:
        spec: the method.
        rewards: shape [groups, samples].
        mask: shape [groups, samples].
        inputs: what else a method may need; left out, every sample has length 1, weight 1 and one minibatch.

    Raises:
        ValueError: GDPO without reward parts.
    """
    given = inputs or Inputs()
    result = _compute(spec, rewards, mask, given)
    if isinstance(spec, GroupAdvantage) and spec.whiten == "batch":
        whitened = whiten(result, mask.to(result.dtype), "population", 1e-8)
        # What carries no signal must not get one from the mean of the others.
        signal = torch.ones_like(mask) if spec.compares == "batch" else has_signal(rewards, mask)
        result = whitened.masked_fill(~signal, 0.0)
    return result.masked_fill(~mask, 0.0)


def _compute(spec: Advantage, rewards: Tensor, mask: Tensor, given: Inputs) -> Tensor:
    ones = torch.ones_like(rewards)
    lengths = ones if given.lengths is None else given.lengths
    match spec:
        case GRPOAdvantage():
            return grpo(rewards, mask, spec.std, spec.epsilon)
        case DrGRPOAdvantage():
            return dr_grpo(rewards, mask)
        case ReinforceAdvantage():
            return reinforce(rewards, mask)
        case RLOOAdvantage():
            return rloo(rewards, mask)
        case ReinforcePlusPlusAdvantage():
            return reinforce_pp(spec, rewards, mask, lengths)
        case ReinforcePlusPlusBaselineAdvantage():
            return reinforce_pp_baseline(spec, rewards, mask, lengths)
        case MCGRPOAdvantage():
            return mc_grpo(spec, rewards, mask)
        case GDPOAdvantage():
            if given.parts is None or given.part_weights is None:
                raise ValueError("GDPO needs the parts of the rewards")
            return gdpo(spec, given.parts, given.part_weights, mask)
        case MaxRLAdvantage():
            return maxrl(rewards, mask)
        case OPOAdvantage():
            return opo(rewards, mask, lengths)
        case PassKAdvantage():
            return pass_k(spec, rewards, mask)
        case MagistralAdvantage():
            first = torch.zeros(len(rewards), dtype=torch.long) if given.minibatch is None else given.minibatch
            return magistral(spec, rewards, mask, first)
        case GAEAdvantage():
            # The critic's values are known in the learner alone, which gives each token its own; shown is the return.
            return rewards
        case VineAdvantage():
            # States are valued by branches, which give each token its own (``assign_vine``); shown is the reward.
            return rewards
        case VCPOAdvantage():
            return vcpo(spec, rewards, mask, lengths, ones if given.importance is None else given.importance)
