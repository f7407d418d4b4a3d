"""Reads of a run's curriculum: the pass rates reported by its worker, and what another band would draw."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from typing_extensions import TypedDict

from dressage.common.api.problems import Problem, invalid
from dressage.common.openapi.document_schema import Moment
from dressage.common.times import iso
from dressage.runs.models import Run
from dressage.runs.needs import objective
from dressage.runs.steer.change_sets import staged_spec
from dressage.telemetry.models import Event
from trainer_core.link.events import PassRatesData
from trainer_core.spec import Change, ControlError, RunSpec, apply_controls
from trainer_core.spec.data.curriculum import (
    DifficultyBandCurriculum,
    DifficultyTargetCurriculum,
    GoldilocksCurriculum,
    has_one_rate,
)
from trainer_core.steering.curriculum.band_preview import BandPreview, preview
from trainer_core.steering.curriculum.histogram import SourceRates, bars
from trainer_core.steering.curriculum.stages import in_stage, stage_named


class SourceRatesDocument(TypedDict):
    """Prompts of one source by pass rate."""

    name: str
    prompts: int
    """All prompts of the source."""
    untried: int
    """Prompts with an unknown pass rate."""
    bins: list[int]
    """Number of prompts in each of 20 equal bins of the pass rate from 0 to 1; the last bin includes 1."""


class PassRatesDocument(TypedDict):
    """Pass rates of the prompts, from the latest report of the run's worker."""

    step: int
    """The step after which they were counted."""
    at: Moment
    sources: list[SourceRatesDocument]


class CurriculumDocument(TypedDict):
    """A run's selection of prompts."""

    type: str
    stage: str | None
    """Name of the data stage from which prompts were last drawn; null without stages."""
    group_size: int
    min_pass_rate: float | None
    """Lower edge of the band; null without one."""
    max_pass_rate: float | None
    target_pass_rate: float | None
    """The target pass rate; null without one."""
    pass_rates: PassRatesDocument | None
    why: str | None
    """Reason there are no pass rates, as a sentence."""


@dataclass(frozen=True, slots=True)
class CurriculumPreviewDocument:
    """The next batch as drawn now, and with a draft. Pass rates are assumed to stay unchanged."""

    step: int
    """The step of the batch."""
    now: BandPreview
    """Batch under the current spec."""
    draft: BandPreview
    """Batch under the staged changes and the draft."""


def curriculum_document(run: Run) -> CurriculumDocument:
    """The curriculum of a run, and its pass rates."""
    told = _told(run)
    stage = None if told is None else told.stage
    spec = _in_stage(RunSpec.model_validate(run.effective_spec), stage)
    curriculum = spec.curriculum
    examples = spec.examples is not None
    band = curriculum if isinstance(curriculum, DifficultyBandCurriculum | GoldilocksCurriculum) else None
    target = curriculum.likeliest if isinstance(curriculum, DifficultyTargetCurriculum) else None
    return {
        "type": curriculum.type,
        "stage": stage,
        "group_size": 1 if examples else spec.rollout.group_size,
        "min_pass_rate": None if band is None else band.min_pass_rate,
        "max_pass_rate": None if band is None else band.max_pass_rate,
        "target_pass_rate": target,
        "pass_rates": None if told is None else _pass_rates(told),
        "why": _why_none(spec) if told is None else None,
    }


def preview_draft(run: Run, changes: Sequence[Change]) -> CurriculumPreviewDocument:
    """The next batch now and with ``changes``. Raises a 409 or 422 problem."""
    spec, told = RunSpec.model_validate(run.effective_spec), _told(run)
    objective.require_sampling_run(spec, "The preview of a curriculum")
    if told is None:
        raise Problem(409, "Conflict", _why_none(spec), code="no_pass_rates")
    step = run.step + 1
    try:
        now = preview(_in_stage(spec, told.stage), step, told.sources)
    except ValueError as error:
        raise Problem(409, "Conflict", f"This run has no preview: {error}.", code="no_band") from error
    try:
        drafted = _in_stage(apply_controls(staged_spec(run), changes), told.stage)
        return CurriculumPreviewDocument(step, now, preview(drafted, step, told.sources))
    except ControlError as error:
        raise invalid(f"/changes/{error.index}", str(error), code="control_refused") from error
    except ValueError as error:
        raise invalid("/changes", f"{error}.", code="control_refused") from error


@dataclass(frozen=True, slots=True)
class _Told:
    step: int
    at: datetime
    stage: str | None
    sources: list[SourceRates]


def _told(run: Run) -> _Told | None:
    event = Event.objects.filter(run=run, kind=PassRatesData.kind).order_by("-seq").first()
    if event is None:
        return None
    data = PassRatesData.model_validate(event.data)
    sources = [SourceRates(one.name, one.prompts, one.untried, one.cells) for one in data.sources]
    return _Told(event.step or 0, event.at, data.stage, sources)


def _in_stage(spec: RunSpec, stage: str | None) -> RunSpec:
    return in_stage(spec, stage_named(spec, stage))


def _pass_rates(told: _Told) -> PassRatesDocument:
    sources: list[SourceRatesDocument] = [
        {"name": one.name, "prompts": one.prompts, "untried": one.untried, "bins": bars(one.cells)}
        for one in told.sources
    ]
    return {"step": told.step, "at": iso(told.at), "sources": sources}


def _why_none(spec: RunSpec) -> str:
    if spec.examples is not None:
        return "The run learns from the rows of its datasets, each once in an epoch: none has a pass rate."
    curriculum = spec.curriculum
    match curriculum:
        case GoldilocksCurriculum() if not has_one_rate(curriculum):
            return "Each prompt has two pass rates, and both must be in the band: one histogram cannot show that."
        case DifficultyBandCurriculum() | GoldilocksCurriculum() | DifficultyTargetCurriculum():
            return "The run's worker has not reported pass rates yet: wait until the run is running."
        case _:
            return f"A curriculum of the type {curriculum.type} does not choose prompts by their pass rate."
