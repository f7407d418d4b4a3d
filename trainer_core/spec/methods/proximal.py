"""The proximal policy: what the ratio of the loss is taken against."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from trainer_core.spec.base import Advice, SpecModel, field, method_doc


class RecomputedProximal(SpecModel):
    """The learner's own policy before the step's first update."""

    model_config = method_doc(
        "Recomputed proximal policy",
        "π_old = π_θ at the beginning of the step",
        "PPO (arXiv 1707.06347); AReaL (arXiv 2505.24298), §5.2",
    )
    advice: ClassVar[Advice] = Advice(
        "Several updates per step, or stale samples.",
        ("actor/ppo_kl", "staleness/mean"),
    )
    type: Literal["recompute"] = "recompute"


class SnapshotProximal(SpecModel):
    """A copy of the policy, updated every few steps: the trust region spans several steps."""

    model_config = method_doc(
        "Snapshot",
        "π_old = π at the beginning of the last step whose number − 1 is a multiple of every_steps",
        "Hilton et al. 2021 (arXiv 2110.00641), §2: any recent policy may be the proximal one",
    )
    advice: ClassVar[Advice] = Advice(
        "Several updates per step, or stale samples.",
        ("actor/ppo_kl", "staleness/mean"),
    )
    type: Literal["snapshot"] = "snapshot"
    every_steps: int = field(4, ge=2, le=10_000, unit="steps")
    """Training steps for which a copy is kept."""


class EWMAProximal(SpecModel):
    """PPO-EWMA: a moving average of the policy's weights, updated after every update."""

    model_config = method_doc(
        "PPO-EWMA",
        "θ_old = Σ_k decay^k·θ_{t−k} / Σ_k decay^k over all updates so far",
        "Batch size-invariance for policy optimization (arXiv 2110.00641), §3.1 and appendix A",
    )
    advice: ClassVar[Advice] = Advice(
        "Several updates per step, or stale samples.",
        ("actor/ppo_kl", "staleness/mean"),
    )
    type: Literal["ewma"] = "ewma"
    decay: float = field(0.889, ge=0.0, lt=1.0)
    """Weight of the average relative to the newest weights; the average spans about 1 / (1 − decay) updates."""


class InterpolatedProximal(SpecModel):
    """A-3PO: between the policy that sampled and the current one, nearer to the latter for older samples."""

    model_config = method_doc(
        "A-3PO",
        "log π_old = α·log π_behaviour + (1 − α)·log π_θ, α = 1/d for tokens d ≥ 1 versions old, 0 for fresh ones",
        "A-3PO (arXiv 2512.06547), eq. 5",
    )
    advice: ClassVar[Advice] = Advice(
        "Several updates per step, or stale samples.",
        ("actor/ppo_kl", "staleness/mean"),
    )
    type: Literal["interpolated"] = "interpolated"


class SamplerProximal(SpecModel):
    """The policy that sampled each token, by the log-probabilities of the engine: one ratio, with one clip, for all. It
    is PPO's own π_old. The loss's band then bounds staleness and the engine's rounding as well, so no correction is
    added.
    """

    model_config = method_doc(
        "Sampler",
        "log π_old = log π_behaviour, as the engine reported it when it generated the token",
        "PPO (arXiv 1707.06347), eq. 6: π_old is the policy that acted",
    )
    advice: ClassVar[Advice] = Advice(
        "Plain PPO: several passes over a batch, or stale samples, under a single clip.",
        ("actor/ppo_kl", "actor/pg_clipfrac", "rollout_corr/kl", "staleness/mean"),
    )
    type: Literal["sampler"] = "sampler"


Proximal = Annotated[
    RecomputedProximal | SnapshotProximal | EWMAProximal | InterpolatedProximal | SamplerProximal,
    Field(discriminator="type"),
]
