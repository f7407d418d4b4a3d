"""Writes of profiles: creation, the batches of their worker, and the end with its notes."""

from collections.abc import Sequence
from typing import Literal

from django.db import transaction

from dressage.cluster_jobs import life as jobs
from dressage.cluster_jobs.places import give_places
from dressage.common.actors import Actor
from dressage.common.api.problems import conflict, invalid, not_found
from dressage.datasets.models import DatasetVersion
from dressage.datasets.versions import notes
from dressage.datasets.versions.notes import NoteSource
from dressage.profiles import selectors
from dressage.profiles.models import HandedInBatch, Profile, ProfileState
from dressage.profiles.outcomes import row_outcomes
from dressage.profiles.report import difficulty_notes, make_report, suspect_notes
from dressage.runs.life.services import require_cluster
from dressage.runs.needs import objective, references
from dressage.teams.models import Team
from dressage.teams.services import record_audit
from trainer_core.link.profile import ProfileBatch, ProfilePlan, ProfileResult
from trainer_core.profiling import RowTally
from trainer_core.rewards import RewardDefinition
from trainer_core.rewards.answers import readings
from trainer_core.spec import RunSpec

LIMIT_S = 6 * 3600.0
"""Seconds of sampling, summed over all workers, after which a profile ends with the samples it has."""
LEAST_LIMIT_S = 900.0
"""Minimum number of seconds for each worker, because its engine must start first."""
MAX_OPEN = 3
"""Profiles of one team that may be waiting or running at a time."""
MAX_ROWS = 200_000
"""Maximum number of rows of a version."""
FEWEST_FIRST = 2
"""Lower limit on the first samples of a plan."""


def version_of(team: Team, spec: RunSpec) -> DatasetVersion:
    """The version of a spec, after checking that all references resolve and its files exist.

    Raises:
        Problem: 422 for a reference that does not exist, an objective that samples nothing, more than one source, or a
            version that is too large.
    """
    objective.require_samples(spec, "A profile")
    if len(spec.data.sources) != 1 or spec.evaluation.sources:
        raise invalid("/spec/data/sources", "A profile covers one version: give one source, and none for evaluation.")
    found = references.require_files(team, spec, new=True)
    version = found.datasets[spec.data.sources[0].dataset]
    if version.dataset.team_id != team.id:
        detail = (
            f"{version.ref} is shared with your team read-only, and a profile writes notes: derive your own version."
        )
        raise invalid("/spec/data/sources/0/dataset", detail, code="shared_dataset")
    if version.rows > MAX_ROWS:
        detail = f"{version.ref} has {version.rows:,} rows; a profile accepts {MAX_ROWS:,}: create a smaller version."
        raise invalid("/spec/data/sources/0/dataset", detail)
    return version


def require_budget(version: DatasetVersion, plan: ProfilePlan) -> None:
    """Require that every row gets its first samples. Raises a 422 problem that states a sufficient budget."""
    needed = version.rows * plan.first
    if plan.budget >= needed:
        return
    first = plan.budget // version.rows
    way = f"first: {first}" if first >= FEWEST_FIRST else "a version of fewer rows"
    detail = (
        f"{version.ref} has {version.rows:,} rows, and {plan.first} first samples each need {needed:,}: {plan.budget:,}"
        f" leave rows without any. Set a budget of {needed:,}, or {way}."
    )
    raise invalid("/plan/budget", detail)


@transaction.atomic
def create_profile(
    team: Team,
    actor: Actor,
    *,
    spec: RunSpec,
    plan: ProfilePlan,
    threshold: float | None = None,
    cluster: str | None = None,
) -> Profile:
    """A new profile; its cluster is notified on commit, once the profile has its slot.

    Args:
        team: the owner.
        actor: who requests it.
        spec: a run's spec over only the version: its policy, reward, prompt format and sampling are used.
        plan: limits of the sampling.
        threshold: minimum reward at which an answer counts as right; None for that of the reward's definition.
        cluster: name of the cluster that should do it; None leaves it to the platform.

    Raises:
        Problem: 422 as ``version_of``, for a cluster that does not exist, or for a budget too small to give every row
            its first samples; 429 if too many profiles of the team are open. Nothing is created.
    """
    require_cluster(cluster)
    references.hold(team, spec)
    version = version_of(team, spec)
    require_budget(version, plan)
    reward = references.require(team, spec).reward
    assert reward is not None
    jobs.require_room(Profile, team, MAX_OPEN, code="too_many_profiles", retry_after_s=60)
    profile = jobs.create_job(
        Profile,
        team,
        actor,
        version=version,
        spec=spec.model_dump(mode="json"),
        plan=plan.model_dump(mode="json"),
        threshold=RewardDefinition.model_validate(reward.definition).success_threshold
        if threshold is None
        else threshold,
        cluster=cluster or "",
    )
    facts = {"version": version.ref, "policy": spec.policy.base, "budget": plan.budget}
    record_audit(team, actor, "profile.create", "profile", profile.id, after=facts)
    give_places(Profile)
    return profile


@transaction.atomic
def cancel_profile(team: Team, actor: Actor, profile_id: str) -> Profile:
    """Cancel a profile; its worker stops by itself. Cancelling it again changes nothing.

    Raises:
        Problem: 404 if it does not exist, 409 if it is over.
    """
    profile = Profile.objects.for_team(team).select_for_update().filter(pk=profile_id).first()
    if profile is None:
        raise not_found("profile")
    if jobs.cancel(profile):
        _forget_rows(profile)
        record_audit(team, actor, "profile.cancel", "profile", profile.id)
    return profile


@transaction.atomic
def take_batch(profile_id: str, batch: ProfileBatch) -> Profile:
    """Store rows that a worker submits; the same batch may be sent again.

    Raises:
        Problem: 409 if the profile is over, or another worker has submitted a batch with this number; 422 for a row
            that does not exist in the version.
    """
    profile = Profile.objects.select_for_update(of=("self",)).select_related("version").get(pk=profile_id)
    jobs.require_open(profile)
    rows = [row.model_dump(mode="json") for row in batch.rows]
    if batch.number < profile.batches:
        known = profile.handed_in.get(number=batch.number)
        if known.rows == rows:
            return profile
    if batch.number != profile.batches:
        raise conflict(f"Batch {profile.batches} is the next one, not {batch.number}.", code="another_batch")
    if any(row.row >= profile.version.rows for row in batch.rows):
        raise invalid("/rows", f"The version has {profile.version.rows} rows.")
    HandedInBatch.objects.create(
        profile=profile, number=batch.number, rows=rows, tokens=batch.tokens, seconds=batch.seconds
    )
    profile.batches += 1
    profile.tries = 1  # a worker that makes progress does not count as lost
    profile.save(update_fields=["batches", "tries"])
    return profile


@transaction.atomic
def take_result(profile_id: str, result: ProfileResult) -> Profile:
    """Take a worker's result; the first one counts and may be repeated. Creates the report and the row notes.

    If the worker failed, samples submitted before are kept. Raises a 409 problem if the profile is over.
    """
    found = Profile.objects.select_for_update(of=("self",)).select_related("version__dataset", "team")
    profile = found.get(pk=profile_id)
    if profile.state == ProfileState.DONE and result.stopped is not None:
        return profile
    jobs.require_open(profile)
    if result.stopped is None:
        return end_early(profile, "lost", result.error or "The worker gave no reason.")
    tallies = selectors.tallies(profile)
    if not any(tally.samples for tally in tallies):
        return jobs.fail(profile, "No sample could be graded: test the reward on the bench with one of the rows.")
    return _keep(profile, tallies, result.stopped, result.votes, result.warnings)


@transaction.atomic
def end_early(profile: Profile, stopped: Literal["lost", "time"], reason: str) -> Profile:
    """End a profile that no worker continues. The caller has locked its row.

    It is done with the samples submitted so far, and its report warns of the reason. Without any samples it fails.
    """
    tallies = selectors.tallies(profile)
    if not any(tally.samples for tally in tallies):
        return jobs.fail(profile, reason)
    return _keep(profile, tallies, stopped, any(tally.answers for tally in tallies), (reason,))


def _keep(
    profile: Profile, tallies: Sequence[RowTally], stopped: str, reads_answers: bool, warnings: Sequence[str]
) -> Profile:
    """Create the report and the notes from the tallies; the profile is then done."""
    report, found_golds = make_report(
        profile.version,
        ProfilePlan.model_validate(profile.plan),
        tallies,
        stopped=stopped,
        reads_answers=reads_answers,
        reference=reference_of(profile),
        warnings=warnings,
    )
    profile.report = dict(report)
    profile.outcomes = dict(row_outcomes(tallies, found_golds))
    profile.save(update_fields=["report", "outcomes"])
    by = Actor("user", "", profile.created_by)
    arguments = {"policy": profile.spec["policy"]["base"], "reward": profile.spec["reward"]["definition"]}
    source: NoteSource = {"kind": "profile", "id": profile.id, "arguments": arguments}
    notes.write(profile.version, "difficulty", difficulty_notes(tallies), by=by, source=source)
    if reads_answers:
        notes.write(profile.version, "suspect", suspect_notes(tallies, found_golds), by=by, source=source)
    _forget_rows(profile)
    return jobs.end(profile, ProfileState.DONE)


def _forget_rows(profile: Profile) -> None:
    """Delete the submitted rows, which are not read once it is over; their tokens and seconds remain."""
    profile.handed_in.update(rows=[])


def reference_of(profile: Profile) -> str:
    """Field of the rows that the reward compares answers with: the one that holds the golds."""
    reward = references.resolve(profile.team, RunSpec.model_validate(profile.spec)).reward
    places = () if reward is None else readings(RewardDefinition.model_validate(reward.definition))
    return next((place.reference for place in places if place.reference is not None), "answer")
