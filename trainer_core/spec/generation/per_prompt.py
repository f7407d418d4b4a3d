"""A number of tokens that differs from prompt to prompt, and how the policy is told of it."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from trainer_core.spec.base import SpecModel, field

PLACEHOLDER = "{tokens}"
"""Stands for the number in a text that tells it."""


class TokenNumber(SpecModel):
    """Common part of both kinds."""

    tell: str | None = field(None, min_length=1, max_length=500)
    """Text appended to the prompt, such as `` Think for {tokens} tokens.``; ``{tokens}`` is replaced by the number.
    Empty: the policy is not told."""

    @model_validator(mode="after")
    def _tells_the_number(self) -> "TokenNumber":
        if self.tell is not None and self.tell.count(PLACEHOLDER) != 1:
            raise ValueError(f"tell must contain {PLACEHOLDER} exactly once")
        return self


class ColumnTokens(TokenNumber):
    """The number is in the dataset row."""

    type: Literal["column"] = "column"
    column: str = field("tokens", min_length=1, max_length=64)
    """Column that holds a whole number, 0 or more, in every row."""


class SampledTokens(TokenNumber):
    """The number is drawn for each prompt group, uniformly from the whole numbers of the range."""

    type: Literal["sampled"] = "sampled"
    min: int = field(ge=0, le=1_048_576, unit="tokens", steer="group_dispatch")
    """Smallest number."""
    max: int = field(ge=0, le=1_048_576, unit="tokens", steer="group_dispatch")
    """Largest number."""

    @model_validator(mode="after")
    def _range_is_ordered(self) -> "SampledTokens":
        if self.min > self.max:
            raise ValueError("min must not be above max")
        return self


PerPromptTokens = Annotated[ColumnTokens | SampledTokens, Field(discriminator="type")]
