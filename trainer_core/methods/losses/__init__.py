"""Policy losses: one value per token, before corrections and aggregation."""

from torch import Tensor

from trainer_core.methods.losses.cispo import cispo
from trainer_core.methods.losses.decoupled_ppo import decoupled_ppo
from trainer_core.methods.losses.dppo import dppo
from trainer_core.methods.losses.gspo import gspo
from trainer_core.methods.losses.kl_penalised import kl_penalised
from trainer_core.methods.losses.minpro import minpro
from trainer_core.methods.losses.ppo_clip import ppo_clip
from trainer_core.methods.losses.reinforce import reinforce
from trainer_core.methods.losses.sapo import sapo
from trainer_core.methods.losses.sequence_mask import sequence_mask
from trainer_core.methods.losses.vespo import vespo
from trainer_core.methods.view import TokenView
from trainer_core.spec.methods.loss import (
    CISPOLoss,
    DecoupledPPOLoss,
    DPPOLoss,
    GSPOLoss,
    KLPenalisedLoss,
    Loss,
    MinPROLoss,
    PPOClipLoss,
    ReinforceLoss,
    SAPOLoss,
    SequenceMaskLoss,
    VESPOLoss,
)


def token_loss(spec: Loss, view: TokenView) -> tuple[Tensor, dict[str, Tensor]]:
    """Loss of each token [N] with its metrics (means over the mask, 0-dim, without gradient)."""
    match spec:
        case PPOClipLoss():
            return ppo_clip(spec, view)
        case ReinforceLoss():
            return reinforce(view)
        case CISPOLoss():
            return cispo(spec, view)
        case GSPOLoss():
            return gspo(spec, view)
        case SAPOLoss():
            return sapo(spec, view)
        case DPPOLoss():
            return dppo(spec, view)
        case DecoupledPPOLoss():
            return decoupled_ppo(spec, view)
        case MinPROLoss():
            return minpro(spec, view)
        case VESPOLoss():
            return vespo(spec, view)
        case SequenceMaskLoss():
            return sequence_mask(spec, view)
        case KLPenalisedLoss():
            return kl_penalised(spec, view)
