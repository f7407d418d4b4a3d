"""The effect card of a control: what it was meant to move, and what else moved beyond its noise."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trainer_core.steering.effects.knobs import NO_OUTCOMES, entry, meant_to_move
from trainer_core.steering.effects.shift import Shift, shift
from trainer_core.steering.effects.windows import AFTER, BEFORE, Window, Windows

CHANCE = 0.05
"""Family-wise error rate: the chance that any of the metrics listed together is listed although nothing moved it."""
MOST_OTHERS = 8

METHOD = (
    f"Up to {BEFORE} steps before the change and {AFTER} after it are compared, without the mixed batches between them."
    " The trend of the steps before is extrapolated, and the steps after are measured against it: a trend is not an"
    " effect. Noise is assumed correlated from step to step, as estimated around the trend plus one standard error"
    " (Marriott and Pope 1954; Zwiers and von Storch 1995). The intervals of the targets hold jointly with 95 %, and so"
    " do those of all other metrics (Bonferroni): a metric has moved if its interval excludes 0. Other events in the"
    " run at the same time cannot be separated from the change."
)
"""The method in words, for readers."""

Values = Sequence[tuple[int, float]]
"""(step, value) of a metric, ascending."""


@dataclass(frozen=True, slots=True)
class MetricEffect:
    """A metric around a control."""

    name: str
    before: float | None
    """Mean before; None if no value is known."""
    after: float | None
    expected: float | None
    """Value that the line through the values before predicts. None if a window has fewer than eight values."""
    change: float | None
    """The mean after, less what was expected."""
    low: float | None
    """Lower end of the change's interval."""
    high: float | None
    moved: bool
    """Whether the interval leaves out 0."""
    values_before: int
    """Finite values in the window before."""
    values_after: int
    steps: tuple[int, ...]
    """Steps of ``values``, from the first before to the last after."""
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Effects:
    """Everything that a control moved."""

    targets: tuple[MetricEffect, ...]
    """Metrics that it was meant to move and that the run reports."""
    others: tuple[MetricEffect, ...]
    """Other metrics that moved: the most certain first, at most eight."""
    others_moved: int
    """Number of other metrics that moved, including those not listed."""
    compared: int
    """Number of other metrics with enough values to be compared."""


def effects(targets: Sequence[str], series: Mapping[str, Values], found: Windows) -> Effects:
    """Compare the windows of a control.

    Args:
        targets: paths of the fields changed together.
        series: values of each reported metric.
        found: the windows.
    """
    meant = list(dict.fromkeys(name for target in targets for name in meant_to_move(target)))
    named: dict[str, list[str]] = {}
    for name in sorted(series):
        named.setdefault(entry(name), []).append(name)
    own = [name for one in meant for name in named.get(one, [])]
    rest = [name for one, names in named.items() if one not in meant and one not in NO_OUTCOMES for name in names]
    tested = {name: _Test(name, series[name], found) for name in (*own, *rest)}
    shown = [tested[name].told(CHANCE / max(1, _number(tested, own))) for name in own]
    compared = _number(tested, rest)
    moved = [tested[name].told(CHANCE / max(1, compared)) for name in rest]
    moved = sorted((one for one in moved if one.moved), key=_surest, reverse=True)
    return Effects(tuple(shown), tuple(moved[:MOST_OTHERS]), len(moved), compared)


def _number(tested: Mapping[str, "_Test"], names: Sequence[str]) -> int:
    return sum(tested[name].shift is not None for name in names)


class _Test:
    """One metric, compared."""

    def __init__(self, name: str, values: Values, found: Windows) -> None:
        finite = [(step, value) for step, value in values if math.isfinite(value)]
        self.name = name
        self._before, self._after = _inside(finite, found.before), _inside(finite, found.after)
        self._around = [one for one in finite if found.before.first <= one[0] <= found.after.last]
        self.shift: Shift | None = shift(*_columns(self._before), *_columns(self._after))

    def told(self, chance: float) -> MetricEffect:
        """The comparison, with an interval that misses the change with probability ``chance``."""
        low, high = (None, None) if self.shift is None else self.shift.within(chance)
        return MetricEffect(
            name=self.name,
            before=_mean(self._before),
            after=_mean(self._after),
            expected=None if self.shift is None else self.shift.expected,
            change=None if self.shift is None else self.shift.change,
            low=low,
            high=high,
            moved=low is not None and high is not None and not low <= 0.0 <= high,
            values_before=len(self._before),
            values_after=len(self._after),
            steps=tuple(step for step, _ in self._around),
            values=tuple(value for _, value in self._around),
        )


def _surest(one: MetricEffect) -> float:
    """The change in half-widths of its interval."""
    assert one.change is not None and one.low is not None and one.high is not None
    half = (one.high - one.low) / 2
    return math.inf if half == 0.0 else abs(one.change) / half


def _inside(values: Values, window: Window) -> Values:
    return [one for one in values if window.first <= one[0] <= window.last]


def _columns(values: Values) -> tuple[list[float], list[float]]:
    return [float(step) for step, _ in values], [value for _, value in values]


def _mean(values: Values) -> float | None:
    # Each value is divided first: a sum of the largest floats would overflow.
    return math.fsum(value / len(values) for _, value in values) if values else None
