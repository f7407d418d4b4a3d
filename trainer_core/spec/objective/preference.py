"""Preference training: the policy learns to prefer the better of two completions of a prompt."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from trainer_core.spec.base import Advice, SpecModel, field, method_doc

WATCH = ("preference/accuracy", "preference/margin", "preference/chosen_logprob", "actor/grad_norm")
"""Metrics for every preference loss."""
_BETTER = "The rows say which of two answers is better, and no rule can."


class DPO(SpecModel):
    """Direct preference optimization."""

    model_config = method_doc(
        "DPO",
        "L = −(1 − ε) · log σ(β · h) − ε · log σ(−β · h), h = log π_θ(y_w)/π_ref(y_w) − log π_θ(y_l)/π_ref(y_l)",
        "DPO (arXiv 2305.18290), eq. 7; ε: conservative DPO (Mitchell, 2023)",
    )
    advice: ClassVar[Advice] = Advice(_BETTER, WATCH)
    type: Literal["dpo"] = "dpo"
    beta: float = field(0.1, gt=0.0, le=100.0, steer="optimizer_step")
    """Strength of the pull to the reference policy."""
    label_smoothing: float = field(0.0, ge=0.0, lt=0.5, steer="optimizer_step")
    """Probability ε that the labels of a pair are the wrong way round."""


class IPO(SpecModel):
    """Identity preference optimization: the margin is pulled to a target and not beyond."""

    model_config = method_doc(
        "IPO",
        "L = (h − 1/(2τ))², h = log π_θ(y_w)/π_ref(y_w)/|y_w| − log π_θ(y_l)/π_ref(y_l)/|y_l|",
        "IPO (arXiv 2310.12036), eq. 17; per token as TRL averages it",
    )
    advice: ClassVar[Advice] = Advice(f"{_BETTER} DPO overfits because its labels are certain.", WATCH)
    type: Literal["ipo"] = "ipo"
    beta: float = field(0.1, gt=0.0, le=100.0, steer="optimizer_step")
    """Regularisation τ."""


class SimPO(SpecModel):
    """Simple preference optimization: mean log-probabilities and a margin, without a reference policy."""

    model_config = method_doc(
        "SimPO",
        "L = −log σ(β · (log π_θ(y_w)/|y_w| − log π_θ(y_l)/|y_l|) − γ)",
        "SimPO (arXiv 2405.14734), eq. 6",
    )
    advice: ClassVar[Advice] = Advice(f"{_BETTER} The memory has no room for a reference policy.", WATCH)
    type: Literal["simpo"] = "simpo"
    beta: float = field(2.0, gt=0.0, le=100.0, steer="optimizer_step")
    """Scale of the reward."""
    margin: float = field(1.0, ge=0.0, le=100.0, steer="optimizer_step")
    """Target margin γ."""


class ORPO(SpecModel):
    """Odds ratio preference optimization: supervised training on the better answer with a penalty on the other."""

    model_config = method_doc(
        "ORPO",
        "L = −log π_θ(y_w)/|y_w| − λ · log σ(log odds(y_w) − log odds(y_l)), odds(y) = p/(1 − p), "
        "p = exp(log π_θ(y)/|y|)",
        "ORPO (arXiv 2403.07691), eq. 6 to 8",
    )
    advice: ClassVar[Advice] = Advice(f"{_BETTER} One stage should do the work of supervised training and DPO.", WATCH)
    type: Literal["orpo"] = "orpo"
    weight: float = field(0.1, gt=0.0, le=100.0, steer="optimizer_step")
    """Weight λ of the odds ratio."""


PreferenceLoss = Annotated[DPO | IPO | SimPO | ORPO, Field(discriminator="type")]


class Preference(SpecModel):
    """The policy learns to prefer the better of two completions of a prompt. ``prompts_per_step`` counts pairs."""

    type: Literal["preference"] = "preference"
    loss: PreferenceLoss = DPO()
    """How a pair becomes a loss."""
    chosen: str = field("chosen", min_length=1, max_length=200)
    """Column of the better completion, as text."""
    rejected: str = field("rejected", min_length=1, max_length=200)
    """Column of the worse completion, as text."""
    sft_coefficient: float = field(0.0, ge=0.0, le=100.0, steer="optimizer_step")
    """Weight of the mean negative log-likelihood of the better completion's tokens, which keeps it likely (RPO, arXiv
    2404.19733, eq. 1). 0: none."""
    max_tokens: int = field(2048, ge=8, le=10_000_000, unit="tokens")
    """Most tokens of a prompt with one of its completions."""
    overlong: Literal["refuse", "drop"] = "refuse"
    """Pairs of which one is longer: the run does not start and names them, or they are left out."""

    @property
    def has_reference(self) -> bool:
        """Whether the loss compares with the policy that the run starts from."""
        return isinstance(self.loss, DPO | IPO)
