"""Advantages: one file of parameters for each method."""

from typing import TYPE_CHECKING, TypeAlias

from trainer_core.spec.methods.advantage.deviation import Deviation
from trainer_core.spec.methods.advantage.dr_grpo import DrGRPOAdvantage
from trainer_core.spec.methods.advantage.gdpo import GDPOAdvantage
from trainer_core.spec.methods.advantage.grpo import GRPOAdvantage
from trainer_core.spec.methods.advantage.magistral import MagistralAdvantage
from trainer_core.spec.methods.advantage.maxrl import MaxRLAdvantage
from trainer_core.spec.methods.advantage.mc_grpo import MCGRPOAdvantage
from trainer_core.spec.methods.advantage.opo import OPOAdvantage
from trainer_core.spec.methods.advantage.pass_k import PassKAdvantage
from trainer_core.spec.methods.advantage.reinforce import ReinforceAdvantage
from trainer_core.spec.methods.advantage.reinforce_pp import ReinforcePlusPlusAdvantage
from trainer_core.spec.methods.advantage.reinforce_pp_baseline import ReinforcePlusPlusBaselineAdvantage
from trainer_core.spec.methods.advantage.rloo import RLOOAdvantage
from trainer_core.spec.methods.advantage.vcpo import VCPOAdvantage
from trainer_core.spec.methods.branching import VineAdvantage
from trainer_core.spec.methods.critic import GAEAdvantage
from trainer_core.spec.methods.kinds import AdvantageModel, Compared, GroupAdvantage
from trainer_core.spec.plugins import members, one_of

__all__ = [
    "ADVANTAGES",
    "Advantage",
    "Compared",
    "Deviation",
    "DrGRPOAdvantage",
    "GDPOAdvantage",
    "GRPOAdvantage",
    "GroupAdvantage",
    "MCGRPOAdvantage",
    "MagistralAdvantage",
    "MaxRLAdvantage",
    "OPOAdvantage",
    "PassKAdvantage",
    "RLOOAdvantage",
    "ReinforceAdvantage",
    "ReinforcePlusPlusAdvantage",
    "ReinforcePlusPlusBaselineAdvantage",
    "VCPOAdvantage",
]

ADVANTAGES = members(
    "dressage.advantages",
    AdvantageModel,
    (
        GRPOAdvantage,
        DrGRPOAdvantage,
        ReinforceAdvantage,
        RLOOAdvantage,
        ReinforcePlusPlusAdvantage,
        ReinforcePlusPlusBaselineAdvantage,
        MCGRPOAdvantage,
        GDPOAdvantage,
        MaxRLAdvantage,
        OPOAdvantage,
        PassKAdvantage,
        MagistralAdvantage,
        VCPOAdvantage,
        GAEAdvantage,
        VineAdvantage,
    ),
)
"""Every advantage that a spec may choose; the formulas stand in the table of ``trainer_core.methods.advantages``."""

if TYPE_CHECKING:
    Advantage: TypeAlias = AdvantageModel
else:
    Advantage = one_of("dressage.advantages", ADVANTAGES)
