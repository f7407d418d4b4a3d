"""Stored profiles that already contain the result of a stage."""

from typing import Any

from dressage.datasets.models import DatasetVersion
from dressage.policies.models import Policy
from dressage.profiles.models import Profile, ProfileState
from dressage.profiles.outcomes import notes_are_of
from dressage.teams.models import Team
from trainer_core.spec import RunSpec

_WHOLE = ("settled", "most", "budget")
"""Reasons to stop that mean a profile took all the samples of its plan."""


def stored_profile(team: Team, version: DatasetVersion, spec: RunSpec, threshold: float) -> Profile | None:
    """The newest profile of the version with the sampling of the spec and stored outcomes; None if there is none.

    A policy that was registered after the profile counts as a different one, even with the same name.
    """
    policy = Policy.objects.for_team(team).filter(slug=spec.policy.base).first()
    if policy is None:
        return None
    found = Profile.objects.for_team(team).filter(
        version=version,
        state=ProfileState.DONE,
        threshold=threshold,
        spec__policy__base=spec.policy.base,
        spec__reward__definition=spec.reward.definition,
        report__stopped__in=_WHOLE,
        created_at__gte=policy.created_at,
    )
    wanted = _sampling(spec.model_dump(mode="json"))
    kept = set(found.filter(outcomes__isnull=False).values_list("pk", flat=True))
    for profile in found.defer("outcomes").select_related("version__dataset").order_by("-created_at"):
        if _sampling(profile.spec) == wanted and (profile.pk in kept or notes_are_of(profile)):
            return profile
    return None


def _sampling(spec: dict[str, Any]) -> dict[str, Any]:
    """Parts of a spec that affect samples and their grades. The name of its source does not."""
    sources = [{key: value for key, value in one.items() if key != "name"} for one in spec["data"]["sources"]]
    return {"sources": sources, **{part: spec.get(part) for part in ("policy", "reward", "rollout", "thinking")}}
