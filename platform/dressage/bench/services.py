"""Writes of bench jobs. A job changes nothing of the team's but itself, so the audit log does not record it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from dressage.bench.models import BenchJob, BenchState
from dressage.bench.samples import BenchSampleDocument, BenchSourceDocument, probe_samples, require_version
from dressage.cluster_jobs import life as jobs
from dressage.cluster_jobs.clusters import send
from dressage.common.actors import Actor
from dressage.common.api.errors import FieldError
from dressage.common.api.problems import Problem, invalid
from dressage.datasets.versions import holding
from dressage.runs.life.services import require_cluster
from dressage.teams.models import Team
from trainer_core.link.bench import ThinkingTags
from trainer_core.rewards import RewardDefinition

MAX_OPEN = 20
"""Open jobs that one team may have at a time."""
MAX_BYTES = 16 << 20
"""Maximum size of the samples of one job."""
Entry = tuple[str, str | None, RewardDefinition]
"""(label, ref of the stored version or None, definition)."""


@transaction.atomic
def create_bench_job(
    team: Team,
    actor: Actor,
    *,
    definitions: Sequence[Entry],
    source: BenchSourceDocument,
    samples: list[BenchSampleDocument],
    thinking: Mapping[str, str | None],
    timeout_s: float,
    probed: bool = False,
    hidden: bool = False,
    cluster: str | None = None,
) -> BenchJob:
    """A new job; its cluster is notified on commit.

    Args:
        team: the owner of the job.
        actor: who requests it.
        definitions: one or two.
        source: origin of the samples.
        samples: as ``dressage.bench.samples`` builds them, without probes.
        thinking: tags around thoughts, ``{start, end, answer_start?}``.
        timeout_s: time limit for scoring one sample.
        probed: whether to add adversarial probes.
        hidden: created for a single answer; not in the list.
        cluster: name of the cluster that should score; None leaves it to the platform.

    Raises:
        Problem: 422 if a definition uses the length and a sample does not state its own, if the request is too large,
            or if the cluster does not exist; 429 if too many jobs of the team are open.
    """
    if source["type"] == "dataset":
        holding.hold(team, [source["dataset"]])
        require_version(team, source["dataset"])
    require_cluster(cluster)
    for _, _, definition in definitions:
        if definition.needs_length:
            _require_lengths(samples, source["type"])
    samples = samples + (probe_samples(samples, ThinkingTags.model_validate(thinking)) if probed else [])
    if len(json.dumps(samples)) > MAX_BYTES:
        raise invalid("/samples", f"The samples have more than {MAX_BYTES >> 20} MiB in total: use fewer.")
    jobs.require_room(BenchJob, team, MAX_OPEN, code="too_many_bench_jobs", retry_after_s=5)
    job = jobs.create_job(
        BenchJob,
        team,
        actor,
        definitions=[
            {"label": label, "ref": ref, "definition": definition.model_dump(mode="json")}
            for label, ref, definition in definitions
        ],
        source=source,
        samples=samples,
        thinking=dict(thinking),
        timeout_s=timeout_s,
        probes=probed,
        hidden=hidden,
        cluster=cluster or "",
    )
    send(job)
    return job


@transaction.atomic
def take_result(job_id: str, results: Any, judge: Any, error: str | None) -> BenchJob:
    """Store a worker's answer; the first one counts and may be repeated. Raises a 409 problem if the job is over."""
    job = BenchJob.objects.select_for_update().get(pk=job_id)
    if job.state == BenchState.DONE and error is None and json.loads(json.dumps(results)) == job.results:
        return job
    jobs.require_open(job)
    if error is not None:
        return jobs.fail(job, error)
    shape = [len(scores) for scores in results]
    expected = [len(job.samples)] * len(job.definitions)
    if shape != expected:
        raise invalid("/results", f"The results have the shape {shape}; the job needs {expected}.")
    job.results, job.judge = results, judge
    job.save(update_fields=["results", "judge"])
    return jobs.end(job, BenchState.DONE)


def _require_lengths(samples: list[BenchSampleDocument], source: str) -> None:
    detail = "This reward uses the length: give the number of tokens."
    if source == "dataset":
        detail = "This reward uses the length, which a dataset's answers lack: paste samples instead."
        raise invalid("/samples/dataset", detail)
    errors = [
        FieldError(pointer=f"/samples/{index}/completion_tokens", detail=detail)
        for index, sample in enumerate(samples)
        if sample["completion_tokens"] is None
    ]
    if errors:
        raise Problem(422, "Invalid request", detail, errors=errors, code="invalid")
