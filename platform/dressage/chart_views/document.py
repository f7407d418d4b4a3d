"""Content of a view: the settings of its charts."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from dressage.telemetry.axes import XAxis

Key = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^,\x00-\x1f]+$")]
"""Id of a chart, or name of a metric. Addresses list them separated by commas."""


class ChartsDocument(BaseModel):
    """The charts of a run page: which come first and in which order, and how they are drawn."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    x: XAxis = Field(default="step", description="The x axis of all charts.")
    smooth: float = Field(default=0.0, ge=0.0, le=0.98, description="Weight of the moving average.")
    pins: tuple[Key, ...] = Field(default=(), max_length=100, description="Charts that come first, in order.")
    hide: tuple[Key, ...] = Field(default=(), max_length=200, description="Metrics whose lines are hidden.")
    log: tuple[Key, ...] = Field(
        default=(), max_length=200, description="Ids of the charts whose axis is not their default."
    )
