"""Content of a report."""

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from dressage.reports.blocks import Block

MAX_BLOCKS = 100
MAX_CHARACTERS = 300_000
"""Characters of a whole report, written as JSON."""


class ReportContent(BaseModel):
    """The blocks of a report, in order."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    blocks: tuple[Block, ...] = Field(default=(), max_length=MAX_BLOCKS, description="From top to bottom.")

    @model_validator(mode="after")
    def _check_whole(self) -> Self:
        ids = [block.id for block in self.blocks]
        if len(set(ids)) < len(ids):
            twice = next(one for one in ids if ids.count(one) > 1)
            raise ValueError(f"two blocks have the id {twice!r}")
        size = len(self.model_dump_json())
        if size > MAX_CHARACTERS:
            raise ValueError(
                f"has {size} characters as JSON; the maximum is {MAX_CHARACTERS}: split it into two reports"
            )
        return self
