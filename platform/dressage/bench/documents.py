"""The JSON documents of bench jobs: for the API, and for the worker."""

from typing import Any

from dressage.bench.report import report
from dressage.rewards import needs
from dressage.rewards.models import BenchJob
from dressage.runs.documents import iso
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


def worker_job(job: BenchJob, lease_s: float) -> dict[str, Any]:
    """A job as its worker gets it, with the keys of judges: for the link alone."""
    definitions = [RewardDefinition.model_validate(entry["definition"]) for entry in job.definitions]
    return {
        "id": job.id,
        "definitions": [{"label": entry["label"], "definition": entry["definition"]} for entry in job.definitions],
        "samples": [{key: value for key, value in sample.items() if key != "stored"} for sample in job.samples],
        "thinking": job.thinking,
        "timeout_s": job.timeout_s,
        "lease_s": lease_s,
        **needs.worker_documents(job.team, definitions),
    }
