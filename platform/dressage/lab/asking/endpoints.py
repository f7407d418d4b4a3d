"""Endpoints that jobs ask: which a team may name, and what their processes are told of them."""

from typing import Any

from dressage.common.problems import Problem, invalid
from dressage.lab.arguments import AskingOperation
from dressage.lab.models import ASKING, OPEN, LabJob
from dressage.rewards.judges.selectors import for_workers, judge_endpoints, unfit
from dressage.rewards.models import JudgeEndpoint
from dressage.teams.models import Team


def asked_endpoint(team: Team, operation: AskingOperation) -> JudgeEndpoint:
    """The endpoint that an operation names. Raises a 422 problem where there is none, or it cannot be asked."""
    pointer = "/operation/endpoint"
    found = judge_endpoints(team).filter(slug=operation.endpoint).first()
    if found is None:
        raise invalid(pointer, f"There is no judge endpoint {operation.endpoint!r}.", code="unknown_reference")
    reason = _refusal(found)
    if reason:
        raise invalid(pointer, reason, code="unfit_judge")
    return found


def endpoint_for(job: LabJob) -> dict[str, Any] | None:
    """The endpoint as the job's process is told it, with its key; None for a job that asks none.

    Raises:
        LookupError: with a sentence, where it cannot be asked any more.
    """
    if job.kind not in ASKING:
        return None
    found = judge_endpoints(job.team).filter(slug=job.operation["endpoint"]).first()
    if found is None:
        raise LookupError(f"The judge endpoint {job.operation['endpoint']!r} was deleted meanwhile.")
    reason = _refusal(found)
    if reason:
        raise LookupError(reason)
    try:
        return for_workers(found).wire()
    except Problem as problem:
        raise LookupError(str(problem.detail)) from problem


def job_that_asks(team: Team, slug: str) -> str | None:
    """A sentence that names a job of the team that is not over and asks the judge; None when there is none."""
    jobs = LabJob.objects.for_team(team).filter(state__in=OPEN, operation__endpoint=slug, kind__in=ASKING)
    found = jobs.select_related("version__dataset").order_by("created_at").first()
    if found is None:
        return None
    return f"A job of the lab on {found.version.ref} asks this judge. Wait for its end, or cancel it."


def _refusal(endpoint: JudgeEndpoint) -> str | None:
    if endpoint.policy:
        return (
            f"The cluster serves the judge endpoint {endpoint.slug!r} only while a run needs it. Name one that has an "
            "address."
        )
    return unfit(endpoint)
