"""Blocks of a report: text, charts, tables and samples of runs."""

from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from dressage.telemetry.axes import XAxis

MAX_TEXT = 20_000
"""Characters of one text."""
MAX_RUNS = 20
"""Runs of one block, as many as on the page that compares them."""
MAX_METRICS = 12
"""Metrics of one chart block."""
BlockId = Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[A-Za-z0-9_-]+$")]
Metric = Annotated[str, Field(min_length=1, max_length=160, pattern=r"^[^,\x00-\x1f]+$")]
_AS_OF = "Show the data of this time and nothing later; null: live."


class ReportPart(BaseModel):
    """A part of a report."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class RunMention(ReportPart):
    """A run that a block refers to. Its name is stored here in case the run is deleted."""

    id: str = Field(min_length=1, max_length=40, pattern=r"^[A-Za-z0-9_-]+$", description="Id of the run.")
    name: str = Field(default="", max_length=200, description="Its name when the block was written.")


Runs = Annotated[tuple[RunMention, ...], Field(min_length=1, max_length=MAX_RUNS)]


class TextBlock(ReportPart):
    """Text in Markdown, with formulas between dollar signs. HTML in it is shown as plain text."""

    type: Literal["text"]
    id: BlockId
    markdown: str = Field(max_length=MAX_TEXT)


class ChartBlock(ReportPart):
    """Charts of metrics, with one line per run."""

    type: Literal["chart"]
    id: BlockId
    title: str = Field(default="", max_length=200)
    metrics: tuple[Metric, ...] = Field(min_length=1, max_length=MAX_METRICS, description="Names of metrics.")
    runs: Runs
    together: bool = Field(default=False, description="Whether all metrics share one chart; else each has its own.")
    x: XAxis = Field(default="step", description="The x axis.")
    x_from: float | None = Field(default=None, description="Smallest x shown.")
    x_to: float | None = Field(default=None, description="Largest x shown.")
    y_from: float | None = Field(default=None, description="Lower end of the axis; null: automatic.")
    y_to: float | None = Field(default=None, description="Upper end of the axis; null: automatic.")
    smooth: float = Field(default=0.0, ge=0.0, le=0.98, description="Weight of the moving average.")
    log: bool | None = Field(default=None, description="Whether the axis is logarithmic; null: the chart's default.")
    lineage: bool = Field(default=True, description="Whether forks are aligned to their parents.")
    as_of: AwareDatetime | None = Field(default=None, description=_AS_OF)

    @model_validator(mode="after")
    def _check_ranges(self) -> Self:
        for low, high in (("x_from", "x_to"), ("y_from", "y_to")):
            ends = getattr(self, low), getattr(self, high)
            if None not in ends and ends[0] >= ends[1]:
                raise ValueError(f"{low} is not below {high}")
        return self


class EvaluationsBlock(ReportPart):
    """The newest and the best held-out results of runs, with their intervals."""

    type: Literal["evaluations"]
    id: BlockId
    runs: Runs
    as_of: AwareDatetime | None = Field(default=None, description=_AS_OF)


class SpecBlock(ReportPart):
    """Keys in which the effective specs of runs differ."""

    type: Literal["spec"]
    id: BlockId
    runs: Runs


class SampleBlock(ReportPart):
    """One completion of a run, with the beginning of its texts as of when it was added."""

    type: Literal["sample"]
    id: BlockId
    run: RunMention
    step: int = Field(ge=0, le=2**31 - 1)
    group: str = Field(min_length=1, max_length=80, pattern=r"^[^\x00]+$", description="Id of its group.")
    number: int = Field(ge=0, le=2**31 - 1, description="Its number in the group, from 0.")
    prompt: str = Field(default="", max_length=4_000, description="Beginning of the prompt.")
    completion: str = Field(default="", max_length=4_000, description="Beginning of the completion.")
    reward: float | None = Field(default=None, description="Its reward; null if it could not be computed.")
    note: str = Field(default="", max_length=1_000, description="What it shows.")


Block = Annotated[TextBlock | ChartBlock | EvaluationsBlock | SpecBlock | SampleBlock, Field(discriminator="type")]
