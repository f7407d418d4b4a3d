"""Advantages: from the rewards of groups to one number per sample."""

from collections.abc import Callable
from typing import Any

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
from trainer_core.methods.table import Table
from trainer_core.spec.methods.advantage import (
    ADVANTAGES,
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


def _reward_itself(spec: Advantage, rewards: Tensor, mask: Tensor, inputs: Inputs) -> Tensor:
    """Reward itself, shown of an advantage that each token has of its own, made elsewhere.

    GAE's come from a critic's values, which the learner alone knows; VinePPO's from branches (``assign_vine``).
    """
    return rewards


FORMULAS: Table[Callable[[Any, Tensor, Tensor, Inputs], Tensor]] = Table(
    "advantage",
    ADVANTAGES,
    {
        GRPOAdvantage: grpo,
        DrGRPOAdvantage: dr_grpo,
        ReinforceAdvantage: reinforce,
        RLOOAdvantage: rloo,
        ReinforcePlusPlusAdvantage: reinforce_pp,
        ReinforcePlusPlusBaselineAdvantage: reinforce_pp_baseline,
        MCGRPOAdvantage: mc_grpo,
        GDPOAdvantage: gdpo,
        MaxRLAdvantage: maxrl,
        OPOAdvantage: opo,
        PassKAdvantage: pass_k,
        MagistralAdvantage: magistral,
        VCPOAdvantage: vcpo,
        GAEAdvantage: _reward_itself,
        VineAdvantage: _reward_itself,
    },
)
"""``(spec, rewards [G, S], mask [G, S], inputs) -> advantages [G, S]``; what lies outside the mask is set to 0 here."""


def compute(spec: Advantage, rewards: Tensor, mask: Tensor, inputs: Inputs | None = None) -> Tensor:
    """Advantages [G, S] of ``rewards`` [G, S]; samples outside ``mask`` [G, S] do not count and get 0.

    Args:
        spec: the method.
        rewards: shape [groups, samples].
        mask: shape [groups, samples].
        inputs: what else a method may need; left out, every sample has length 1, weight 1 and one minibatch.

    Raises:
        ValueError: the method needs an input that is not known: GDPO the parts of the rewards.
        PluginError: the method is of an installed package, and its formula cannot be loaded.
    """
    given = inputs or Inputs()
    result = FORMULAS.of(spec)(spec, rewards, mask, given)
    if isinstance(spec, GroupAdvantage) and spec.whiten == "batch":
        whitened = whiten(result, mask.to(result.dtype), "population", 1e-8)
        # What carries no signal must not get one from the mean of the others.
        signal = torch.ones_like(mask) if spec.compares == "batch" else has_signal(rewards, mask)
        result = whitened.masked_fill(~signal, 0.0)
    return result.masked_fill(~mask, 0.0)
