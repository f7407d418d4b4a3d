"""Reads of profiles."""

from django.db.models import QuerySet, Sum

from dressage.common.api.problems import not_found
from dressage.datasets.models import DatasetVersion
from dressage.profiles.models import HandedInBatch, Profile, ProfileState
from dressage.teams.models import Team
from trainer_core.link.profile import ProfileRow
from trainer_core.profiling import RowTally, WrongAnswer


def profiles(version: DatasetVersion) -> QuerySet[Profile]:
    """The profiles of a version, without their reports."""
    found = Profile.objects.for_team(version.dataset.team).filter(version=version)
    return found.defer("report", "outcomes").select_related("version__dataset")


def profile(team: Team, profile_id: str) -> Profile:
    """One profile. Raises a 404 problem."""
    stored = Profile.objects.for_team(team).defer("outcomes").select_related("version__dataset")
    found = stored.filter(id=profile_id).first()
    if found is None:
        raise not_found("profile")
    return found


def handed_in(profile: Profile) -> dict[int, ProfileRow]:
    """The latest submitted state of each row, by row number."""
    found = {}
    for rows in profile.handed_in.order_by("number").values_list("rows", flat=True).iterator(chunk_size=50):
        for row in rows:
            found[row["row"]] = row
    return {number: ProfileRow.model_validate(found[number]) for number in sorted(found)}


def tallies(profile: Profile) -> list[RowTally]:
    """The tally of every row of the version."""
    found = [RowTally()] * profile.version.rows
    for number, row in handed_in(profile).items():
        answers = tuple(WrongAnswer(answer.text, answer.votes) for answer in row.answers)
        found[number] = RowTally(row.asked, row.samples, row.correct, answers)
    return found


def sampled_seconds(profile: Profile) -> float:
    """Seconds that workers have spent sampling, for the batches submitted so far."""
    return float(profile.handed_in.aggregate(seconds=Sum("seconds"))["seconds"] or 0.0)


def measured_speed(team: Team, policy: str) -> tuple[float, float] | None:
    """(Mean tokens of a sample, samples per second) of the policy's newest finished profile; None if there is none."""
    done = Profile.objects.for_team(team).filter(state=ProfileState.DONE, spec__policy__base=policy)
    newest = done.defer("outcomes").order_by("-created_at").first()
    if newest is None or newest.report is None:
        return None
    sums = HandedInBatch.objects.filter(profile=newest).aggregate(tokens=Sum("tokens"), seconds=Sum("seconds"))
    samples = newest.report["asked"]
    return (sums["tokens"] / samples, samples / sums["seconds"]) if samples and sums["seconds"] else None
