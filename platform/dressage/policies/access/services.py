"""Changes to a team's credentials. The audit log records that they were set, never their values."""

import json

from django.db import transaction
from django.utils import timezone

from dressage.common.actors import Actor
from dressage.common.api.problems import not_found
from dressage.common.sealing import Resealed, UnsealError, hold_keys, seal, unseal
from dressage.policies.models import SourceAccess
from dressage.teams.models import Team
from dressage.teams.services import record_audit


@transaction.atomic
def set_credentials(team: Team, actor: Actor, kind: str, credentials: dict[str, str]) -> None:
    """Store the team's encrypted credentials for one kind of place. Replaces earlier ones."""
    hold_keys()  # before any row is locked, because a rotation, which this waits for, locks rows as well
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    replaced = SourceAccess.objects.for_team(team).filter(kind=kind).exists()
    access, _ = SourceAccess.objects.update_or_create(
        team=team,
        kind=kind,
        defaults={
            "credentials_sealed": seal(json.dumps(credentials)),
            "set_by": actor.label,
            "set_at": timezone.now(),
        },
    )
    after = {"kind": kind, "replaced": replaced}
    record_audit(team, actor, "policy_source.set_credentials", "policy_source", access.id, after=after)


@transaction.atomic
def forget_credentials(team: Team, actor: Actor, kind: str) -> None:
    """Delete the team's credentials for one kind of place. Raises a 404 problem if there are none."""
    access = SourceAccess.objects.for_team(team).select_for_update().filter(kind=kind).first()
    if access is None:
        raise not_found("credential")
    record_audit(team, actor, "policy_source.forget_credentials", "policy_source", access.id, before={"kind": kind})
    access.delete()


def seal_credentials_anew() -> Resealed:
    """Re-encrypt all credentials with the newest encryption key. For a rotation, in its transaction."""
    count, unreadable = 0, []
    for access in SourceAccess.objects.select_for_update(of=("self",)).select_related("team"):
        try:
            access.credentials_sealed = seal(unseal(access.credentials_sealed))
        except UnsealError:
            unreadable.append(f"the credentials of the team {access.team.slug} for {access.kind}")
            continue
        access.save(update_fields=["credentials_sealed"])
        count += 1
    return Resealed(count, tuple(unreadable))
