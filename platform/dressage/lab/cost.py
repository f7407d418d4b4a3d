"""Cost of an operation, told before it is started: from jobs that this installation has done."""

from collections.abc import Sequence
from statistics import median

from typing_extensions import TypedDict

from dressage.datasets.models import DatasetVersion
from dressage.lab.models import LabJob, LabState

_STARTUP_S = 2.0
_ROWS_A_SECOND = {"duplicates": 6_000.0, "contamination": 8_000.0, "statistics": 5_000.0}
"""Measured on one core of a server, with room for other work; told until this installation has done a job itself."""
_BYTES_A_ROW = {"duplicates": 1_500, "contamination": 500, "statistics": 500}
_BASE_BYTES = 200 << 20
_LOOKED_AT = 5
_LEAST_ROWS = 2_000
"""Rows from which a job tells something of the speed, and not of the start."""


class AskingCost(TypedDict):
    """What an operation will ask a model, as far as it can be told before."""

    model: str
    rows: int
    """Rows that it is asked about."""
    questions: int
    """Questions, where each is answered at once."""
    prompt_tokens: int
    """Estimated from the length of some rows, at four signs a token."""
    completion_tokens: int
    """Estimated from what answers of that form need."""
    price: float | None
    """Price by those of the endpoint; null where they are not known."""
    left_out: int
    """Rows that were chosen and that it is not asked about: those without an answer to hold against, and variations."""


class LabCost(TypedDict):
    """What an operation reads and takes."""

    rows: int
    """Rows that are read, those of other versions included."""
    bytes: int
    """Bytes of their files."""
    seconds: float
    """Estimated from jobs of this kind that were done here, else from a measurement elsewhere."""
    measured: bool
    """Whether the estimate is of jobs that were done here."""
    memory_bytes: int
    """Estimated peak of the process that reads the rows."""
    asking: AskingCost | None
    """Null where no model is asked."""


def cost_of(kind: str, versions: Sequence[DatasetVersion]) -> LabCost:
    """The cost of an operation on the rows of some versions."""
    rows = sum(version.rows for version in versions)
    # seconds are those of the last worker: they tell the speed where it was the only one
    done = LabJob.objects.filter(kind=kind, state=LabState.DONE, attempt=1, rows__gte=_LEAST_ROWS, seconds__gt=0)
    speeds = [
        count / max((seconds or 0.0) - _STARTUP_S, 0.1)
        for count, seconds in done.order_by("-finished_at").values_list("rows", "seconds")[:_LOOKED_AT]
    ]
    speed = median(speeds) if speeds else _ROWS_A_SECOND[kind]
    return {
        "rows": rows,
        "bytes": sum(version.bytes for version in versions),
        "seconds": round(_STARTUP_S + rows / speed, 1),
        "measured": bool(speeds),
        "memory_bytes": _BASE_BYTES + rows * _BYTES_A_ROW[kind],
        "asking": None,
    }
