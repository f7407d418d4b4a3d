"""Sources of a bench job's samples: pasted, a dataset's own answers, or a run's stored rollouts."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, FiniteFloat, RootModel, Tag, model_validator

from dressage.rewards.trial import MAX_SAMPLES, MAX_TEXT

MAX_PICKED = 200
"""Samples that may be taken from a dataset, or picked from a run."""
MAX_MATCHED = 500
"""Samples that a filter may take from a run: whole groups, newest first."""


class _SampleSource(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class PastedSample(_SampleSource):
    """A pasted completion."""

    output_text: str = Field(max_length=MAX_TEXT)
    item: dict[str, Any]
    """The dataset row, such as ``{prompt, answer}``."""
    completion_tokens: int | None = Field(None, ge=0, le=10**7)
    """Required if the reward depends on the length."""
    finish_reason: Literal["stop", "length"] = "stop"


class FromDataset(_SampleSource):
    """Rows of a dataset version, each with its own gold answer as the completion."""

    dataset: str = Field(max_length=80)
    """``slug@version``."""
    rows: list[Annotated[int, Field(ge=0, lt=2**31)]] | None = Field(None, min_length=1, max_length=MAX_PICKED)
    """Row numbers, starting at 0."""
    count: int | None = Field(None, ge=1, le=MAX_PICKED)
    """Alternative to ``rows``: this many rows, spread evenly over the dataset."""
    outputs: Literal["reference"] = "reference"
    """The gold answer in a box; code in a fenced block."""

    @model_validator(mode="after")
    def _one_choice(self) -> "FromDataset":
        if (self.rows is None) == (self.count is None):
            raise ValueError("give either rows or count")
        return self


class RolloutFilter(_SampleSource):
    """Filter of stored rollouts, as in lists of groups. If one sample of a group matches, the whole group is taken."""

    step: int | None = Field(None, ge=0, lt=2**31)
    first_step: int | None = Field(None, ge=0, lt=2**31)
    last_step: int | None = Field(None, ge=0, lt=2**31)
    source: str | None = Field(None, max_length=63)
    prompt_id: str | None = Field(None, max_length=120)
    group_id: str | None = Field(None, max_length=80)
    min_reward: FiniteFloat | None = None
    max_reward: FiniteFloat | None = None
    finish_reason: str | None = Field(None, max_length=20)
    cut: bool | None = None
    error: bool | None = None
    dead: bool | None = None
    min_gap: FiniteFloat | None = None
    q: str | None = Field(None, max_length=1000)
    """Text that a prompt or completion contains, ignoring case."""


class FromRun(_SampleSource):
    """Stored rollouts of a run, with the dataset rows of their prompts."""

    run: str = Field(max_length=40)
    rollouts: list[Annotated[str, Field(pattern=r"^[0-9]{1,18}$")]] | None = Field(
        None, min_length=1, max_length=MAX_PICKED
    )
    """Ids of rollouts."""
    count: int | None = Field(None, ge=1, le=MAX_PICKED)
    """Alternative to ids: this many rollouts, spread evenly over the step."""
    step: int | None = Field(None, ge=0, lt=2**31)
    """Step for ``count``; by default the newest step that has any rollouts."""
    matching: RolloutFilter | None = None
    """Alternative filter: takes all matching groups, newest first, up to 500 samples."""

    @model_validator(mode="after")
    def _one_choice(self) -> "FromRun":
        if sum(one is not None for one in (self.rollouts, self.count, self.matching)) != 1:
            raise ValueError("give exactly one of rollouts, count and matching")
        if self.count is None and self.step is not None:
            raise ValueError("step needs count")
        return self


def _kind(data: Any) -> str:
    # The tags are not keys of the data: the locations of faults hold both, but only the keys form a path.
    if isinstance(data, dict):
        return "from_run" if "run" in data else "from_dataset"
    if isinstance(data, FromDataset | FromRun):
        return "from_run" if isinstance(data, FromRun) else "from_dataset"
    return "pasted"


Pasted = Annotated[list[PastedSample], Field(min_length=1, max_length=MAX_SAMPLES)]


class BenchSamples(
    RootModel[
        Annotated[
            Annotated[Pasted, Tag("pasted")]
            | Annotated[FromDataset, Tag("from_dataset")]
            | Annotated[FromRun, Tag("from_run")],
            Discriminator(_kind),
        ]
    ]
):
    """Pasted samples, rows of a dataset, or rollouts of a run."""

    model_config = ConfigDict(frozen=True)
