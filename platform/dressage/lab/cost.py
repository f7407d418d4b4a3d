"""Cost of an operation, estimated before it is started from earlier jobs of this installation."""

from collections.abc import Sequence
from statistics import median

from typing_extensions import TypedDict

from dressage.datasets.models import DatasetVersion
from dressage.lab.models import LabJob, LabState

_STARTUP_S = 2.0
_ROWS_A_SECOND = {"duplicates": 6_000.0, "contamination": 8_000.0, "statistics": 5_000.0}
"""Measured on one core of a server with spare capacity. Used until this installation has completed a job itself."""
_BYTES_A_ROW = {"duplicates": 1_500, "contamination": 500, "statistics": 500}
_BASE_BYTES = 200 << 20
_LOOKED_AT = 5
_LEAST_ROWS = 2_000
"""Minimum number of rows for a job's duration to reflect its speed rather than its startup."""


class AskingCost(TypedDict):
    """What an operation is expected to request from a model."""

    model: str
    rows: int
    """Number of rows that it asks about."""
    questions: int
    """Number of requests, if each succeeds at the first attempt."""
    prompt_tokens: int
    """Estimated from the length of some rows, at four characters per token."""
    completion_tokens: int
    """Estimated from the typical length of such answers."""
    price: float | None
    """Price at the endpoint's rates; null if they are unknown."""
    left_out: int
    """Chosen rows that it does not ask about: those without a gold answer to compare with, and variations."""


class LabCost(TypedDict):
    """What an operation reads and needs."""

    rows: int
    """Number of rows to read, including those of other versions."""
    bytes: int
    """Total size of their files."""
    seconds: float
    """Estimated from earlier jobs of this kind, otherwise from a reference measurement."""
    measured: bool
    """Whether the estimate is based on jobs of this installation."""
    memory_bytes: int
    """Estimated peak memory of the process that reads the rows."""
    asking: AskingCost | None
    """Null if no model is used."""


def cost_of(kind: str, versions: Sequence[DatasetVersion]) -> LabCost:
    """The cost of an operation on the rows of some versions."""
    rows = sum(version.rows for version in versions)
    # seconds are those of the last worker: they reflect the speed only if it was the only one
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
