"""Writes of teams. Every act of a person is recorded in the audit log in the same transaction."""

import json
import secrets
from datetime import datetime, timedelta
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.utils import timezone

from dressage.common.actors import Actor
from dressage.common.problems import conflict, invalid
from dressage.common.roles import Role
from dressage.common.secrets import secret_hash
from dressage.teams.audit import entry_hash
from dressage.teams.models import ApiToken, AuditEntry, Membership, Team, User
from dressage.teams.passwords import check_new_password
from dressage.teams.selectors import active_token

_PASSWORD_BYTES = 12
_TOKEN_BYTES = 32
_USED_AT_RESOLUTION = timedelta(minutes=1)


@transaction.atomic
def record_audit(
    team: Team,
    actor: Actor,
    action: str,
    target_type: str,
    target_id: str,
    before: Any = None,
    after: Any = None,
    reason: str = "",
) -> AuditEntry:
    """Append one entry to the team's chain. Joins the caller's transaction: an act and its entry commit together.

    Args:
        team: the team whose log it is; its row is locked, so that entries of one team are in a line.
        actor: who acts.
        action: verb with its noun, such as ``dataset.create``.
        target_type: noun of what is acted on.
        target_id: its id.
        before: what it was, as JSON.
        after: what it is now, as JSON. Never a secret.
        reason: the actor's own words.
    """
    # NO KEY UPDATE: rows that only point to the team do not wait.
    locked = Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    entry = AuditEntry(
        team=locked,
        number=locked.audit_length + 1,
        actor_kind=actor.kind,
        actor_id=actor.id,
        actor_name=actor.name,
        action=action,
        target_type=target_type,
        target_id=target_id,
        before_json=json.dumps(before, cls=DjangoJSONEncoder),
        after_json=json.dumps(after, cls=DjangoJSONEncoder),
        reason=reason,
        previous_hash=locked.audit_head,
    )
    entry.hash = entry_hash(entry)
    entry.save(force_insert=True)
    locked.audit_length, locked.audit_head = entry.number, entry.hash
    locked.save(update_fields=["audit_length", "audit_head"])
    return entry


@transaction.atomic
def create_team(actor: Actor, *, name: str, slug: str) -> Team:
    """A new team without members. Raises a 409 problem when the slug is taken."""
    if Team.objects.filter(slug=slug).exists():
        raise conflict(f"There is already a team {slug!r}.", code="slug_taken")
    team = Team.objects.create(name=name, slug=slug)
    record_audit(team, actor, "team.create", "team", team.id, after={"name": name, "slug": slug})
    return team


@transaction.atomic
def add_member(team: Team, actor: Actor, *, email: str, role: Role, name: str = "") -> tuple[Membership, str | None]:
    """Give a person a role in the team.

    Returns:
        The membership, and the generated password of a new user, shown this once; None for a user who has one.

    Raises:
        Problem: 409 when the person is a member already.
    """
    email = email.strip().lower()
    user, password = User.objects.filter(email=email).first(), None
    if user is None:
        password = secrets.token_urlsafe(_PASSWORD_BYTES)
        user = User.objects.create_user(email, password, name=name, password_is_temporary=True)
    if Membership.objects.filter(team=team, user=user).exists():
        raise conflict(f"{email} is a member already.", code="already_member")
    membership = Membership.objects.create(team=team, user=user, role=role)
    record_audit(team, actor, "member.add", "member", membership.id, after={"email": email, "role": role})
    return membership, password


@transaction.atomic
def change_role(team: Team, actor: Actor, membership: Membership, role: Role) -> Membership:
    """Give a member another role. Raises a 409 problem when the team would lose its last admin."""
    membership = _locked(team, membership)
    if role != Role.ADMIN:
        _keep_an_admin(team, membership)
    before = {"email": membership.user.email, "role": membership.role}
    membership.role = role
    membership.save(update_fields=["role"])
    record_audit(team, actor, "member.role", "member", membership.id, before=before, after={**before, "role": role})
    return membership


@transaction.atomic
def remove_member(team: Team, actor: Actor, membership: Membership) -> None:
    """End a membership; its sessions lose the team at once. Raises a 409 problem for the last admin."""
    membership = _locked(team, membership)
    _keep_an_admin(team, membership)
    before = {"email": membership.user.email, "role": membership.role}
    identifier = membership.id
    membership.delete()
    record_audit(team, actor, "member.remove", "member", identifier, before=before)


@transaction.atomic
def create_token(
    team: Team, actor: Actor, *, name: str, role: Role, expires_at: datetime | None
) -> tuple[ApiToken, str]:
    """A new API token and its secret, which is shown this once. Raises a 422 problem for a time in the past."""
    if expires_at is not None and expires_at <= timezone.now():
        raise invalid("/expires_at", "The time of expiry must be in the future.")
    secret = "drs_" + secrets.token_urlsafe(_TOKEN_BYTES)
    token = ApiToken.objects.create(
        team=team,
        name=name,
        prefix=secret[:12],
        sha256=secret_hash(secret),
        role=role,
        created_by=actor.label,
        expires_at=expires_at,
    )
    after = {"name": name, "role": role, "expires_at": expires_at}
    record_audit(team, actor, "token.create", "token", token.id, after=after)
    return token, secret


def use_token(secret: str) -> ApiToken | None:
    """The token of this secret unless revoked or expired. Its row tells, to the minute, when it was last used."""
    token, now = active_token(secret), timezone.now()
    if token and (token.last_used_at is None or now - token.last_used_at > _USED_AT_RESOLUTION):
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token


@transaction.atomic
def revoke_token(team: Team, actor: Actor, token: ApiToken) -> None:
    """End a token now. Revoking twice is the same as once."""
    if ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()):
        record_audit(team, actor, "token.revoke", "token", token.id, before={"name": token.name, "role": token.role})


@transaction.atomic
def change_password(user: User, *, current: str, new: str) -> None:
    """Set the user's own password. Raises a 422 problem for a wrong current or a weak new one."""
    if not user.check_password(current):
        raise invalid("/current", "This is not your current password.", code="wrong_password")
    check_new_password(user, new)
    user.set_password(new)
    user.password_is_temporary = False
    user.save(update_fields=["password", "password_is_temporary"])


def _locked(team: Team, membership: Membership) -> Membership:
    """The membership as it is now; changes to one team's members happen one after the other."""
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    found = Membership.objects.select_related("user").filter(team=team, pk=membership.pk).first()
    if found is None:
        raise conflict("This member has just been removed.")
    return found


def _keep_an_admin(team: Team, leaving: Membership) -> None:
    others = Membership.objects.filter(team=team, role=Role.ADMIN).exclude(pk=leaving.pk)
    if leaving.role == Role.ADMIN and not others.exists():
        raise conflict("A team keeps at least one admin. Make someone else admin first.", code="last_admin")
