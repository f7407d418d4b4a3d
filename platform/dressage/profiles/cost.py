"""The estimated cost of a profile."""

from typing import Literal

from typing_extensions import TypedDict

from dressage.datasets.models import DatasetVersion
from dressage.profiles.selectors import measured_speed
from dressage.rehearsals.models import Rehearsal, RehearsalState
from dressage.teams.models import Team
from trainer_core.link.profile import ProfilePlan
from trainer_core.spec import RunSpec


class ProfileCost(TypedDict):
    """Estimated cost of a profile."""

    rows: int
    min_samples: int
    """Minimum number of samples."""
    max_samples: int
    tokens_per_sample: float
    """Mean length of an answer: as measured, otherwise the maximum length."""
    min_tokens: int
    max_tokens: int
    min_seconds: float | None
    """Time on the cluster; null if no profile or rehearsal with this policy has measured its speed."""
    max_seconds: float | None
    measured_by: Literal["profile", "rehearsal"] | None


def cost_of(team: Team, version: DatasetVersion, spec: RunSpec, plan: ProfilePlan) -> ProfileCost:
    """The cost, based on measurements of the newest profile or rehearsal with the policy."""
    length, per_second, source = _measured(team, spec)
    most = min(plan.budget, version.rows * plan.most)
    least = version.rows * plan.first
    return {
        "rows": version.rows,
        "min_samples": least,
        "max_samples": most,
        "tokens_per_sample": length,
        "min_tokens": round(least * length),
        "max_tokens": round(most * length),
        "min_seconds": None if per_second is None else least / per_second,
        "max_seconds": None if per_second is None else most / per_second,
        "measured_by": source,
    }


def _measured(team: Team, spec: RunSpec) -> tuple[float, float | None, Literal["profile", "rehearsal"] | None]:
    policy = spec.policy.base
    if (found := measured_speed(team, policy)) is not None:
        return *found, "profile"
    done = Rehearsal.objects.for_team(team).filter(state=RehearsalState.DONE, spec__policy__base=policy)
    rehearsal = done.order_by("-created_at").first()
    report = rehearsal.report if rehearsal is not None else None
    lengths = [sample["tokens"] for group in (report or {"groups": ()})["groups"] for sample in group["samples"]]
    if report is None or not any(lengths):
        return float(spec.rollout.max_tokens), None, None
    length = sum(lengths) / len(lengths)
    return length, report["speed"]["tokens_per_s"] / length, "rehearsal"
