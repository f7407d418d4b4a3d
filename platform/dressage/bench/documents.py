"""The JSON documents of bench jobs: for the API, and for the worker."""

from typing import Any

from dressage.bench.report import report
from dressage.rewards import needs
from dressage.rewards.models import BenchJob
from dressage.runs.documents import iso
from trainer_core.link.bench import BenchJob as LinkBenchJob
from trainer_core.link.bench import BenchSample, LabelledDefinition, ThinkingTags
from trainer_core.rewards import RewardDefinition


def bench_row(job: BenchJob) -> dict[str, Any]:
    """A job as lists show it: without samples and results."""
    return {
        "id": job.id,
        "state": job.state,
        "error": job.error,
        "definitions": job.definitions,
        "source": job.source,
        "probes": job.probes,
        "tries": job.tries,
        "created_at": iso(job.created_at),
        "started_at": iso(job.started_at),
        "finished_at": iso(job.finished_at),
        "created_by": job.created_by,
    }


def bench_document(job: BenchJob) -> dict[str, Any]:
    """A job as the API shows it, with what its results say."""
    return {
        **bench_row(job),
        "thinking": job.thinking,
        "timeout_s": job.timeout_s,
        "samples": job.samples,
        "judge": job.judge,
        **report(job),
    }


def job_for_worker(job: BenchJob, lease_s: float) -> LinkBenchJob:
    """A job as its worker gets it, with the keys of judges: for the link alone."""
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
        lease_s=lease_s,
        judges=needed.judges,
        reward_models=needed.reward_models,
    )
