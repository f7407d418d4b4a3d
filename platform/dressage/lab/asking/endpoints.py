"""Endpoints that jobs ask: which a team may name, and what their processes are told of them."""

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
    """The endpoint that an operation names. Raises a 422 problem where there is none, or it cannot be asked."""
    return _named(team, operation.endpoint, "/operation/endpoint")


def solving_endpoint(team: Team, operation: AnyAsking) -> JudgeEndpoint | None:
    """The second endpoint that an operation names; None without one. Raises a 422 problem as ``asked_endpoint``."""
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
    """The endpoint as the job's process is told it, with its key; None for a job that asks none.

    Raises:
        LookupError: with a sentence, where it cannot be asked any more.
    """
    return _wired(job.team, job.operation["endpoint"]) if job.kind in ASKING else None


def solver_for(job: LabJob) -> dict[str, Any] | None:
    """The second endpoint as the job's process is told it; None for a job without. Raises as ``endpoint_for``."""
    slug = job.operation.get("solver")
    return None if slug in (None, job.operation.get("endpoint")) else _wired(job.team, slug)


def _wired(team: Team, slug: str) -> dict[str, Any]:
    found = judge_endpoints(team).filter(slug=slug).first()
    if found is None:
        raise LookupError(f"The judge endpoint {slug!r} was deleted meanwhile.")
    reason = unfit(found)
    if reason:
        raise LookupError(reason)
    try:
        return for_workers(found).wire()
    except Problem as problem:
        raise LookupError(str(problem.detail)) from problem


def job_that_asks(team: Team, slug: str) -> str | None:
    """A sentence that names a job of the team that asks the judge, or will; None when there is none."""
    named = Q(operation__endpoint=slug) | Q(operation__solver=slug)
    jobs = LabJob.objects.for_team(team).filter(named, state__in=LabJob.open_states(), kind__in=ASKING)
    found = jobs.select_related("version__dataset").order_by("created_at").first()
    if found is None:
        return None
    return f"A job of the lab on {found.version.ref} asks this judge. Wait for its end, or cancel it."


def served_endpoints(job: LabJob, plan: Mapping[str, Any]) -> dict[str, str]:
    """Slugs of the endpoints that the cluster must serve to a job's process, by their names in its ``plan``."""
    found = {name: job.operation[name] for name in ("endpoint", "solver") if (plan.get(name) or {}).get("model_dir")}
    return {EMBEDDING: found["endpoint"]} if found and job.kind == LabKind.PARAPHRASES else found
