"""The x axes of charts, and how SQL computes each one from the moment of a step."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

XAxis = Literal["step", "time", "tokens", "gpu_hours", "cost"]

_HELD = """(
    SELECT coalesce(sum(h.gpus * greatest(0, date_part('epoch', least(m.at, h.until) - h.since))), 0) * %(per_second)s
    FROM unnest(%(held_gpus)s::float8[], %(held_since)s::timestamptz[], %(held_until)s::timestamptz[])
        AS h(gpus, since, until)
)"""
_SQL: dict[XAxis, str] = {
    "step": "m.step",
    "time": "date_part('epoch', m.at - %(started)s)",
    "tokens": "m.tokens_total::float8",
    "gpu_hours": _HELD,
    "cost": _HELD,
}


class HeldSpan(NamedTuple):
    """GPUs that an attempt of a run held during a period."""

    gpus: float
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class Axes:
    """Data from which the axes of one run are computed.

    The GPU hours at a moment are those of all its attempts until then, including repeated steps and pauses that held
    GPUs: the cost of getting there.
    """

    started_at: datetime
    """Zero of the time axis."""
    held: Sequence[HeldSpan] = ()
    price: float = 0.0
    """Price of one GPU hour; for the axis ``cost``."""

    def sql(self, x: XAxis) -> str:
        """Expression for the x of a row ``m`` of moments."""
        return _SQL[x]

    def arguments(self, x: XAxis) -> dict[str, Any]:
        """Arguments of that expression."""
        return {
            "started": self.started_at,
            "held_gpus": [span.gpus for span in self.held],
            "held_since": [span.since for span in self.held],
            "held_until": [span.until for span in self.held],
            "per_second": (self.price if x == "cost" else 1.0) / 3600,
        }
