"""Operations of the lab, as clients ask for them and as jobs keep them."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel

Ref = Annotated[str, Field(min_length=3, max_length=80)]
Column = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00]+$")]


class _LabModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class FindDuplicates(_LabModel):
    """Rows that say the same, word for word or nearly; notes ``duplicates``."""

    kind: Literal["duplicates"]
    threshold: float = Field(0.8, ge=0.5, le=1)
    """Jaccard similarity of the sets of shingles from which rows are near duplicates; 1 finds equal ones alone."""
    shingle: int = Field(3, ge=1, le=12)
    """Words of a shingle; in scripts without spaces each sign is a word."""
    columns: list[Column] = Field(["prompt"], min_length=1, max_length=8)
    """What is compared: ``prompt`` is the prompt or what user and assistant say, ``answer`` the gold answer, all else
    a column of that name."""
    same_figures: bool = True
    """Whether near duplicates must have the same numbers and operators: one question with other numbers is another."""
    against: list[Ref] = Field([], max_length=10)
    """``slug@version`` of others. A row that one of them has, or nearly has, is not kept."""


class FindContamination(_LabModel):
    """Rows that evaluation sets have, in whole or in part; notes ``contamination``.

    Source: GPT-3 (arXiv 2005.14165), appendix C, looks for shared runs of 13 words; Llama 3 (arXiv 2407.21783), section
    5.1.4, for runs of 8 and the share that they cover.
    """

    kind: Literal["contamination"]
    against: list[Ref] = Field(min_length=1, max_length=10)
    """``slug@version`` of the evaluation sets."""
    run: int = Field(13, ge=5, le=50)
    """Words of a run; in scripts without spaces each sign is a word. Shorter texts are found where equal or near."""
    threshold: float = Field(0.5, gt=0, le=1)
    """Share of the runs of the shorter of two texts that the other has as well, from which a row is contaminated."""
    common: float = Field(0.05, gt=0, le=1)
    """Share of the rows of one version, and ten rows at least, above which a run is taken for common and left out."""
    near: float = Field(0.8, ge=0.5, le=1)
    """Jaccard similarity of the sets of three-word runs from which rows are near; 1 finds equal ones alone."""
    columns: list[Column] = Field(["prompt"], min_length=1, max_length=8)
    """What is compared, as for duplicates."""
    same_figures: bool = True
    """Whether numbers and operators beside the shared runs must agree: a question with other numbers is another."""


class FindStatistics(_LabModel):
    """Length, words, language, script and kind of answer of each row; notes ``statistics``."""

    kind: Literal["statistics"]


AnyOperation = FindDuplicates | FindContamination | FindStatistics


class LabOperation(RootModel[Annotated[AnyOperation, Field(discriminator="kind")]]):
    """What is to be done with the rows of a version."""

    model_config = ConfigDict(frozen=True)
