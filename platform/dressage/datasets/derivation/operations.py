"""Operations that derive versions, as clients request them and as the lineage stores them."""

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
    """One row to change, remove or add."""

    op: Literal["change", "remove", "add"]
    id: RowId | None = None
    """Id of the row. An added row may have its own; otherwise one is derived from its content."""
    row: dict[str, Any] | None = None
    """The complete new row, if it is changed or added."""
    text: str | None = Field(None, max_length=MAX_TASK_BYTES)
    """JSON text instead of ``row``, for clients whose number type cannot represent every integer."""

    @model_validator(mode="after")
    def _complete(self) -> "RowChange":
        if self.op != "add" and self.id is None:
            raise ValueError(f"{self.op} needs the id of a row")
        given = (self.row is not None) + (self.text is not None)
        if given != (0 if self.op == "remove" else 1):
            raise ValueError("remove takes no row" if self.op == "remove" else f"{self.op} needs a row, as row or text")
        return self

    def data(self) -> Any:
        """The given row. Raises ValueError with a message if its text is not JSON."""
        return self.row if self.text is None else parse_row(self.text)


class EditRows(_DerivationModel):
    """Change, remove and add rows. Changed rows keep their ids and positions; added rows come last."""

    name: Literal["edit"]
    changes: list[RowChange] = Field(min_length=1, max_length=MAX_CHANGES)


class NotedEdit(EditRows):
    """An edit by another part of the platform, which records in the lineage how its rows were chosen."""

    arguments: dict[str, Any]
    """Stored in the lineage in addition to the ids."""


class FilterRows(_DerivationModel):
    """Keep the rows that a query finds, in order."""

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
    """Assign every row to one part by a hash of its id. Rows of later versions stay in the same parts."""

    name: Literal["split"]
    shares: list[SplitShare] = Field(min_length=2, max_length=10)
    """Parts whose shares sum to 1. Each becomes its own dataset, ``<slug>-<name>``."""
    salt: str = Field("", max_length=100, pattern=r"^[^\x00]*$")
    """Text that selects a different split of the same rows."""

    @model_validator(mode="after")
    def _whole(self) -> "SplitRows":
        if len({share.name for share in self.shares}) < len(self.shares):
            raise ValueError("two parts have the same name")
        if not math.isclose(sum(share.share for share in self.shares), 1.0, abs_tol=1e-6):
            raise ValueError("the shares do not sum to 1")
        return self


class MergeVersions(_DerivationModel):
    """Concatenate the rows of several versions."""

    name: Literal["merge"]
    others: list[Annotated[str, Field(min_length=3, max_length=80)]] = Field(min_length=1, max_length=20)
    """``slug@version`` of the versions whose rows are appended."""
    equal_ids: Literal["first", "rename"] = "first"
    """What to do with a row whose id has already occurred: leave it out, or give it another id."""


class IntegerAnswers(_DerivationModel):
    """Keep rows whose answer is an integer or can be turned into one, so that a rule can check it.

    Source: DAPO (arXiv 2503.14476), section 3.5.
    """

    name: Literal["integers"]
    fractions: Literal["sum", "leave_out"] = "sum"
    """What to do with rows whose answer is a fraction m/n: ask for m + n in the prompt, or leave them out."""
    sentence: str = Field(ASK_FOR_SUM, min_length=1, max_length=1_000, pattern=r"^[^\x00]*[^\s\x00][^\x00]*$")
    """Text appended to the prompt of such a row."""


class KeepRows(_DerivationModel):
    """Keep the rows with given ids, however many.

    For other parts of the platform, which record how they were chosen.
    """

    name: Literal["filter"]
    ids: frozenset[str]
    arguments: dict[str, Any]
    """Stored in the lineage instead of the ids."""


class AddRows(_DerivationModel):
    """Append rows that other parts of the platform have created. All rows of the version stay."""

    name: Literal["synthesis"]
    rows: list[tuple[str, dict[str, Any]]] = Field(min_length=1)
    """(id, row) pairs."""
    arguments: dict[str, Any]
    """Stored in the lineage instead of the rows."""


class MadeRows(_DerivationModel):
    """Rows that another part of the platform has made from some of the version's. None of the version's own stay."""

    name: Literal["rollouts"]
    rows: list[dict[str, Any]] = Field(min_length=1)
    arguments: dict[str, Any]
    """Stored in the lineage instead of the rows."""


AnyOperation = EditRows | FilterRows | SplitRows | MergeVersions | IntegerAnswers


class DatasetOperation(RootModel[Annotated[AnyOperation, Field(discriminator="name")]]):
    """The operation to apply to a version."""

    model_config = ConfigDict(frozen=True)
