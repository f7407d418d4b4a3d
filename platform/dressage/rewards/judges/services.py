"""Changes to judge endpoints. The audit log records whether there is a key, never the key itself."""

from typing import Any

from django.db import transaction

from dressage.common.actors import Actor
from dressage.common.api.errors import FieldError
from dressage.common.api.problems import conflict, invalid
from dressage.common.sealing import Resealed, hold_keys
from dressage.common.slugs import slug_for
from dressage.policies.selectors import policy_by_name
from dressage.rewards.judges.records import record_before_change, record_of
from dressage.rewards.judges.secrets import UnsealError, seal, unseal
from dressage.rewards.judges.usage import user_of_judge
from dressage.rewards.models import JudgeEndpoint
from dressage.teams.models import Team
from dressage.teams.services import record_audit

_PLAIN = (
    "name", "base_url", "policy", "model", "max_in_flight", "timeout_s", "retries", "price_prompt", "price_completion",
)  # fmt: skip
_AUDITED = ("slug", *_PLAIN, "has_key")


@transaction.atomic
def create_judge_endpoint(team: Team, actor: Actor, *, name: str, slug: str | None, **fields: Any) -> JudgeEndpoint:
    """Create a judge.

    Raises:
        Problem: 409 if the slug is taken; 422 unless there is either an address or a policy of the team, and for a key
            together with a policy.
    """
    hold_keys()  # before any row is locked, because a rotation, which this waits for, locks rows as well
    slug = slug_for(name, slug)
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    if JudgeEndpoint.objects.for_team(team).filter(slug=slug).exists():
        detail = f"There is already a judge endpoint {slug!r}."
        raise conflict(detail, code="slug_taken", errors=[FieldError(pointer="/slug", detail=detail)])
    endpoint = JudgeEndpoint(team=team, slug=slug, name=name, created_by=actor.label)
    _assign(endpoint, fields)
    endpoint.save(force_insert=True)
    record_audit(team, actor, "judge.create", "judge", endpoint.id, after=_facts(endpoint))
    return endpoint


@transaction.atomic
def update_judge_endpoint(team: Team, actor: Actor, endpoint: JudgeEndpoint, fields: dict[str, Any]) -> JudgeEndpoint:
    """Change the fields in ``fields``. If ``api_key`` is None, the key is deleted.

    Raises:
        Problem: 422 as for a new judge, and if the address changes while a key is stored and ``fields`` has no key;
            409 if that key is for an address that an unfinished run asks.
    """
    hold_keys()  # before the row is locked, as above
    locked = JudgeEndpoint.objects.select_for_update().get(pk=endpoint.pk)
    before, was, had_key = _facts(locked), record_of(locked), locked.has_key
    _assign(locked, fields)
    if record_of(locked) != was:
        record_before_change(team, locked.slug)
    if had_key and locked.base_url != was["base_url"]:
        _require_unused(team, locked.slug)  # the run asks its own address, and the key of that is lost here
    locked.save()
    after = {**_facts(locked), "key_changed": "api_key" in fields}
    record_audit(team, actor, "judge.update", "judge", locked.id, before=before, after=after)
    return locked


@transaction.atomic
def delete_judge_endpoint(team: Team, actor: Actor, endpoint: JudgeEndpoint) -> None:
    """Delete a judge and its key. Raises a 409 problem while it is in use, for example by an unfinished run."""
    locked = JudgeEndpoint.objects.select_for_update().get(pk=endpoint.pk)
    _require_unused(team, locked.slug)
    record_before_change(team, locked.slug)
    record_audit(team, actor, "judge.delete", "judge", locked.id, before=_facts(locked))
    locked.delete()


def seal_keys_anew() -> Resealed:
    """Re-encrypt every stored key with the newest encryption key. For a rotation, in its transaction."""
    count, unreadable = 0, []
    for endpoint in (
        JudgeEndpoint.objects.select_for_update(of=("self",)).select_related("team").exclude(api_key_sealed="")
    ):
        try:
            endpoint.api_key_sealed = seal(unseal(endpoint.api_key_sealed))
        except UnsealError:
            unreadable.append(f"the key of the judge endpoint {endpoint.slug} of the team {endpoint.team.slug}")
            continue
        endpoint.save(update_fields=["api_key_sealed"])
        count += 1
    return Resealed(count, tuple(unreadable))


def _require_unused(team: Team, slug: str) -> None:
    """Raise a 409 problem that names a user of the judge."""
    user = user_of_judge(team, slug)
    if user is not None:
        raise conflict(user, code="judge_in_use")


def _assign(endpoint: JudgeEndpoint, fields: dict[str, Any]) -> None:
    address = endpoint.base_url
    for name in _PLAIN:
        if name in fields:
            value = fields[name]
            setattr(endpoint, name, "" if value is None and name in ("base_url", "policy") else value)
    if "api_key" in fields:
        endpoint.api_key_sealed = seal(fields["api_key"]) if fields["api_key"] else ""
    if bool(endpoint.base_url) == bool(endpoint.policy):
        raise invalid("/base_url", "Give either base_url or policy.")
    if endpoint.policy:
        try:
            policy_by_name(endpoint.team, endpoint.policy)
        except LookupError as error:
            raise invalid("/policy", str(error), code="unknown_reference") from error
        if endpoint.has_key:
            raise invalid("/api_key", "A judge that the cluster serves has no key: null deletes the stored one.")
    elif endpoint.has_key and endpoint.base_url != address and "api_key" not in fields:
        # A user who changes the address must not receive a key that somebody else has entered.
        detail = "The stored key is for another address: enter the key of this one, or null for none."
        raise invalid("/api_key", detail, code="key_needed")


def _facts(endpoint: JudgeEndpoint) -> dict[str, Any]:
    return {name: getattr(endpoint, name) for name in _AUDITED}
