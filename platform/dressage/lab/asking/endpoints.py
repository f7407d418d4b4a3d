"""Endpoints that jobs call: which ones a team may name, and what job processes receive about them."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Q

from dressage.common.api.problems import Problem, invalid
from dressage.lab.arguments import AnyAsking, FindParaphrases, SynthesiseRows
from dressage.lab.models import ASKING, LabJob, LabKind
from dressage.rewards.judges.selectors import for_workers, judge_endpoints, unfit
from dressage.rewards.models import JudgeEndpoint
from dressage.teams.models import Team
from trainer_core.link.serving import EMBEDDING


def asked_endpoint(team: Team, operation: AnyAsking | FindParaphrases) -> JudgeEndpoint:
    """The endpoint of an operation. Raises a 422 problem if it does not exist or cannot be called."""
    return _named(team, operation.endpoint, "/operation/endpoint")


def solving_endpoint(team: Team, operation: AnyAsking) -> JudgeEndpoint | None:
    """The second endpoint of an operation; None if it has none. Raises a 422 problem as ``asked_endpoint``."""
    if not isinstance(operation, SynthesiseRows) or operation.solver in (None, operation.endpoint):
        return None
    assert operation.solver is not None
    return _named(team, operation.solver, "/operation/solver")


def _named(team: Team, slug: str, pointer: str) -> JudgeEndpoint:
    found = judge_endpoints(team).filter(slug=slug).first()
    if found is None:
        raise invalid(pointer, f"There is no judge endpoint {slug!r}.", code="unknown_reference")
    reason = unfit(found)
    if reason:
        raise invalid(pointer, reason, code="unfit_judge")
    return found


def endpoint_for(job: LabJob) -> dict[str, Any] | None:
    """The endpoint as passed to the job's process, with its key; None for a job that calls none.

    Raises:
        LookupError: it can no longer be called. The message is a sentence.
    """
    return _wired(job.team, job.operation["endpoint"]) if job.kind in ASKING else None


def solver_for(job: LabJob) -> dict[str, Any] | None:
    """The second endpoint as passed to the job's process; None if the job has none. Raises as ``endpoint_for``."""
    slug = job.operation.get("solver")
    return None if slug in (None, job.operation.get("endpoint")) else _wired(job.team, slug)


def _wired(team: Team, slug: str) -> dict[str, Any]:
    found = judge_endpoints(team).filter(slug=slug).first()
    if found is None:
        raise LookupError(f"The judge endpoint {slug!r} was deleted in the meantime.")
    reason = unfit(found)
    if reason:
        raise LookupError(reason)
    try:
        return for_workers(found).wire()
    except Problem as problem:
        raise LookupError(str(problem.detail)) from problem


def job_that_asks(team: Team, slug: str) -> str | None:
    """A sentence that names an open job of the team that uses the judge; None if there is none."""
    named = Q(operation__endpoint=slug) | Q(operation__solver=slug)
    jobs = LabJob.objects.for_team(team).filter(named, state__in=LabJob.open_states(), kind__in=ASKING)
    found = jobs.select_related("version__dataset").order_by("created_at").first()
    if found is None:
        return None
    return f"A lab job on {found.version.ref} uses this judge. Wait until it ends, or cancel it."


def served_endpoints(job: LabJob, plan: Mapping[str, Any]) -> dict[str, str]:
    """Slugs of the endpoints that the cluster must serve for a job's process, by their names in its ``plan``."""
    found = {name: job.operation[name] for name in ("endpoint", "solver") if (plan.get(name) or {}).get("model_dir")}
    return {EMBEDDING: found["endpoint"]} if found and job.kind == LabKind.PARAPHRASES else found
