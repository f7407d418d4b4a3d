"""Entropy bonus: pay for a policy that has not made up its mind."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from trainer_core.spec.base import Advice, SpecModel, field, method_doc

_WATCHED = ("actor/entropy", "actor/entropy_weight", "critic/score/mean")


class NoEntropyBonus(SpecModel):
    """Entropy is only a metric."""

    type: Literal["none"] = "none"


class FixedEntropyBonus(SpecModel):
    """A bonus of constant weight on the entropy of the policy at every sampled token. It needs all logits."""

    model_config = method_doc(
        "Entropy bonus",
        "L ← L − α · H, H = −Σ_v p_v·log p_v of each sampled token at its temperature, averaged as the loss is",
        "Asynchronous Methods for Deep RL (arXiv 1602.01783), §4; PPO (arXiv 1707.06347), eq. 9",
    )
    advice: ClassVar[Advice] = Advice("Entropy collapses before rewards have grown.", _WATCHED)
    type: Literal["fixed"] = "fixed"
    coefficient: float = field(0.001, ge=0.0, le=100.0, steer="optimizer_step")
    """α: weight of the entropy; 0 turns the bonus off."""


class AdaptiveEntropyBonus(SpecModel):
    """A bonus that holds the entropy above a target: it acts only below it, and grows while it does not help. A
    constant weight that helps at one stage of a run makes the entropy explode at another.
    """

    model_config = method_doc(
        "Adaptive entropy bonus",
        "L ← L − α_k · H; α_k = c_k if e_k ≤ target, else 0; c_{k+1} = c_k + Δ if e_k < target, c_k − Δ if "
        "e_k > target, within [0, weight_max]; e_k: mean entropy over the sampled tokens of step k before its update",
        "Skywork Open Reasoner 1 (arXiv 2505.22312), adaptive entropy control",
    )
    advice: ClassVar[Advice] = Advice(
        "Entropy collapses, and no constant weight fits the whole run.",
        _WATCHED,
    )
    type: Literal["adaptive"] = "adaptive"
    target: float = field(0.2, gt=0.0, le=20.0, unit="nats", steer="optimizer_step")
    """Entropy below which the policy should not fall."""
    start: float = field(0.0, ge=0.0, le=100.0)
    """c_1: the weight at the start of the run."""
    change: float = field(0.005, gt=0.0, le=10.0, steer="optimizer_step")
    """Δ: change of the weight after a step."""
    weight_max: float = field(1.0, gt=0.0, le=100.0, steer="optimizer_step")
    """Largest weight; the paper has none."""

    @model_validator(mode="after")
    def _starts_below_the_largest(self) -> "AdaptiveEntropyBonus":
        if self.start > self.weight_max:
            raise ValueError(f"start ({self.start:g}) must not be above weight_max ({self.weight_max:g})")
        return self


EntropyBonus = Annotated[NoEntropyBonus | FixedEntropyBonus | AdaptiveEntropyBonus, Field(discriminator="type")]
