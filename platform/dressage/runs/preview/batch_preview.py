"""Forecast of a step with another group size or other filters, from the run's stored groups.

Neither can change while a run trains: a fork applies them. So the forecast needs nothing from the worker, and also
works for a finished run.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from dressage.common.api.errors import FieldError
from dressage.common.api.problems import conflict, invalid, unprocessable
from dressage.runs.facts import selectors
from dressage.runs.models import Run
from dressage.runs.needs import objective
from dressage.telemetry.stored_groups import Outcomes, StoredGroups, newest_groups, newest_outcomes
from trainer_core.spec import Change, RunSpec
from trainer_core.spec.faults import join, pydantic_errors
from trainer_core.steering.forecast_assumptions import assumptions
from trainer_core.steering.step_forecast import StepForecast, step_forecast

GROUP_SIZE, FILTERS = "rollout.group_size", "filters"


@dataclass(frozen=True, slots=True)
class ForecastBasis:
    """Data behind a forecast."""

    groups: int
    samples: int
    first_step: int
    last_step: int


@dataclass(frozen=True, slots=True)
class BatchPreviewDocument:
    """A step under the current spec, and under a draft."""

    now: StepForecast
    draft: StepForecast
    outcomes: ForecastBasis | None
    """Groups from which dead groups are predicted: all that were returned, whether learned from or not."""
    stored: ForecastBasis | None
    """Stored groups from which filters and tokens are predicted."""
    assumptions: list[str]
    """Assumptions behind the figures, as sentences."""


def preview_batch(run: Run, changes: Sequence[Change]) -> BatchPreviewDocument:
    """The step now and with ``changes`` to the group size and the filters. Raises a 409 or 422 problem."""
    now = RunSpec.model_validate(run.effective_spec)
    objective.require_sampling_run(now, "The forecast of a step")
    draft = _drafted(now, changes)
    line = selectors.line_of(run)
    outcomes, stored = newest_outcomes(run.id, line), newest_groups(run.id, line)
    if outcomes is None and stored is None:
        detail = "No groups are stored yet: wait for the run's first step."
        raise conflict(detail, code="no_groups")
    verdicts = [] if outcomes is None else outcomes.verdicts
    groups = [] if stored is None else stored.groups
    return BatchPreviewDocument(
        now=step_forecast(now, verdicts, groups),
        draft=step_forecast(draft, verdicts, groups),
        outcomes=_of_outcomes(outcomes),
        stored=_of_stored(stored),
        assumptions=assumptions(now, draft, verdicts, groups, whole=stored is not None and stored.whole),
    )


def _drafted(spec: RunSpec, changes: Sequence[Change]) -> RunSpec:
    document = spec.model_dump(mode="json")
    places: dict[str, int] = {}
    for index, (target, value) in enumerate(changes):
        if target in places:
            raise invalid(f"/changes/{index}/target", f"{target} is changed twice; keep one of the two.")
        places[target] = index
        if target == GROUP_SIZE:
            document["rollout"]["group_size"] = value
        else:
            document["filters"] = value
    try:
        return RunSpec.model_validate(document)
    except ValidationError as error:
        found = pydantic_errors(error, document, RunSpec)
        raise unprocessable([_fault(path, detail, places) for path, detail in found]) from error


def _fault(path: list[str | int], detail: str, places: dict[str, int]) -> FieldError:
    """A fault of the spec, located at the change that causes it. A fault of another field is shown with its path."""
    for target, index in places.items():
        parts = target.split(".")
        if path[: len(parts)] == parts:
            return FieldError(pointer=join("changes", index, "value", *path[len(parts) :]), detail=detail)
    index = places.get(GROUP_SIZE, 0)
    return FieldError(pointer=join("changes", index, "value"), detail=f"{'.'.join(map(str, path))}: {detail}")


def _of_outcomes(found: Outcomes | None) -> ForecastBasis | None:
    if found is None:
        return None
    samples = sum(one.graded for one in found.verdicts)
    return ForecastBasis(len(found.verdicts), samples, found.first_step, found.last_step)


def _of_stored(found: StoredGroups | None) -> ForecastBasis | None:
    return None if found is None else ForecastBasis(len(found.groups), found.samples, found.first_step, found.last_step)
