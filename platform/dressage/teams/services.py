"""Writes of teams. Every action of a person is recorded in the audit log in the same transaction."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.utils import timezone

from dressage.common.actors import Actor
from dressage.common.api.problems import Problem, conflict, invalid
from dressage.common.roles import Role
from dressage.teams.audit.chain import entry_hash
from dressage.teams.models import ApiToken, AuditEntry, Invitation, Membership, Team, User
from dressage.teams.passwords.rules import check_new_password
from dressage.teams.selectors import is_admin, open_invitations
from dressage.teams.standing import standing_of, with_standing


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
    """Append one entry to the team's chain. Joins the caller's transaction: an action and its entry commit together.

    Args:
        team: the team whose log it is; its row is locked, so that entries of one team are written one after the other.
        actor: who acts.
        action: noun and verb, such as ``dataset.create``.
        target_type: noun of the target.
        target_id: its id.
        before: its previous state, as JSON.
        after: its new state, as JSON. Never a secret.
        reason: the reason in the actor's own words.
    """
    # NO KEY UPDATE: rows that only reference the team do not wait.
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
    """A new team without members. Raises a 409 problem if the slug is taken."""
    if Team.objects.filter(slug=slug).exists():
        raise conflict(f"There is already a team {slug!r}.", code="slug_taken")
    team = Team.objects.create(name=name, slug=slug)
    record_audit(team, actor, "team.create", "team", team.id, after={"name": name, "slug": slug})
    return team


@transaction.atomic
def add_member(team: Team, actor: Actor, user: User, role: Role, *, invitation: str | None = None) -> Membership:
    """Give a person a role in the team. An existing member keeps their membership and role.

    Args:
        team: the team that gets the member.
        actor: who acts: the person who accepts, or the system.
        user: the account that becomes a member.
        role: its role in the team.
        invitation: id of the invitation that was accepted.
    """
    membership, is_new = Membership.objects.get_or_create(team=team, user=user, defaults={"role": role})
    if is_new:
        after = {"email": user.email, "role": role} | ({"invitation": invitation} if invitation else {})
        record_audit(team, actor, "member.add", "member", membership.id, after=after)
    return membership


@contextmanager
def acting_as_admin(team: Team, actor: Actor) -> Iterator[None]:
    """A transaction in which the actor is an admin: no other admin can end that before it commits.

    A request is admitted before it waits for the team's lock, and the wait may be for its own caller's demotion.
    Parts of the platform that act by themselves are admitted.

    Raises:
        Problem: 403 for a person or a token that is not, or no longer, an admin's.
    """
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=team.pk)
        if not _acts_as_admin(team, actor):
            raise Problem(403, "Not allowed", f"This needs the role {Role.ADMIN.value}.", code="permission_denied")
        yield


def _acts_as_admin(team: Team, actor: Actor) -> bool:
    match actor.kind:
        case "user":
            return is_admin(team, actor.id)
        case "token":
            token = with_standing(ApiToken.objects.filter(team=team, pk=actor.id)).first()
            return token is not None and standing_of(token).role == Role.ADMIN
    return True


def change_role(team: Team, actor: Actor, membership: Membership, role: Role) -> Membership:
    """Give a member another role.

    Raises:
        Problem: 403 for an actor who is no longer an admin; 409 if the team would lose its last admin.
    """
    with acting_as_admin(team, actor):
        membership = _present(team, membership)
        if role != Role.ADMIN:
            _keep_an_admin(membership)
        before = {"email": membership.user.email, "role": membership.role}
        membership.role = role
        membership.save(update_fields=["role"])
        if role != Role.ADMIN:
            withdraw_invitations_of(team, actor, membership.user.id)
        record_audit(team, actor, "member.role", "member", membership.id, before=before, after={**before, "role": role})
        return membership


def remove_member(team: Team, actor: Actor, membership: Membership, reason: str = "") -> None:
    """End a membership; its sessions lose the team immediately.

    Raises:
        Problem: 403 for an actor who is no longer an admin; 409 for the last admin.
    """
    with acting_as_admin(team, actor):
        membership = _present(team, membership)
        _keep_an_admin(membership)
        before = {"email": membership.user.email, "role": membership.role}
        identifier = membership.id
        membership.delete()
        record_audit(team, actor, "member.remove", "member", identifier, before=before, reason=reason)
        withdraw_invitations_of(team, actor, membership.user.id)


def withdraw_invitations_of(team: Team, actor: Actor, inviter: str) -> None:
    """End the open invitations of a person who may no longer invite.

    Args:
        team: the team.
        actor: who acts.
        inviter: id of the person.
    """
    for invitation in open_invitations(team).filter(created_by_id=inviter):
        withdraw_invitation(team, actor, invitation)


@transaction.atomic
def withdraw_invitation(team: Team, actor: Actor, invitation: Invitation) -> None:
    """End an offer; its token stops working immediately. Withdrawing twice is the same as once."""
    offers = Invitation.objects.filter(pk=invitation.pk, accepted_at=None, withdrawn_at=None)
    if offers.update(withdrawn_at=timezone.now()):
        before = {"email": invitation.email, "role": invitation.role}
        record_audit(team, actor, "invitation.withdraw", "invitation", invitation.id, before=before)


@transaction.atomic
def change_password(user: User, *, current: str, new: str) -> None:
    """Set the user's own password. Raises a 422 problem if the current one is wrong or the new one is weak."""
    if not user.check_password(current):
        raise invalid("/current", "This is not your current password.", code="wrong_password")
    check_new_password(user, new)
    user.set_password(new)
    user.password_is_temporary = False
    user.save(update_fields=["password", "password_is_temporary"])


def _present(team: Team, membership: Membership) -> Membership:
    """The membership as it is now. Lock the team first: changes to its members run one after the other."""
    found = Membership.objects.select_related("user").filter(team=team, pk=membership.pk).first()
    if found is None:
        raise conflict("This member has just been removed.")
    return found


def _keep_an_admin(leaving: Membership) -> None:
    if is_last_admin(leaving):
        raise conflict("A team keeps at least one admin. Make someone else admin first.", code="last_admin")


def is_last_admin(membership: Membership) -> bool:
    """Whether the team has no other admin. Lock the team first, so that the answer stays true."""
    others = Membership.objects.filter(team=membership.team_id, role=Role.ADMIN).exclude(pk=membership.pk)
    return membership.role == Role.ADMIN and not others.exists()
