"""The judges that a reward version was made with: their addresses and models are part of it.

A definition names an endpoint by its slug, and an endpoint can be patched, or deleted and created anew. So each version
records what its slugs meant when it was made. Versions of earlier releases are recorded at their next use, and before
an endpoint that they name is changed.
"""

import copy
import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress

from django.db import transaction
from pydantic import ValidationError
from typing_extensions import TypedDict

from dressage.rewards.models import JudgeEndpoint, RewardVersion
from dressage.teams.models import Team
from trainer_core.rewards import RewardDefinition


class JudgeRecord(TypedDict):
    """Identity of a judge. Its key, limits and prices are not part of it."""

    base_url: str
    """Address of its API; empty if the cluster serves ``policy``."""
    policy: str
    """Slug of the policy that the cluster serves; empty if there is an address."""
    model: str


Records = Mapping[str, JudgeRecord]
"""Judges by slug."""


def record_of(endpoint: JudgeEndpoint) -> JudgeRecord:
    """Record of an endpoint as it is now."""
    return JudgeRecord(base_url=endpoint.base_url, policy=endpoint.policy, model=endpoint.model)


def current(team: Team, slugs: Collection[str]) -> dict[str, JudgeRecord]:
    """Records of slugs as they are now; those without an endpoint are left out."""
    if not slugs:
        return {}
    return {one.slug: record_of(one) for one in JudgeEndpoint.objects.for_team(team).filter(slug__in=slugs)}


def recorded(team: Team, version: RewardVersion, *, only: Collection[str] | None = None) -> Records:
    """The judges of a version. Slugs that are not recorded yet are recorded as what they mean now.

    Args:
        team: the owner of the version.
        version: brought up to date.
        only: record no other slugs than these; None records all.
    """
    left = _unrecorded(version) if only is None else _unrecorded(version) & set(only)
    found = current(team, left)
    if found:
        with transaction.atomic():
            locked = RewardVersion.objects.select_for_update(of=("self",)).get(pk=version.pk)
            locked.judges = {**found, **(locked.judges or {})}
            locked.save(update_fields=["judges"])
        version.judges = locked.judges
    return version.judges or {}


def record_before_change(team: Team, slug: str) -> None:
    """Record an endpoint in every version that names it without a record. For a transaction that changes it."""
    for version in RewardVersion.objects.for_team(team):
        # The text is searched first, because reading a definition is slow and most name other judges or none.
        if slug in (version.judges or {}) or slug not in json.dumps(version.definition):
            continue
        with suppress(ValidationError):  # a plug-in of its graders is not installed: it cannot be used either
            recorded(team, version, only=[slug])


def faults(team: Team, version: RewardVersion) -> Iterator[str]:
    """A sentence for every judge of a version that is now another one. Unrecorded and missing ones have no fault."""
    before: Records = version.judges or {}
    now = current(team, before.keys())
    for slug, was in before.items():
        if slug in now and now[slug] != was:
            yield (
                f"The judge endpoint {slug!r} was {_described(was)} when this version was made, and is now "
                f"{_described(now[slug])}. Create a new version of the reward, or change the endpoint back."
            )


def conflicts(versions: Mapping[str, RewardVersion]) -> Iterator[tuple[str, str]]:
    """(reference, sentence) for every version that means another judge by a slug than an earlier one of them."""
    meant: dict[str, tuple[str, JudgeRecord]] = {}
    for ref, version in versions.items():
        for slug, record in (version.judges or {}).items():
            other, known = meant.setdefault(slug, (ref, record))
            if known != record:
                yield (
                    ref,
                    f"By the judge endpoint {slug!r}, {ref} means {_described(record)}, and {other} means "
                    f"{_described(known)}. A run can use only one of them: create new versions, and fork the run.",
                )


def as_recorded(endpoint: JudgeEndpoint, records: Records) -> JudgeEndpoint:
    """The endpoint as the address and model in ``records``; unsaved if it has been changed since.

    A key goes to no other address than the one it was entered for, so that of a new address is left out.
    """
    record = records.get(endpoint.slug)
    if record is None or record == record_of(endpoint):
        return endpoint
    former = copy.copy(endpoint)
    if record["base_url"] != endpoint.base_url:
        former.api_key_sealed = ""
    former.base_url, former.policy, former.model = record["base_url"], record["policy"], record["model"]
    return former


def _unrecorded(version: RewardVersion) -> set[str]:
    return set(RewardDefinition.model_validate(version.definition).endpoints) - (version.judges or {}).keys()


def _described(record: JudgeRecord) -> str:
    place = f"at {record['base_url']}" if record["base_url"] else f"served from the policy {record['policy']!r}"
    return f"the model {record['model']!r} {place}"
