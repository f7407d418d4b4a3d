"""Writes of rehearsals. They create no part of a run."""

from django.db import transaction

from dressage.cluster_jobs import life as jobs
from dressage.cluster_jobs.places import give_places
from dressage.common.actors import Actor
from dressage.common.api.problems import invalid, not_found
from dressage.rehearsals.models import Rehearsal, RehearsalState
from dressage.rehearsals.step_time import step_time
from dressage.runs.facts import selectors
from dressage.runs.facts.places import sizes
from dressage.runs.life.services import require_cluster
from dressage.runs.needs import objective, references
from dressage.teams.models import Team
from dressage.teams.services import record_audit
from trainer_core.link.rehearsal import RehearsalReport
from trainer_core.spec import RunSpec

LIMIT_S = 600.0
"""Time limit of a worker, in seconds."""
MAX_OPEN = 3
"""Rehearsals of one team that may be waiting or running at a time."""
MAX_ANSWERS = 256
"""Maximum number of answers of one rehearsal, over all sources."""


@transaction.atomic
def create_rehearsal(
    team: Team, actor: Actor, *, spec: RunSpec, prompts: int, samples: int, cluster: str | None = None
) -> Rehearsal:
    """A new rehearsal; its cluster is notified on commit, once the rehearsal has its slot.

    Args:
        team: the owner.
        actor: who requests it.
        spec: valid in itself; its references are resolved here, and their files must exist.
        prompts: number of prompts from each source.
        samples: number of samples for each prompt.
        cluster: name of the cluster that should run it; None leaves it to the platform.

    Raises:
        Problem: 422 for a reference or a cluster that does not exist, or for too many answers; 429 if too many
            rehearsals of the team are open. Nothing is created.
    """
    require_cluster(cluster)
    objective.require_samples(spec, "A dry run")
    references.hold(team, spec)
    references.require_files(team, spec, new=True)
    answers = prompts * samples * len(spec.data.sources)
    if answers > MAX_ANSWERS:
        raise invalid("/samples", f"These are {answers} answers; a dry run has at most {MAX_ANSWERS}: use fewer.")
    jobs.require_room(Rehearsal, team, MAX_OPEN, code="too_many_rehearsals", retry_after_s=10)
    columns = {"prompts": prompts, "samples": samples, "cluster": cluster or ""}
    rehearsal = jobs.create_job(Rehearsal, team, actor, spec=spec.model_dump(mode="json"), **columns)
    facts = {"policy": spec.policy.base, "prompts": prompts, "samples": samples}
    if cluster is not None:
        facts["cluster"] = cluster
    record_audit(team, actor, "rehearsal.create", "rehearsal", rehearsal.id, after=facts)
    give_places(Rehearsal)
    return rehearsal


def cluster_of(team: Team, run_id: str) -> str | None:
    """The cluster of a run: the one that people chose, otherwise the one it was last on.

    None, for any, if the run has neither, or if that cluster is gone or away. Raises a 422 problem for an unknown run.
    """
    run = selectors.runs(team).filter(pk=run_id).first()
    if run is None:
        raise invalid("/run", f"There is no run {run_id} in this team.")
    name = run.cluster or run.placed_on
    return name if any(size.name == name and not size.away for size in sizes()) else None


@transaction.atomic
def cancel_rehearsal(team: Team, actor: Actor, rehearsal_id: str) -> Rehearsal:
    """Cancel a rehearsal; its worker stops by itself. Cancelling it again changes nothing.

    Raises:
        Problem: 404 if it does not exist, 409 if it is over.
    """
    rehearsal = Rehearsal.objects.for_team(team).select_for_update().filter(pk=rehearsal_id).first()
    if rehearsal is None:
        raise not_found("rehearsal")
    if jobs.cancel(rehearsal):
        record_audit(team, actor, "rehearsal.cancel", "rehearsal", rehearsal.id)
    return rehearsal


@transaction.atomic
def take_result(rehearsal_id: str, report: RehearsalReport | None, error: str | None) -> Rehearsal:
    """Store a worker's answer; the first one counts and may be repeated. Raises a 409 problem if it is over."""
    rehearsal = Rehearsal.objects.select_for_update().get(pk=rehearsal_id)
    document = None if report is None else report.model_dump(mode="json")
    if rehearsal.state == RehearsalState.DONE and document is not None and document == rehearsal.report:
        return rehearsal
    jobs.require_open(rehearsal)
    if report is None:
        return jobs.fail(rehearsal, error or "The worker gave no reason.")
    rehearsal.report = document
    rehearsal.step_time = step_time(rehearsal.team, RunSpec.model_validate(rehearsal.spec), report)
    rehearsal.save(update_fields=["report", "step_time"])
    return jobs.end(rehearsal, RehearsalState.DONE)
