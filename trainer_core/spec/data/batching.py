"""Make-up of the groups of a step: their sizes, and old ones that return."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from trainer_core.spec.base import Advice, SpecModel, field, method_doc
from trainer_core.spec.watched import PREDICTED, PROMPTS


class EqualAllocation(SpecModel):
    """``rollout.group_size`` samples for every prompt."""

    type: Literal["equal"] = "equal"


class DARSAllocation(SpecModel):
    """More samples for hard prompts, until the sum of their absolute advantages equals the others'.

    DARS tries each prompt first and adds samples in the same step; here its running pass rate decides. A prompt never
    tried gets ``rollout.group_size`` samples. A rate of 0 counts as half a success in a group.
    """

    model_config = method_doc(
        "Difficulty-adaptive rollouts (DARS)",
        "p < 1/2: n = min(⌈N · h / (2p(1 − p))⌉, n_max), h = 1/2 (equal) or 1 − p (hardness-weighted); else n = N",
        "DARS (arXiv 2508.13755), equal-treatment and hardness-weighted schedules; its authors' code",
    )
    advice: ClassVar[Advice] = Advice(
        "Hard prompts are rarely solved by a group of the usual size.",
        PROMPTS,
    )
    type: Literal["dars"] = "dars"
    schedule: Literal["equal_treatment", "hardness_weighted"] = "equal_treatment"
    """Whether every prompt weighs as much as one of pass rate 1/2, or more the harder it is."""
    max_samples: int = field(32, ge=2, le=1024, unit="samples", steer="group_dispatch")
    """n_max: most samples of one prompt, not below ``rollout.group_size``."""
    decay: float = field(0.5, ge=0.0, lt=1.0)
    """Weight of the past in the running pass rate."""


class DividedSamples(SpecModel):
    """An allocation that divides the samples that all prompts of a step would get at ``rollout.group_size``."""

    min_samples: int = field(2, ge=2, le=1024, unit="samples", steer="group_dispatch")
    """n_min: fewest samples of one prompt."""
    max_samples: int = field(32, ge=2, le=1024, unit="samples", steer="group_dispatch")
    """n_max: most samples of one prompt."""
    decay: float = field(0.5, ge=0.0, lt=1.0)
    """Weight of the past in the running pass rate."""

    @model_validator(mode="after")
    def _range_is_ordered(self) -> "DividedSamples":
        if self.min_samples > self.max_samples:
            raise ValueError("min_samples must not be above max_samples")
        return self


class UncertaintyAllocation(DividedSamples):
    """The same number of samples per step, given to the prompts whose pass rate they make most certain.

    XRPO plans within a step, from samples already drawn; here the running pass rate p of earlier visits replaces them,
    and the normal error of a mean replaces Student's. A prompt never tried counts as p = 1/2, the most uncertain.
    """

    model_config = method_doc(
        "Uncertainty-driven rollouts (XRPO)",
        "next sample to the largest √(p̃(1 − p̃)) · (1/√n − 1/√(n + 1)) + λ · √(ln(1 + T) / n); p̃ = (pN + 1) / (N + 2)",
        "XRPO (arXiv 2510.06672), adaptive rollout allocation, simplified as described above",
    )
    advice: ClassVar[Advice] = Advice(
        "The total number of samples is fixed, their distribution is not.",
        PROMPTS,
    )
    type: Literal["uncertainty"] = "uncertainty"
    bonus: float = field(0.0, ge=0.0, le=10.0, steer="group_dispatch")
    """λ: how much prompts with few samples so far are favoured, whatever their pass rate."""


class KnapsackAllocation(DividedSamples):
    """The same number of samples per step, given where they help learning most, before any is drawn.

    Knapsack RL counts a prompt's last epoch; V0 shows that predicted success rates serve better than old counts. Here
    the running pass rate p of earlier visits is used, and for untried prompts a prediction from similar ones. Rates are
    clipped to half a sample from 0 and 1, so that a prompt never solved still gets samples.
    """

    model_config = method_doc(
        "Value-informed rollouts (Knapsack RL, V0)",
        "max Σ (1 − p^n − (1 − p)^n) · p(1 − p)² subject to Σ n = N · prompts, n_min ≤ n ≤ n_max",
        "Knapsack RL (arXiv 2509.25849); success rates predicted before sampling: V0 (arXiv 2602.03584)",
    )
    advice: ClassVar[Advice] = Advice(
        "The number of samples is fixed, and many groups are all right or all wrong.",
        (*PROMPTS, PREDICTED),
    )
    type: Literal["knapsack"] = "knapsack"
    predict: bool = True
    """Predict the pass rates of untried prompts from the 256 tried last, as ``difficulty_target`` does. If off, they
    count as p = 1/2."""


Allocation = Annotated[
    EqualAllocation | DARSAllocation | UncertaintyAllocation | KnapsackAllocation, Field(discriminator="type")
]


class RolloutReplay(SpecModel):
    """Learn again from recent informative groups, with the versions that sampled them.

    Their tokens are older than the staleness bound of the rollouts allows: corrections must weigh them.
    """

    model_config = method_doc(
        "Rollout replay",
        "a first-in-first-out buffer of C groups with a signal; k groups at most a versions old join each step",
        "DOTS (arXiv 2506.05316), rollout replay",
    )
    advice: ClassVar[Advice] = Advice(
        "Generation is the bottleneck and corrections are configured.",
        ("staleness/mean", "rollout_corr/rollout_is_eff_sample_size"),
    )
    per_step: int = field(8, ge=1, le=65_536, unit="groups", steer="group_dispatch")
    """k: old groups that join a step's own."""
    capacity: int = field(256, ge=1, le=65_536, unit="groups")
    """C: capacity in groups."""
    max_age: int = field(8, ge=1, le=1000, unit="versions", steer="group_dispatch")
    """a: largest distance between the weights that sampled a group's oldest token and those that learn from it."""
    uses: int = field(1, ge=1, le=1000)
    """How often a group may return."""


class Batching(SpecModel):
    """The groups of a step."""

    allocation: Allocation = EqualAllocation()
    """How many samples each prompt gets."""
    replay: RolloutReplay | None = None
    """Old groups. Empty: none."""
