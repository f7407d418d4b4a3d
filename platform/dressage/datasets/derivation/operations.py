"""Operations that make versions of versions, as clients ask for them and as the lineage keeps them."""

import math
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel, model_validator

from dressage.common.openapi.serializers import SLUG_PATTERN
from dressage.datasets.files.json_rows import parse_row
from dressage.datasets.limits import MAX_TASK_BYTES
from dressage.datasets.rows.query import RowId, RowQuery

MAX_CHANGES = 10_000
ASK_FOR_SUM = (
    "The answer is a fraction m/n in lowest terms, where n is positive. Give m + n, which is a whole number, instead."
)


class _DerivationModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class RowChange(_DerivationModel):
    """One row that is changed, removed or added."""

    op: Literal["change", "remove", "add"]
    id: RowId | None = None
    """Id of the row; for a row that is added, its own or one that follows from its content when omitted."""
    row: dict[str, Any] | None = None
    """The whole new row, for what is changed or added."""
    text: str | None = Field(None, max_length=MAX_TASK_BYTES)
    """JSON text in place of ``row``, from clients whose own numbers cannot hold each whole number."""

    @model_validator(mode="after")
    def _complete(self) -> "RowChange":
        if self.op != "add" and self.id is None:
            raise ValueError(f"{self.op} needs the id of a row")
        given = (self.row is not None) + (self.text is not None)
        if given != (0 if self.op == "remove" else 1):
            raise ValueError("remove takes no row" if self.op == "remove" else f"{self.op} needs a row, as row or text")
        return self

    def data(self) -> Any:
        """The row that was given. Raises ValueError with a sentence where its text is not JSON."""
        return self.row if self.text is None else parse_row(self.text)


class EditRows(_DerivationModel):
    """Rows changed, removed and added; changed rows keep their ids and places, added ones come last."""

    name: Literal["edit"]
    changes: list[RowChange] = Field(min_length=1, max_length=MAX_CHANGES)


class NotedEdit(EditRows):
    """An edit of other rooms, which say in the lineage how its rows were chosen."""

    arguments: dict[str, Any]
    """What the lineage keeps beside the ids."""


class FilterRows(_DerivationModel):
    """The rows that a query finds, in their order."""

    name: Literal["filter"]
    query: RowQuery

    @model_validator(mode="after")
    def _some_condition(self) -> "FilterRows":
        if self.query.is_empty():
            raise ValueError("the query finds every row; give it a condition")
        return self


class SplitShare(_DerivationModel):
    """One part of a split."""

    name: str = Field(pattern=SLUG_PATTERN, max_length=30)
    share: float = Field(gt=0, lt=1)


class SplitRows(_DerivationModel):
    """Every row goes into one part, by a hash of its id: rows of later versions stay in the parts of before."""

    name: Literal["split"]
    shares: list[SplitShare] = Field(min_length=2, max_length=10)
    """Parts whose shares sum to 1. Each becomes a dataset of its own, ``<slug>-<name>``."""
    salt: str = Field("", max_length=100, pattern=r"^[^\x00]*$")
    """Text that makes another split of the same rows."""

    @model_validator(mode="after")
    def _whole(self) -> "SplitRows":
        if len({share.name for share in self.shares}) < len(self.shares):
            raise ValueError("two parts have the same name")
        if not math.isclose(sum(share.share for share in self.shares), 1.0, abs_tol=1e-6):
            raise ValueError("the shares do not sum to 1")
        return self


class MergeVersions(_DerivationModel):
    """The rows of several versions one after the other."""

    name: Literal["merge"]
    others: list[Annotated[str, Field(min_length=3, max_length=80)]] = Field(min_length=1, max_length=20)
    """``slug@version`` of those whose rows come behind."""
    equal_ids: Literal["first", "rename"] = "first"
    """What becomes of a row whose id was there before: left out, or taken with another id."""


class IntegerAnswers(_DerivationModel):
    """The rows whose answer is a whole number, or is made one, so that a rule can check it.

    Source: DAPO (arXiv 2503.14476), section 3.5.
    """

    name: Literal["integers"]
    fractions: Literal["sum", "leave_out"] = "sum"
    """What becomes of rows whose answer is a fraction m/n: their prompt asks for m + n, or they are left out."""
    sentence: str = Field(ASK_FOR_SUM, min_length=1, max_length=1_000, pattern=r"^[^\x00]*[^\s\x00][^\x00]*$")
    """What is written below the prompt of such a row."""


class KeepRows(_DerivationModel):
    """The rows of given ids, however many: for other rooms, which say in the lineage how they were chosen."""

    name: Literal["filter"]
    ids: frozenset[str]
    arguments: dict[str, Any]
    """What the lineage keeps in the place of the ids."""


class AddRows(_DerivationModel):
    """Rows that other rooms have made, behind those of the version, which all stay."""

    name: Literal["synthesis"]
    rows: list[tuple[str, dict[str, Any]]] = Field(min_length=1)
    """(id, row) of each."""
    arguments: dict[str, Any]
    """What the lineage keeps in the place of the rows."""


AnyOperation = EditRows | FilterRows | SplitRows | MergeVersions | IntegerAnswers


class DatasetOperation(RootModel[Annotated[AnyOperation, Field(discriminator="name")]]):
    """What is to be made of a version."""

    model_config = ConfigDict(frozen=True)
