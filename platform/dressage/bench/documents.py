"""The JSON documents of bench jobs: for the API, and for the worker."""

from typing import Annotated, Any

from typing_extensions import TypedDict

from dressage.bench.models import BenchJob, BenchState
from dressage.bench.report import ReportDocument, report
from dressage.bench.samples import BenchSampleDocument, BenchSourceDocument
from dressage.common.openapi.document_schema import Moment, OneOf, Stored
from dressage.common.times import iso
from dressage.rewards import needs
from trainer_core.link.bench import BenchJob as LinkBenchJob
from trainer_core.link.bench import BenchJudge, BenchSample, LabelledDefinition, ThinkingTags
from trainer_core.rewards import RewardDefinition


class BenchDefinitionDocument(TypedDict):
    """One of the definitions that are compared."""

    label: str
    ref: str | None
    definition: Annotated[dict[str, Any], Stored(RewardDefinition)]


class BenchJobRowDocument(TypedDict):
    """A bench job as lists show it."""

    id: str
    state: Annotated[str, OneOf(BenchState)]
    error: str | None
    definitions: list[BenchDefinitionDocument]
    source: BenchSourceDocument
    probes: bool
    tries: int
    """Workers that have claimed it."""
    cluster: str | None
    """The cluster that people chose for it; null: the platform chooses."""
    placed_on: str | None
    """The cluster whose workers were asked to do it."""
    created_at: Moment
    started_at: Moment | None
    finished_at: Moment | None
    created_by: str


class BenchJobDocument(BenchJobRowDocument, ReportDocument):
    """A bench job with its samples and, when it is done, its results."""

    thinking: Annotated[dict[str, Any], Stored(ThinkingTags)]
    timeout_s: float
    samples: list[BenchSampleDocument]
    judge: BenchJudge | None


def bench_row(job: BenchJob) -> BenchJobRowDocument:
    """A job as lists show it: without samples and results."""
    return {
        "id": job.id,
        "state": job.state,
        "error": job.error,
        "definitions": job.definitions,
        "source": job.source,
        "probes": job.probes,
        "tries": job.tries,
        "cluster": job.cluster or None,
        "placed_on": job.placed_on or None,
        "created_at": iso(job.created_at),
        "started_at": iso(job.started_at),
        "finished_at": iso(job.finished_at),
        "created_by": job.created_by,
    }


def bench_document(job: BenchJob) -> BenchJobDocument:
    """A job as the API shows it, with a report on its results."""
    return {
        **bench_row(job),
        "thinking": ThinkingTags.model_validate(job.thinking).model_dump(),
        "timeout_s": job.timeout_s,
        "samples": job.samples,
        "judge": job.judge,
        **report(job),
    }


def job_for_worker(job: BenchJob) -> LinkBenchJob:
    """A job in the form sent to its worker, with the keys of judges: only for the link."""
    definitions = [RewardDefinition.model_validate(entry["definition"]) for entry in job.definitions]
    needed = needs.for_workers(job.team, definitions)
    return LinkBenchJob(
        id=job.id,
        definitions=tuple(
            LabelledDefinition(label=entry["label"], definition=definition)
            for entry, definition in zip(job.definitions, definitions, strict=True)
        ),
        samples=tuple(BenchSample.model_validate(sample) for sample in job.samples),
        thinking=job.thinking and ThinkingTags.model_validate(job.thinking),
        timeout_s=job.timeout_s,
        lease_s=job.lease_s,
        judges=needed.judges,
        reward_models=needed.reward_models,
    )
