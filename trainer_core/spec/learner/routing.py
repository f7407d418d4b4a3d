"""Routing of a mixture of experts: how it sends tokens while it is trained."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from trainer_core.spec.base import Advice, SpecModel, field, method_doc


class NoBalancing(SpecModel):
    """Routers learn from the policy's loss alone."""

    type: Literal["none"] = "none"


class AuxiliaryLoss(SpecModel):
    """A loss that is smallest when all experts are used equally. Its gradient competes with that of the reward."""

    model_config = method_doc(
        "Auxiliary balancing loss",
        "α · mean over layers and completions, by tokens, of E · Σ_e f_e · P_e",
        "Switch Transformer (arXiv 2101.03961), eq. 4; by sequence: DeepSeek-V3 (arXiv 2412.19437), eq. 17–20",
    )
    advice: ClassVar[Advice] = Advice(
        "A mixture of experts without routing biases. Use the lowest α that keeps the experts in use.",
        ("moe/max_violation", "moe/idle_experts", "moe/aux_loss"),
    )
    type: Literal["auxiliary_loss"] = "auxiliary_loss"
    coefficient: float = field(1e-3, gt=0.0, le=1.0)
    """α. f_e is the share of choices that fell on expert e, P_e its mean probability, both in one completion: so
    splitting into micro-batches does not change the loss."""


class LossFreeBalancing(SpecModel):
    """Underused experts get a higher bias in the choice, and only there: gradients are not disturbed."""

    model_config = method_doc(
        "Auxiliary-loss-free balancing",
        "choice = top-K(s_e + b_e), b_e ← b_e + u · sign(mean load − load_e)",
        "DeepSeek-V3 (arXiv 2412.19437), §2.1.2; arXiv 2408.15664",
    )
    advice: ClassVar[Advice] = Advice(
        "The minimax and deepseek_v3 architectures: the reward's gradient is unchanged. Lower u when loads oscillate.",
        ("moe/max_violation", "moe/idle_experts", "moe/bias_spread"),
    )
    type: Literal["loss_free"] = "loss_free"
    update_rate: float = field(1e-3, gt=0.0, le=1.0)
    """u: how far a bias moves after each update, on the scale of routing probabilities."""


Balance = Annotated[NoBalancing | AuxiliaryLoss | LossFreeBalancing, Field(discriminator="type")]


class Routing(SpecModel):
    """Routing of tokens to experts. Only mixtures of experts have it; for others these settings are refused."""

    balance: Balance = NoBalancing()
    """What keeps the experts in use."""
    replay: bool = False
    """Route each token in the learner to the experts that the engine chose (R3, arXiv 2510.11370). The mixing weights
    stay the learner's, with their gradient. Needs an engine that returns its routes."""
