"""The supervised term: likelihood of good completions, beside the policy loss."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from trainer_core.spec.base import Advice, SpecModel, field, method_doc


class Demonstrations(SpecModel):
    """Learn from demonstrations in the rows of the training prompts; rows without one add nothing."""

    model_config = method_doc(
        "Supervised term",
        "L ← L + coefficient · Σ_t −log π_θ(y_t) / Σ_t 1 over the demonstrations y of the step's prompts",
        "Deep RL from demonstrations (DQfD, arXiv 1704.03732) for language models: SRFT (arXiv 2506.19767)",
    )
    advice: ClassVar[Advice] = Advice(
        "The policy should imitate: demonstrations if it finds no answer, its own right answers if they are rare.",
        ("actor/loss", "actor/entropy", "critic/score/mean"),
    )
    type: Literal["demonstrations"] = "demonstrations"
    column: str = field("demonstration", min_length=1, max_length=200)
    """Column of the dataset that holds the completion as text; the end-of-sequence token is added."""
    coefficient: float = field(0.1, gt=0.0, le=1000.0, steer="optimizer_step")
    """Weight of the term."""


class PositiveExamples(SpecModel):
    """Learn from the policy's own right answers as if they were demonstrations.

    Right answers of groups without a signal count too.
    """

    model_config = method_doc(
        "Positive-example term",
        "L ← L + coefficient · Σ_t −log π_θ(y_t) / Σ_t 1 over the step's samples with a reward of at least success",
        "VAPO (arXiv 2504.05118), §4.3.3",
    )
    advice: ClassVar[Advice] = Advice(
        "The policy should imitate: demonstrations if it finds no answer, its own right answers if they are rare.",
        ("actor/loss", "actor/entropy", "critic/score/mean"),
    )
    type: Literal["positives"] = "positives"
    success: float = field(0.5)
    """Least reward of a sample that counts as right."""
    coefficient: float = field(0.1, gt=0.0, le=1000.0, steer="optimizer_step")
    """Weight of the term; VAPO uses 0.1."""


SFT = Annotated[Demonstrations | PositiveExamples, Field(discriminator="type")]
