"""Change of the longest completion over a run."""

from itertools import pairwise
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from trainer_core.spec.base import Advice, SpecModel, field, method_doc


class FixedWindow(SpecModel):
    """``rollout.max_tokens`` at all times."""

    type: Literal["fixed"] = "fixed"


class StagedWindow(SpecModel):
    """Start short and widen stage by stage, each time the policy fills its window and is stable in it."""

    model_config = method_doc(
        "Staged window",
        "next stage when p99(length) ≥ a · window for k steps, and |perplexity / perplexity k steps ago − 1| ≤ ε",
        "MiniMax-M1 (arXiv 2506.13585), window expansion; a, k and ε are ours",
    )
    advice: ClassVar[Advice] = Advice(
        "Long thinking should grow from short thinking.",
        ("response_length/p99", "response_length/window", "rollout_corr/rollout_ppl"),
    )
    type: Literal["staged"] = "staged"
    stages: tuple[int, ...] = field(min_length=2, max_length=64, unit="tokens")
    """Maximum lengths, increasing. The last must not be above ``rollout.max_tokens``."""
    near: float = field(0.95, gt=0.0, le=1.0, unit="share", steer="group_dispatch")
    """a: the 99th percentile of the lengths counts as near the window from this share of it."""
    settle_steps: int = field(20, ge=1, le=100_000, unit="steps", steer="group_dispatch")
    """k: this many steps in a row must be near the window, and the perplexity is compared across them."""
    perplexity_tolerance: float = field(0.02, ge=0.0, le=10.0, unit="share", steer="group_dispatch")
    """ε: largest relative change of the perplexity that counts as settled."""

    @model_validator(mode="after")
    def _stages_rise(self) -> "StagedWindow":
        if self.stages[0] < 1 or any(later <= earlier for earlier, later in pairwise(self.stages)):
            raise ValueError("the stages must be positive and increasing")
        return self


class CyclicWindow(SpecModel):
    """Compress and expand in turn: a short window makes the policy concise, a wide one lets it explore again."""

    model_config = method_doc(
        "Compression and expansion cycles",
        "cosine: L_min + (L_max − L_min) · (1 + cos(2π t / T)) / 2; stairs: the cosine in m equal steps; "
        "step: L_min for the first half of each period, L_max for the second",
        "SIRI (arXiv 2509.25176), length schedulers; t counts steps from 0",
    )
    advice: ClassVar[Advice] = Advice(
        "To make a policy concise and then let it explore again.",
        ("response_length/window", "response_length/mean", "critic/score/mean", "actor/entropy"),
    )
    type: Literal["cyclic"] = "cyclic"
    shape: Literal["cosine", "stairs", "step"] = "cosine"
    """How the window moves between its limits."""
    min: int = field(ge=1, le=1_048_576, unit="tokens", steer="group_dispatch")
    """L_min: the narrowest window."""
    max: int = field(ge=1, le=1_048_576, unit="tokens", steer="group_dispatch")
    """L_max: the widest window, not above ``rollout.max_tokens``."""
    period: int = field(640, ge=2, le=10_000_000, unit="steps")
    """T: steps of one compression and one expansion together."""
    stairs: int = field(4, ge=2, le=1000)
    """m: distances between the levels of the stairs; used by that shape alone."""

    @model_validator(mode="after")
    def _limits_are_ordered(self) -> "CyclicWindow":
        if self.min > self.max:
            raise ValueError("min must not be above max")
        return self


LengthWindow = Annotated[FixedWindow | StagedWindow | CyclicWindow, Field(discriminator="type")]
