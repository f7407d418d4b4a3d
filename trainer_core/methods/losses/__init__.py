"""Policy losses: one value per token, before corrections and aggregation."""

from collections.abc import Callable
from typing import Any

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
from trainer_core.methods.table import Table
from trainer_core.methods.view import TokenView
from trainer_core.spec.methods.loss import (
    LOSSES,
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

FORMULAS: Table[Callable[[Any, TokenView], tuple[Tensor, dict[str, Tensor]]]] = Table(
    "loss",
    LOSSES,
    {
        PPOClipLoss: ppo_clip,
        ReinforceLoss: reinforce,
        CISPOLoss: cispo,
        GSPOLoss: gspo,
        SAPOLoss: sapo,
        DPPOLoss: dppo,
        DecoupledPPOLoss: decoupled_ppo,
        MinPROLoss: minpro,
        VESPOLoss: vespo,
        SequenceMaskLoss: sequence_mask,
        KLPenalisedLoss: kl_penalised,
    },
)
"""``(spec, view) -> (loss of each token [N], metrics)``; the metrics are means over the mask, 0-dim, without gradient.

The loss must be finite outside the mask, where the view holds zeros. Compute weights under ``torch.no_grad``.
"""


def token_loss(spec: Loss, view: TokenView) -> tuple[Tensor, dict[str, Tensor]]:
    """Loss of each token [N] with its metrics.

    Raises:
        PluginError: the loss is from an installed package, and its formula cannot be loaded.
    """
    return FORMULAS.of(spec)(spec, view)
