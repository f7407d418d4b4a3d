"""Choice of the prompts that are drawn next."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from trainer_core.spec.base import Advice, SpecModel, field, method_doc
from trainer_core.spec.watched import PREDICTED, PROMPTS


class UniformCurriculum(SpecModel):
    """Sources by weight; within a source every prompt once per epoch, in a seeded random order."""

    type: Literal["uniform"] = "uniform"


class DifficultyBandCurriculum(SpecModel):
    """Sources by weight; within a source, prompts whose running pass rate lies in a band.

    The pass rate of a prompt is a decayed mean: p ← decay · p + (1 − decay) · group pass rate. Untried prompts count as
    inside the band. A share of draws explores outside it, so that a prompt can come back.
    """

    type: Literal["difficulty_band"] = "difficulty_band"
    min_pass_rate: float = field(0.05, ge=0.0, le=1.0, unit="share", steer="group_dispatch", widget="slider")
    """Lower edge of the band: harder prompts are skipped."""
    max_pass_rate: float = field(0.95, ge=0.0, le=1.0, unit="share", steer="group_dispatch", widget="slider")
    """Upper edge of the band: mastered prompts are skipped."""
    decay: float = field(0.5, ge=0.0, lt=1.0)
    """Weight of the past in the running pass rate."""
    explore: float = field(0.1, ge=0.0, le=1.0, unit="share", steer="group_dispatch")
    """Share of draws taken from outside the band."""
    start_from_notes: bool = True
    """Start from the pass rates in the row notes ``difficulty`` of the dataset, if it has any: each counts as its
    samples alongside the prompt's first group, and decays from then on."""

    @model_validator(mode="after")
    def _band_is_ordered(self) -> "DifficultyBandCurriculum":
        if self.min_pass_rate > self.max_pass_rate:
            raise ValueError("min_pass_rate must not be above max_pass_rate")
        return self


class GoldilocksCurriculum(SpecModel):
    """Only prompts that were neither too hard nor too easy when measured before the run, in epochs. The dataset holds
    the pass rates, in its row notes or in columns: one, or two for two stages of filtering. Magistral measures them
    with its first model, trains a better one on the prompts that remain, and filters the whole set again by its rates.
    """

    model_config = method_doc(
        "Goldilocks filtering",
        "a prompt is drawn only if p_min ≤ p ≤ p_max in each column of pass rates",
        "Magistral (arXiv 2506.10910), §4.1, difficulty filtering",
    )
    advice: ClassVar[Advice] = Advice(
        "Pass rates were measured before the run.",
        PROMPTS,
    )
    type: Literal["goldilocks"] = "goldilocks"
    rates: Literal["columns", "notes"] = "columns"
    """Where the pass rates are: in columns of the file, or in the row notes ``difficulty`` that a profile writes."""
    columns: tuple[str, ...] = field(("pass_rate",), min_length=1, max_length=2)
    """Columns with pass rates between 0 and 1, in every row. Not read if the notes have them."""
    min_pass_rate: float = field(0.0625, ge=0.0, le=1.0, unit="share", steer="group_dispatch", widget="slider")
    """p_min: harder prompts are left out. Default: solved once in 16 tries."""
    max_pass_rate: float = field(0.9375, ge=0.0, le=1.0, unit="share", steer="group_dispatch", widget="slider")
    """p_max: easier prompts are left out. Default: failed once in 16 tries."""

    @model_validator(mode="after")
    def _band_is_ordered(self) -> "GoldilocksCurriculum":
        if self.min_pass_rate > self.max_pass_rate:
            raise ValueError("min_pass_rate must not be above max_pass_rate")
        return self


class DifficultyTargetCurriculum(SpecModel):
    """Sources by weight; within a source, a prompt is likelier the nearer its pass rate is to a target. Each prompt has
    its own running mean, as in ``difficulty_band``. ``predict`` decides whether an untried prompt counts as on target,
    so that it is tried, or gets the rate of similar prompts. DOTS predicts with a trained adapter over a model's
    embeddings, and predicts tried prompts too.
    """

    model_config = method_doc(
        "Difficulty-targeted selection",
        "P(prompt) ∝ e^(−|p − p*| / τ), or ∝ (p^α (1 − p)^β)^(1/τ); without replacement within a batch",
        "DOTS (arXiv 2506.05316), online data selection; its authors' code; PACED (arXiv 2603.11178), Beta kernel",
    )
    advice: ClassVar[Advice] = Advice(
        "Prompts should be as informative as possible.",
        (*PROMPTS, PREDICTED),
    )
    type: Literal["difficulty_target"] = "difficulty_target"
    target_pass_rate: float = field(0.5, ge=0.0, le=1.0, unit="share", steer="group_dispatch", widget="slider")
    """p*: the most informative pass rate: at 0.5 the variance of the rewards is greatest. Used by the shape
    ``distance`` alone."""
    temperature: float = field(0.1, gt=0.0, le=100.0, steer="group_dispatch")
    """τ: the smaller, the closer to the target. DOTS's code uses 0.001, which is nearly greedy; PACED has 1."""
    shape: Literal["distance", "beta"] = "distance"
    """How the likelihood decreases: with the distance from p*, or by PACED's kernel, which is highest at α / (α + β).
    There it weights losses, here it selects prompts; its rates are clipped to a hundredth from 0 and 1."""
    alpha: float = field(1.0, gt=0.0, le=16.0, steer="group_dispatch")
    """α of the kernel: the greater, the rarer hard prompts. Used by that shape alone."""
    beta: float = field(1.0, gt=0.0, le=16.0, steer="group_dispatch")
    """β of the kernel: the greater, the rarer easy prompts. Used by that shape alone."""
    predict: bool = False
    """Predict the pass rates of untried prompts from the 256 tried last: p̄ + w · (Σ softmax(z · z_i / h) p_i − p̄),
    where z are hashed n-grams of the prompts, and w and h predict the 256 best from each other."""
    decay: float = field(0.5, ge=0.0, lt=1.0)
    """Weight of the past in the running pass rate."""
    explore: float = field(0.1, ge=0.0, le=1.0, unit="share", steer="group_dispatch")
    """Share of draws that take any prompt with equal probability, so that none is excluded forever."""
    start_from_notes: bool = True
    """Start from the pass rates in the row notes ``difficulty`` of the dataset, if it has any: each counts as its
    samples alongside the prompt's first group, and decays from then on."""

    @property
    def likeliest(self) -> float:
        """The pass rate at which a prompt is likeliest to be drawn."""
        return self.target_pass_rate if self.shape == "distance" else self.alpha / (self.alpha + self.beta)


class AdaptiveRatioCurriculum(SpecModel):
    """Hold the mixture among the groups that return, not among those dispatched. Otherwise sources whose groups are
    slow, fail, or are all right or all wrong get a smaller part of the training than their weight. Within a source
    every prompt is drawn once per epoch.
    """

    model_config = method_doc(
        "Adaptive domain ratio",
        "w_d · clip((t_d / c_d)^k, a_min, a_max), k = 1; t_d: share by weight, c_d: share among the groups counted",
        "Apriel-Reasoner (arXiv 2604.02007), adaptive domain sampling; its authors' code in PipelineRL",
    )
    advice: ClassVar[Advice] = Advice(
        "Sources differ in speed or difficulty, and the mixture must hold.",
        PROMPTS,
    )
    type: Literal["adaptive_ratio"] = "adaptive_ratio"
    count: Literal["scored", "informative"] = "scored"
    """Which groups count: all that return (as published), or only those with right and wrong answers."""
    min_groups: int = field(50, ge=0, le=1_000_000, unit="groups")
    """Groups to count before the first adjustment."""
    gain: float = field(1.0, ge=0.0, le=16.0, steer="group_dispatch")
    """k. If a source keeps losing groups, so that a share y of them returns, its part of the returned groups settles at
    t_d · y^(1/(1 + k)): 1, as published, leaves the square root of the loss."""
    min_adjustment: float = field(0.1, gt=0.0, le=1.0, steer="group_dispatch")
    """a_min: lower bound of a source's factor."""
    max_adjustment: float = field(10.0, ge=1.0, le=1000.0, steer="group_dispatch")
    """a_max: upper bound. A source of which no group has returned yet gets it."""
    horizon: int | None = field(None, ge=1, le=10_000_000, unit="groups")
    """Decay of older groups, by e^(−1/horizon) with each new one. Empty: never, as published."""


Curriculum = Annotated[
    UniformCurriculum
    | DifficultyBandCurriculum
    | GoldilocksCurriculum
    | DifficultyTargetCurriculum
    | AdaptiveRatioCurriculum,
    Field(discriminator="type"),
]


def reads_notes(curriculum: Curriculum) -> bool:
    """Whether the row notes ``difficulty`` are wanted at a run's start. Where they choose no prompts, metrics tell them
    apart by their difficulty."""
    match curriculum:
        case DifficultyBandCurriculum() | DifficultyTargetCurriculum():
            return curriculum.start_from_notes
        case GoldilocksCurriculum():
            return curriculum.rates == "notes"
        case _:
            return True


def has_one_rate(curriculum: GoldilocksCurriculum) -> bool:
    """Whether each prompt has one pass rate, not one for each of two stages of filtering."""
    return curriculum.rates == "notes" or len(curriculum.columns) == 1
