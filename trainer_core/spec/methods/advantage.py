"""How rewards become advantages. Methods that need a critic are in ``spec/methods/critic.py``."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from trainer_core.spec.base import field, method_doc
from trainer_core.spec.methods.branching import VineAdvantage
from trainer_core.spec.methods.compared import AdvantageModel, Compared
from trainer_core.spec.methods.critic import GAEAdvantage

Deviation = Literal["population", "sample"]
"""Which standard deviation divides: with n or with n − 1 in the denominator."""


class GroupAdvantage(AdvantageModel):
    """A method whose advantages may be whitened afterwards."""

    whiten: Literal["none", "batch"] = "none"
    """Whether the advantages are standardised over the batch afterwards (population deviation; 0 stays 0 where a
    group carries no signal)."""


class GRPOAdvantage(GroupAdvantage):
    """Group-relative advantage. A group of one, or of equal rewards, has advantage 0."""

    model_config = method_doc("GRPO", "A_i = (r_i − mean(r)) / (std(r) + ε)", "DeepSeekMath (arXiv 2402.03300), §4.1.2")
    type: Literal["grpo"] = "grpo"
    std: Deviation = "sample"
    """Which standard deviation divides: with n or with n − 1 in the denominator."""
    epsilon: float = field(1e-6, ge=0.0, le=1.0)
    """Added to the standard deviation."""


class DrGRPOAdvantage(GroupAdvantage):
    """Group-relative advantage without division by the standard deviation, which favours easy and hard prompts."""

    model_config = method_doc(
        "Dr. GRPO", "A_i = r_i − mean(r)", "Understanding R1-Zero-like training (arXiv 2503.20783), §3.2"
    )
    type: Literal["dr_grpo"] = "dr_grpo"


class ReinforceAdvantage(GroupAdvantage):
    """The reward above the mean of the batch: needs no groups. A batch of one has advantage 0."""

    model_config = method_doc(
        "REINFORCE with batch baseline", "A_i = r_i − mean(r over the batch)", "Williams 1992 (REINFORCE), §5"
    )
    compares: ClassVar[Compared] = "batch"
    type: Literal["reinforce"] = "reinforce"


class RLOOAdvantage(GroupAdvantage):
    """The reward above the mean of the other samples of the group: an unbiased baseline."""

    model_config = method_doc(
        "RLOO",
        "A_i = r_i − Σ_{j≠i} r_j / (n − 1) = n/(n − 1) · (r_i − mean(r))",
        "Back to Basics (arXiv 2402.14740), §3.3; Kool et al. 2019",
    )
    type: Literal["rloo"] = "rloo"


class ReinforcePlusPlusAdvantage(AdvantageModel):
    """Rewards standardised over the whole batch: no bias by the difficulty of a prompt, and no groups needed."""

    model_config = method_doc(
        "REINFORCE++", "A = (r − mean over the batch) / (std over the batch + ε)", "REINFORCE++ (arXiv 2501.03262), §3"
    )
    compares: ClassVar[Compared] = "batch"
    type: Literal["reinforce_pp"] = "reinforce_pp"
    weighting: Literal["tokens", "samples"] = "tokens"
    """Whether mean and deviation are taken over the batch's tokens, each with its sample's reward, or its samples."""
    std: Deviation = "population"
    """Which standard deviation divides: with n or with n − 1 in the denominator."""
    epsilon: float = field(1e-8, ge=0.0, le=1.0)
    """Added to the standard deviation."""


class ReinforcePlusPlusBaselineAdvantage(AdvantageModel):
    """REINFORCE++ with several samples per prompt: the group's mean is taken off first, then the batch standardises."""

    model_config = method_doc(
        "REINFORCE++ baseline",
        "a = r − mean over the group; A = (a − mean over the batch) / (std over the batch + ε)",
        "REINFORCE++ (arXiv 2501.03262), §3",
    )
    type: Literal["reinforce_pp_baseline"] = "reinforce_pp_baseline"
    weighting: Literal["tokens", "samples"] = "tokens"
    """Whether mean and deviation of the batch are taken over its tokens or its samples."""
    std: Deviation = "population"
    """Which standard deviation divides: with n or with n − 1 in the denominator."""
    epsilon: float = field(1e-8, ge=0.0, le=1.0)
    """Added to the standard deviation."""


class MCGRPOAdvantage(GroupAdvantage):
    """The reward above the group's median, which one outlier cannot move: for small groups.

    The group holds G + 1 samples with G even. The one whose reward is the median is the pivot: its advantage is 0 and
    it is left out of the loss, so that G samples are learned from. Where failed rewards leave an even number, the lower
    of the two middle samples is the pivot.
    """

    model_config = method_doc(
        "MC-GRPO", "A_i = (r_i − median(r)) / (scale(r) + ε), pivot left out", "MC-GRPO (arXiv 2601.22582)"
    )
    type: Literal["mc_grpo"] = "mc_grpo"
    scale: Literal["mad", "std", "none"] = "std"
    """What divides: the median absolute deviation, as in the authors' code; the sample standard deviation, as in GRPO;
    or nothing. The median absolute deviation of rewards of 0 and 1 is always 0, which leaves ±1/ε."""
    epsilon: float = field(1e-3, gt=0.0, le=1.0)
    """Added to the scale."""


class GDPOAdvantage(AdvantageModel):
    """Each part of the reward is standardised within the group before the parts are summed.

    Summed first, as GRPO does, different mixtures of parts collapse into one advantage: (1, 0) and (0, 1) are worth the
    same, and a part with small numbers is drowned by one with large ones.
    """

    model_config = method_doc(
        "GDPO",
        "A_ik = (r_ik − mean(r_k)) / (std(r_k) + ε); S_i = Σ_k w_k·A_ik; "
        "A_i = (S_i − mean_batch(S)) / (std_batch(S) + ε)",
        "GDPO (arXiv 2601.05242)",
    )
    compares: ClassVar[Compared] = "parts"
    type: Literal["gdpo"] = "gdpo"
    weights: dict[str, float] = Field(default_factory=dict)
    """Weight of each reward part by its name, after its standardisation; parts that are not named weigh 1."""
    std: Deviation = "sample"
    """Which standard deviation divides: with n or with n − 1 in the denominator."""
    epsilon: float = field(1e-4, ge=0.0, le=1.0)
    """Added to the standard deviations."""


class MaxRLAdvantage(GroupAdvantage):
    """Maximum likelihood: the gradient of log pass rate instead of pass rate, so that hard prompts count more.

    Made for rewards of 0 and 1. A group whose mean is 0 or below has advantage 0.
    """

    model_config = method_doc(
        "MaxRL",
        "A_i = (r_i − mean(r)) / mean(r), 0 where mean(r) ≤ 0",
        "Maximum Likelihood Reinforcement Learning (arXiv 2602.02710)",
    )
    type: Literal["maxrl"] = "maxrl"


class OPOAdvantage(GroupAdvantage):
    """The baseline of least variance when a sample's squared gradient grows with its length."""

    model_config = method_doc("OPO", "A_i = r_i − Σ_j L_j·r_j / Σ_j L_j, L = sampled tokens", "OPO (arXiv 2505.23585)")
    type: Literal["opo"] = "opo"


class PassKAdvantage(GroupAdvantage):
    """The advantage of every set of k samples that holds a right one, shared out among the samples in closed form."""

    model_config = method_doc(
        "Pass@k",
        "ρ = 1 − C(n−c, k)/C(n, k), σ = √(ρ(1 − ρ)); right: A = (1 − ρ)/(σ + ε); "
        "wrong: A = (1 − ρ − C(n−c−1, k−1)/C(n−1, k−1))/(σ + ε)",
        "Pass@k Training (arXiv 2508.10751), §2.4",
    )
    type: Literal["pass_k"] = "pass_k"
    k: int = field(4, ge=1, le=1024, unit="samples")
    """Size of the sets; at most the group size."""
    success: float = field(0.5)
    """Reward from which a sample counts as right."""
    epsilon: float = field(1e-6, ge=0.0, le=1.0)
    """Added to the standard deviation."""


class MagistralAdvantage(AdvantageModel):
    """The group's mean is taken off; the deviation is that of the minibatch, so that no prompt is blown up."""

    model_config = method_doc(
        "Magistral",
        "a_i = r_i − mean over the group; A_i = (a_i − mean over the minibatch) / (std over the minibatch + ε)",
        "Magistral (arXiv 2506.10910), §2.1",
    )
    type: Literal["magistral"] = "magistral"
    std: Deviation = "population"
    """Which standard deviation divides: with n or with n − 1 in the denominator."""
    epsilon: float = field(1e-6, ge=0.0, le=1.0)
    """Added to the standard deviation."""


class VCPOAdvantage(GroupAdvantage):
    """The baseline of least variance for stale samples: those that weigh more in the gradient weigh more in it.

    The weight w is the product of a sample's ratios between learner and engine, known only in the learner: the
    advantages of the update are made there. What a rollout shows is their on-policy value (w = 1). The squared gradient
    norm of a sample is taken as proportional to its length, as OPO does, instead of by one backward pass per sample.
    """

    model_config = method_doc(
        "VCPO baseline",
        "A_i = r_i − Σ_j w_j²·‖∇log π_j‖²·r_j / Σ_j w_j²·‖∇log π_j‖², w = π_learner/π_behaviour, ‖∇log π_j‖² ∝ L_j",
        "Stable Asynchrony (arXiv 2602.17616), off-policy optimal baseline",
    )
    type: Literal["vcpo"] = "vcpo"
    ratio_max: float = field(10.0, ge=1.0, le=1e6)
    """Largest weight w: one sample must not become its own baseline."""


Advantage = Annotated[
    GRPOAdvantage
    | DrGRPOAdvantage
    | ReinforceAdvantage
    | RLOOAdvantage
    | ReinforcePlusPlusAdvantage
    | ReinforcePlusPlusBaselineAdvantage
    | MCGRPOAdvantage
    | GDPOAdvantage
    | MaxRLAdvantage
    | OPOAdvantage
    | PassKAdvantage
    | MagistralAdvantage
    | VCPOAdvantage
    | GAEAdvantage
    | VineAdvantage,
    Field(discriminator="type"),
]
