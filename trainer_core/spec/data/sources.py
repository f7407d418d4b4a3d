"""Sources of the prompts."""

from typing import ClassVar

from pydantic import model_validator

from trainer_core.spec.base import Advice, SpecModel, field, method_doc
from trainer_core.spec.data.prompt_format import PLAIN, PromptFormat
from trainer_core.spec.data.stages import Stage
from trainer_core.spec.methods.sft import SFT


class DataSource(SpecModel):
    """One source of prompts: an immutable dataset version and its share of the mixture."""

    name: str = field(pattern=r"^[a-z0-9][a-z0-9_\-]{0,62}$")
    """Short name of the source in charts and controls."""
    dataset: str = field(widget="dataset", pattern=r"^[a-z0-9][a-z0-9_\-]{0,62}@[0-9]+$")
    """Dataset version as ``slug@version``."""
    weight: float = field(1.0, ge=0.0, le=1e6, steer="group_dispatch", widget="slider")
    """Relative share of dispatched prompt groups that come from this source."""
    format: PromptFormat = PLAIN
    """How its rows become prompts."""


class FinalWeight(SpecModel):
    """Weight of a source after the transition."""

    name: str = field(pattern=r"^[a-z0-9][a-z0-9_\-]{0,62}$")
    """Name of the source."""
    weight: float = field(ge=0.0, le=1e6, steer="group_dispatch", widget="slider")
    """Its weight from the end of the transition on."""


class Transition(SpecModel):
    """The mixture moves from the sources' weights to their final weights: for example from reasoning to general
    tasks."""

    model_config = method_doc(
        "Mixing schedule",
        "w(t) = w + (w_final − w) · clip((t − start) / (end − start), 0, 1)",
        "MiniMax-M1 (arXiv 2506.13585), curriculum of incorporating diverse data; the linear path is ours",
    )
    advice: ClassVar[Advice] = Advice(
        "The mixture should move from one kind of task to another.",
        ("train/mix/<source>", "train/pass_rate/<source>"),
    )
    start: int = field(1, ge=1, le=10_000_000, unit="steps")
    """Last step under the first weights."""
    end: int = field(ge=2, le=10_000_000, unit="steps")
    """First step under the final weights."""
    sources: tuple[FinalWeight, ...] = field(min_length=1, max_length=64)
    """The final weights; a source that is not named keeps its weight."""

    @model_validator(mode="after")
    def _takes_time(self) -> "Transition":
        if self.start >= self.end:
            raise ValueError("the transition must end after it starts")
        return self


class Data(SpecModel):
    """Training prompts."""

    sources: tuple[DataSource, ...] = field(min_length=1, max_length=64)
    """The mixture. Names must be unique; at least one weight must be above zero."""
    transition: Transition | None = None
    """When the weights move to the final ones."""
    stages: tuple[Stage, ...] = field((), max_length=64)
    """Stages with gates between them, in their order. Empty: one mixture for the whole run."""
    sft: SFT | None = None
    """Completions that are learned from by likelihood, in addition to the policy loss."""
