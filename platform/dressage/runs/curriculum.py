"""Reads of a run's curriculum: the pass rates that its worker has told, and what another band would draw."""

from collections.abc import Sequence
from dataclasses import dataclass

from typing_extensions import TypedDict

from dressage.common.document_schema import Moment
from dressage.common.problems import Problem, invalid
from dressage.common.times import iso
from dressage.runs.change_sets import staged_spec
from dressage.runs.models import Run
from dressage.telemetry.models import Event
from trainer_core.link.events import PassRatesData
from trainer_core.spec import Change, ControlError, RunSpec, apply_controls
from trainer_core.spec.data.curriculum import (
    Curriculum,
    DifficultyBandCurriculum,
    DifficultyTargetCurriculum,
    GoldilocksCurriculum,
)
from trainer_core.steering.curriculum.band_preview import BandPreview, preview
from trainer_core.steering.curriculum.histogram import SourceRates, bars


class SourceRatesDocument(TypedDict):
    """Prompts of one source by pass rate."""

    name: str
    prompts: int
    """All prompts of the source."""
    untried: int
    """Prompts whose pass rate is not known."""
    bins: list[int]
    """Prompts in each twentieth of the pass rates from 0 to 1; the last one holds 1 as well."""


class PassRatesDocument(TypedDict):
    """Pass rates of the prompts, as the run's worker has told them last."""

    step: int
    """The step after which they were counted."""
    at: Moment
    sources: list[SourceRatesDocument]


class CurriculumDocument(TypedDict):
    """How a run chooses its prompts."""

    type: str
    group_size: int
    min_pass_rate: float | None
    """Lower edge of the band; null without one."""
    max_pass_rate: float | None
    target_pass_rate: float | None
    """The pass rate that is aimed at; null without one."""
    pass_rates: PassRatesDocument | None
    why: str | None
    """Reason why there are no pass rates, as a sentence."""


@dataclass(frozen=True, slots=True)
class CurriculumPreviewDocument:
    """The next batch as it would be drawn now, and with a draft. Pass rates are taken to stay as they are."""

    step: int
    """The step of the batch."""
    now: BandPreview
    """Under the spec in force."""
    draft: BandPreview
    """Under what is staged, and the draft."""


def curriculum_document(run: Run) -> CurriculumDocument:
    """The curriculum of a run, and its pass rates."""
    spec = RunSpec.model_validate(run.effective_spec)
    curriculum, told = spec.curriculum, _told(run)
    band = curriculum if isinstance(curriculum, DifficultyBandCurriculum | GoldilocksCurriculum) else None
    target = curriculum.target_pass_rate if isinstance(curriculum, DifficultyTargetCurriculum) else None
    return {
        "type": curriculum.type,
        "group_size": spec.rollout.group_size,
        "min_pass_rate": None if band is None else band.min_pass_rate,
        "max_pass_rate": None if band is None else band.max_pass_rate,
        "target_pass_rate": target,
        "pass_rates": None if told is None else _pass_rates(*told),
        "why": _why_none(curriculum) if told is None else None,
    }


def preview_draft(run: Run, changes: Sequence[Change]) -> CurriculumPreviewDocument:
    """The next batch now and with ``changes``. Raises a 409 or 422 problem."""
    spec, told = RunSpec.model_validate(run.effective_spec), _told(run)
    if told is None:
        raise Problem(409, "Conflict", _why_none(spec.curriculum), code="no_pass_rates")
    sources, step = told[1], run.step + 1
    try:
        now = preview(spec, step, sources)
    except ValueError as error:
        raise Problem(409, "Conflict", f"This run has no preview: {error}.", code="no_band") from error
    try:
        return CurriculumPreviewDocument(step, now, preview(apply_controls(staged_spec(run), changes), step, sources))
    except ControlError as error:
        raise invalid(f"/changes/{error.index}", str(error), code="control_refused") from error
    except ValueError as error:
        raise invalid("/changes", f"{error}.", code="control_refused") from error


def _told(run: Run) -> tuple[Event, list[SourceRates]] | None:
    event = Event.objects.filter(run=run, kind=PassRatesData.kind).order_by("-seq").first()
    if event is None:
        return None
    data = PassRatesData.model_validate(event.data)
    return event, [SourceRates(one.name, one.prompts, one.untried, one.cells) for one in data.sources]


def _pass_rates(event: Event, sources: Sequence[SourceRates]) -> PassRatesDocument:
    shown: list[SourceRatesDocument] = [
        {"name": one.name, "prompts": one.prompts, "untried": one.untried, "bins": bars(one.cells)} for one in sources
    ]
    return {"step": event.step or 0, "at": iso(event.at), "sources": shown}


def _why_none(curriculum: Curriculum) -> str:
    match curriculum:
        case GoldilocksCurriculum() if len(curriculum.columns) > 1:
            return "Each prompt has two pass rates, and both must lie in the band: one histogram cannot show that."
        case DifficultyBandCurriculum() | GoldilocksCurriculum() | DifficultyTargetCurriculum():
            return "The run's worker has not told any pass rates yet: it does once the run is running."
        case _:
            return f"A curriculum of the type {curriculum.type} does not choose prompts by their pass rate."
