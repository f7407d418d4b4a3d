"""The policy objective: one file of parameters for each loss."""

from typing import TYPE_CHECKING, TypeAlias

from trainer_core.spec.methods.kinds import LossModel
from trainer_core.spec.methods.loss.cispo import CISPOLoss
from trainer_core.spec.methods.loss.decoupled_ppo import DecoupledPPOLoss
from trainer_core.spec.methods.loss.dppo import DPPOLoss
from trainer_core.spec.methods.loss.gspo import GSPOLoss
from trainer_core.spec.methods.loss.kl_penalised import KLPenalisedLoss
from trainer_core.spec.methods.loss.minpro import MinPROLoss
from trainer_core.spec.methods.loss.ppo_clip import PPOClipLoss
from trainer_core.spec.methods.loss.reinforce import ReinforceLoss
from trainer_core.spec.methods.loss.sapo import SAPOLoss
from trainer_core.spec.methods.loss.sequence_mask import SequenceMaskLoss
from trainer_core.spec.methods.loss.top_k_smoothing import TopKSmoothing
from trainer_core.spec.methods.loss.vespo import VESPOLoss
from trainer_core.spec.plugins import members, one_of

__all__ = [
    "LOSSES",
    "CISPOLoss",
    "DPPOLoss",
    "DecoupledPPOLoss",
    "GSPOLoss",
    "KLPenalisedLoss",
    "Loss",
    "MinPROLoss",
    "PPOClipLoss",
    "ReinforceLoss",
    "SAPOLoss",
    "SequenceMaskLoss",
    "TopKSmoothing",
    "VESPOLoss",
]

LOSSES = members(
    "dressage.losses",
    LossModel,
    (
        PPOClipLoss,
        ReinforceLoss,
        CISPOLoss,
        GSPOLoss,
        SAPOLoss,
        DPPOLoss,
        DecoupledPPOLoss,
        MinPROLoss,
        VESPOLoss,
        SequenceMaskLoss,
        KLPenalisedLoss,
    ),
)
"""Every loss that a spec may choose; the formula of each stands in the table of ``trainer_core.methods.losses``."""

if TYPE_CHECKING:
    Loss: TypeAlias = LossModel
else:
    Loss = one_of("dressage.losses", LOSSES)
