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
    """Returns the rewards, which are shown for methods whose advantages are per token and computed elsewhere.

    GAE's come from a critic's values, which only the learner has; VinePPO's come from branches (``assign_vine``).
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
"""``(spec, rewards [G, S], mask [G, S], inputs) -> advantages [G, S]``; entries outside the mask are set to 0 here."""


def compute(spec: Advantage, rewards: Tensor, mask: Tensor, inputs: Inputs | None = None) -> Tensor:
    """Advantages [G, S] of ``rewards`` [G, S]; samples outside ``mask`` [G, S] are ignored and get 0.

    Args:
        spec: the method.
        rewards: shape [groups, samples].
        mask: shape [groups, samples].
        inputs: other inputs of a method; by default every sample has length 1, weight 1 and one minibatch.

    Raises:
        ValueError: the method needs an unknown input, such as the reward parts for GDPO.
        PluginError: the method is from an installed package, and its formula cannot be loaded.
    """
    given = inputs or Inputs()
    result = FORMULAS.of(spec)(spec, rewards, mask, given)
    if isinstance(spec, GroupAdvantage) and spec.whiten == "batch":
        whitened = whiten(result, mask.to(result.dtype), "population", 1e-8)
        # Samples without signal must not get one from the mean of the others.
        signal = torch.ones_like(mask) if spec.compares == "batch" else has_signal(rewards, mask)
        result = whitened.masked_fill(~signal, 0.0)
    return result.masked_fill(~mask, 0.0)
