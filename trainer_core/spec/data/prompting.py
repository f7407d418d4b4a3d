"""Additions behind the prompts of the dataset: hints and strategies."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from trainer_core.spec.base import Advice, SpecModel, field, method_doc
from trainer_core.spec.watched import PROMPTS

HINT, STRATEGY = "{hint}", "{strategy}"
"""Stand for what is shown in the texts that introduce it."""


class HintScaffolding(SpecModel):
    """Show the beginning of the reference solution: enough to make the prompt hard but not hopeless.

    For each prompt, the shares shown so far and the pass rates they led to are fitted by a logistic curve of the share
    (an item response model); the next share is the point at which that curve reaches the target. An untried prompt gets
    ``first_share``. SEELE fits three parameters within several rounds of one step; here the curve has one, its
    position, and learns from one visit of the prompt to the next.
    """

    model_config = method_doc(
        "Hint scaffolding",
        "p(h) = 1 / (1 + e^(−k(h − b))); b by maximum likelihood over the last visits; h* = b + ln(p* / (1 − p*)) / k",
        "SEELE (arXiv 2509.06923), simplified as described above",
    )
    advice: ClassVar[Advice] = Advice(
        "Prompts are too hard to be solved at all.",
        PROMPTS,
    )
    column: str = field("solution", min_length=1, max_length=64)
    """Column that holds the reference solution as text."""
    target_pass_rate: float = field(0.5, gt=0.0, lt=1.0, unit="share", steer="group_dispatch", widget="slider")
    """p*: the pass rate that hints aim at."""
    first_share: float = field(0.0, ge=0.0, le=1.0, unit="share", steer="group_dispatch")
    """Share of the solution shown at the first visit."""
    max_share: float = field(0.9, ge=0.0, le=1.0, unit="share", steer="group_dispatch")
    """Largest share of the solution that is ever shown."""
    slope: float = field(8.0, gt=0.0, le=100.0)
    """k: how sharply a longer hint raises the pass rate."""
    memory: int = field(4, ge=1, le=64, unit="visits")
    """Visits of a prompt that the fit remembers: older ones describe an older policy."""
    text: str = field(" Hint: {hint}", min_length=1, max_length=500)
    """Text appended to the prompt; ``{hint}`` is replaced by the beginning of the solution."""

    @model_validator(mode="after")
    def _shows_the_hint(self) -> "HintScaffolding":
        if self.text.count(HINT) != 1:
            raise ValueError(f"text must contain {HINT} exactly once")
        if self.first_share > self.max_share:
            raise ValueError("first_share must not be above max_share")
        return self


class ListedStrategies(SpecModel):
    """The same strategies for every prompt."""

    type: Literal["listed"] = "listed"
    strategies: tuple[str, ...] = field(min_length=1, max_length=256)
    """Short sentences, such as *Work backwards from the answer.*"""


class ColumnStrategies(SpecModel):
    """Strategies that the dataset names for each prompt."""

    type: Literal["column"] = "column"
    column: str = field("strategies", min_length=1, max_length=64)
    """Column that holds a list of texts in every row."""


Strategies = Annotated[ListedStrategies | ColumnStrategies, Field(discriminator="type")]


class StrategyNudges(SpecModel):
    """Diversify the samples of a group: each block of samples gets a different strategy. The policy learns under the
    nudged prompt; NudgeRL's split advantage and its distillation into the bare prompt are not included. ``dropout``
    carries the gain over to the bare prompt.
    """

    model_config = method_doc(
        "Strategy nudges",
        "of the group's strategies, m are drawn; sample i of S follows number ⌊i · m / S⌋, or none with p_drop",
        "NudgeRL (arXiv 2605.15726), strategy nudging and context dropout",
    )
    advice: ClassVar[Advice] = Advice(
        "The samples of a group are too similar.",
        ("actor/entropy", *PROMPTS),
    )
    source: Strategies
    """Where the strategies come from."""
    per_group: int = field(2, ge=1, le=1024)
    """m: different strategies in one group; fewer if the prompt has fewer."""
    dropout: float = field(0.5, ge=0.0, le=1.0, unit="share", steer="group_dispatch", widget="slider")
    """p_drop: probability that a sample gets the bare prompt."""
    text: str = field(" Strategy: {strategy}", min_length=1, max_length=500)
    """Text appended to the prompt; ``{strategy}`` is replaced."""

    @model_validator(mode="after")
    def _shows_the_strategy(self) -> "StrategyNudges":
        if self.text.count(STRATEGY) != 1:
            raise ValueError(f"text must contain {STRATEGY} exactly once")
        return self


class Prompting(SpecModel):
    """Additions to the prompts of training. Evaluations see the bare prompts; rewards see the unchanged rows."""

    hints: HintScaffolding | None = None
    """Part of the reference solution, to keep hard prompts within reach."""
    nudges: StrategyNudges | None = None
    """Strategies, to make the samples of a group differ."""
