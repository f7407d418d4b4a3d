"""The cost of both stages before anything is sampled, with all warnings."""

from typing import Literal

from typing_extensions import TypedDict

from dressage.common.api.errors import FieldError
from dressage.common.api.problems import Problem
from dressage.common.openapi.document_schema import Moment
from dressage.common.slugs import slug_for
from dressage.common.times import iso
from dressage.datasets.models import DatasetVersion
from dressage.datasets.quota.usage import require_quota
from dressage.datasets.services import require_free
from dressage.profiles.cost import ProfileCost, cost_of
from dressage.profiles.goldilocks.asked import AskedGoldilocks, StageName
from dressage.profiles.goldilocks.stored import stored_profile
from dressage.profiles.services import require_budget, version_of
from dressage.teams.models import Team

_SECOND = {"/spec/policy/base": "/second/policy", "/plan": "/second/plan"}
"""Pointers in the request for faults of the second stage's profile."""


class GoldilocksStageCost(TypedDict):
    """Estimated cost of one stage."""

    stage: StageName
    policy: str
    reuses: Literal["stored", "first"] | None
    """The profile that replaces sampling: a stored one, or the first stage's; null: the stage samples."""
    profile: str | None
    """Id of the stored profile."""
    measured_at: Moment | None
    samples: int | None
    """Number of samples in the stored profile."""
    cost: ProfileCost | None
    """Null if nothing is sampled."""


class GoldilocksCost(TypedDict):
    """Estimated cost of a goldilocks."""

    stages: list[GoldilocksStageCost]
    warnings: list[str]


def cost_of_goldilocks(team: Team, asked: AskedGoldilocks) -> GoldilocksCost:
    """The cost.

    Raises:
        Problem: 409 if the slug of the new dataset is taken, or if the version with all its rows would exceed the
            team's quota; 422 for a reference that does not exist, or a budget too small to give every row its first
            samples.
    """
    version = require_stages(team, asked)
    _require_room(team, version, asked)
    stages: list[GoldilocksStageCost] = []
    for stage in asked.stages:
        stages.append(_cost_of_stage(team, version, asked, stage))
    warnings = []
    if asked.second is not None and asked.second.policy == asked.spec.policy.base:
        warnings.append(
            f"Both stages use {asked.second.policy}. Only a stronger policy can separate rows that are too hard from"
            " wrong ones: choose one for stage two."
        )
    return {"stages": stages, "warnings": warnings}


def require_stages(team: Team, asked: AskedGoldilocks) -> DatasetVersion:
    """The version, after checking that every stage can profile it. Raises a 422 problem that points to the obstacle."""
    for stage in asked.stages:
        try:
            version = version_of(team, asked.spec_of(stage))
            require_budget(version, asked.plan_of(stage))
        except Problem as problem:
            if stage == "second":
                problem.errors = [_of_second(error) for error in problem.errors]
            raise
    return version


def _of_second(error: FieldError) -> FieldError:
    pointer = error["pointer"]
    for before, after in _SECOND.items():
        if pointer == before or pointer.startswith(f"{before}/"):
            return FieldError(pointer=after + pointer.removeprefix(before), detail=error["detail"])
    return error


def _require_room(team: Team, version: DatasetVersion, asked: AskedGoldilocks) -> None:
    """Require that the version with all its rows fits the quota, so that this is known before sampling."""
    pointer = "/into/slug"
    try:
        if asked.into is not None:
            require_free(team, slug_for(asked.into.name, asked.into.slug))
        pointer = "/spec/data/sources/0/dataset"
        require_quota(team.id, bytes=version.bytes, rows=version.rows)
    except Problem as problem:
        problem.errors = [FieldError(pointer=pointer, detail=problem.detail)]
        raise


def _cost_of_stage(
    team: Team, version: DatasetVersion, asked: AskedGoldilocks, stage: StageName
) -> GoldilocksStageCost:
    spec, plan = asked.spec_of(stage), asked.plan_of(stage)
    stored = stored_profile(team, version, spec, asked.threshold) if asked.reuse else None
    again = asked.reuse and stage == "second" and spec.policy.base == asked.spec.policy.base
    sampled = stored is None and not again
    return {
        "stage": stage,
        "policy": spec.policy.base,
        "reuses": "stored" if stored is not None else "first" if again else None,
        "profile": None if stored is None else stored.id,
        "measured_at": None if stored is None else iso(stored.finished_at),
        "samples": None if stored is None or stored.report is None else stored.report["asked"],
        "cost": cost_of(team, version, spec, plan) if sampled else None,
    }
