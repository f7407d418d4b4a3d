"""Reads of a control's effect: the run's metrics before and after it."""

from typing import Literal

from typing_extensions import TypedDict

from dressage.runs.facts import selectors
from dressage.runs.models import Control, Run
from dressage.runs.states import FINISHED, ControlState
from dressage.runs.steer.change_sets import IN_EFFECT, members
from dressage.telemetry.selectors import describe, values_between
from trainer_core.steering.effects.card import METHOD, Effects, MetricEffect, effects
from trainer_core.steering.effects.shift import LEAST
from trainer_core.steering.effects.windows import Change, Windows, windows

_MAY_SETTLE = (ControlState.STAGED, *IN_EFFECT)
Known = Literal["waiting", "early", "never", "known"]
"""``waiting``: it has not settled; ``early``: some steps are still missing; ``never``: they will not come."""


class WindowDocument(TypedDict):
    """Range of steps that is compared."""

    first: int
    last: int
    """Smaller than ``first`` if there are none."""
    steps: int


class MetricEffectDocument(TypedDict):
    """A metric before and after a control. Numbers are null if a window holds too few values."""

    name: str
    title: str
    unit: str
    before: float | None
    """Mean of the values before."""
    after: float | None
    """Mean of the values after."""
    expected: float | None
    """Extrapolation of the line through the values before."""
    change: float | None
    """The mean after, minus the expected value."""
    low: float | None
    """Lower end of the confidence interval of the change."""
    high: float | None
    """Upper end of the confidence interval of the change."""
    moved: bool
    """Whether the interval excludes 0."""
    values_before: int
    values_after: int
    steps: list[int]
    """The steps that ``values`` belong to."""
    values: list[float]
    """Values from the first step before to the last step after, including those between the windows."""


class ControlEffectDocument(TypedDict):
    """The effect of a control, and of those staged together with it."""

    controls: list[str]
    """Ids of the controls that were staged together."""
    status: Known
    why: str | None
    """Reason nothing is known yet, as a sentence."""
    needed: int
    """Number of steps that each window needs."""
    applied_step: int | None
    settled_step: int | None
    before: WindowDocument | None
    after: WindowDocument | None
    cuts: list[str]
    """Other changes that have shortened a window, one sentence each."""
    targets: list[MetricEffectDocument]
    """Metrics that the control is meant to move."""
    others: list[MetricEffectDocument]
    """Other metrics that have moved, most certain first; at most eight."""
    others_moved: int
    compared: int
    """Number of other metrics that were compared."""
    method: str
    """Description of the calculation, in sentences."""


def control_effect(run: Run, control: Control) -> ControlEffectDocument:
    """The known effect of a control of the run."""
    together = list(members(control))
    applied, settled = _applied(together), _settled(together)
    document: ControlEffectDocument = {
        "controls": [one.id for one in together],
        "status": "waiting",
        "why": None,
        "needed": LEAST,
        "applied_step": applied,
        "settled_step": settled,
        "before": None,
        "after": None,
        "cuts": [],
        "targets": [],
        "others": [],
        "others_moved": 0,
        "compared": 0,
        "method": METHOD,
    }
    if applied is None or settled is None:
        ended = run.state in FINISHED or any(one.state not in _MAY_SETTLE for one in together)
        document["status"] = "never" if ended else "waiting"
        document["why"] = _why_not_settled(together, applied, ended)
        return document
    found = windows(applied, settled, run.step, _others(run, together))
    document["before"], document["after"] = _window(found, "before"), _window(found, "after")
    document["cuts"] = list(found.cuts)
    document["status"], document["why"] = _status(run, found)
    series = values_between(run.id, selectors.line_of(run), found.before.first, found.after.last)
    told = effects([one.target for one in together], series, found)
    return _with(document, told)


def _with(document: ControlEffectDocument, told: Effects) -> ControlEffectDocument:
    document["targets"] = [_metric(one) for one in told.targets]
    if document["status"] == "known":
        document["others"] = [_metric(one) for one in told.others]
        document["others_moved"], document["compared"] = told.others_moved, told.compared
    return document


def _applied(together: list[Control]) -> int | None:
    steps = [one.applied_step for one in together if one.applied_step is not None]
    return min(steps) if len(steps) == len(together) else None


def _settled(together: list[Control]) -> int | None:
    steps = [one.settled_step for one in together if one.settled_step is not None]
    return max(steps) if len(steps) == len(together) else None


def _others(run: Run, together: list[Control]) -> list[Change]:
    rows = selectors.controls(run).filter(state__in=IN_EFFECT, applied_step__isnull=False)
    others = rows.exclude(pk__in=[one.pk for one in together])
    return [Change(one.revision, one.applied_step or 0, one.settled_step) for one in others]


def _why_not_settled(together: list[Control], applied: int | None, ended: bool) -> str:
    states = sorted({one.state for one in together if one.state not in IN_EFFECT})
    if applied is not None:
        rest = "and the run ended before it settled" if ended else "and settling: batches are mixed"
        return f"Applied at step {applied}, {rest}."
    if ended:
        return f"It never took effect: it is {' and '.join(states)}."
    return "It has not taken effect yet."


def _status(run: Run, found: Windows) -> tuple[Known, str | None]:
    before, after = found.before.steps, found.after.steps
    if before < LEAST:
        return "never", f"Not enough data: {before} of {LEAST} steps before it."
    if after >= LEAST:
        return "known", None
    if found.closed:
        return "never", f"Not enough data: {after} of {LEAST} steps between it and the next change."
    if run.state in FINISHED:
        return "never", f"Not enough data: the run ended after {after} of {LEAST} steps."
    return "early", f"Too early: {after} of {LEAST} steps."


def _window(found: Windows, which: Literal["before", "after"]) -> WindowDocument:
    window = found.before if which == "before" else found.after
    return {"first": window.first, "last": window.last, "steps": window.steps}


def _metric(one: MetricEffect) -> MetricEffectDocument:
    entry = describe(one.name)
    return {
        "name": one.name,
        "title": entry["title"],
        "unit": entry["unit"],
        "before": one.before,
        "after": one.after,
        "expected": one.expected,
        "change": one.change,
        "low": one.low,
        "high": one.high,
        "moved": one.moved,
        "values_before": one.values_before,
        "values_after": one.values_after,
        "steps": list(one.steps),
        "values": list(one.values),
    }
