"""Accounts: how they are created, and how an account ends whose owner is unknown."""

from collections.abc import Iterable

from django.db import connection, transaction

from dressage.common.actors import Actor
from dressage.teams.models import Membership, Team, User
from dressage.teams.services import is_last_admin, record_audit, remove_member, withdraw_invitations_of


def make_account(email: str, password_hash: str, *, name: str = "", proven: bool, temporary: bool = False) -> User:
    """A new account. ``password_hash`` is the output of ``make_password``; ``email`` is in lower case."""
    user = User(
        email=email,
        name=name,
        password=password_hash,
        address_proven=proven,
        password_is_temporary=temporary,
    )
    user.save(force_insert=True)
    return user


def hold_address(email: str) -> None:
    """Wait until no other transaction creates or ends an account with this address, and make others wait."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"account {email}"])


def hold_teams(teams: Iterable[str]) -> None:
    """Lock the rows of several teams, always in the same order, to prevent deadlocks."""
    list(Team.objects.select_for_update(no_key=True).filter(pk__in=teams).order_by("pk"))


@transaction.atomic
def retire_account(user: User, actor: Actor, reason: str) -> None:
    """End an account and its memberships for good, and free its address.

    Raises:
        Problem: 409 if a team would lose its last admin.
    """
    for membership in _held_memberships(user):
        remove_member(membership.team, actor, membership, reason)
    _end(user)


@transaction.atomic
def replace_account(
    old: User, actor: Actor, reason: str, *, password_hash: str, name: str, proven: bool, keeps_teams: bool
) -> User:
    """End an account and create another with its address.

    Args:
        old: the account whose owner is unknown.
        actor: who acts.
        reason: for the audit logs of its teams.
        password_hash: output of ``make_password``.
        name: the person's name; by default that of the old account.
        proven: whether the address is known to belong to the new account's owner.
        keeps_teams: whether the memberships are transferred. If not, they end, except in teams that would be left
            without an admin.
    """
    kept = []
    for membership in _held_memberships(old):
        if keeps_teams or is_last_admin(membership):
            kept.append(membership)
        else:
            remove_member(membership.team, actor, membership, reason)
    address, name = old.email, name or old.name
    _end(old)
    user = make_account(address, password_hash, name=name, proven=proven)
    for membership in kept:
        membership.user = user
        membership.save(update_fields=["user"])
        before, after = {"user": old.id}, {"user": user.id, "email": address}
        record_audit(membership.team, actor, "member.account", "member", membership.id, before, after, reason)
        withdraw_invitations_of(membership.team, actor, old.id)
    return user


def _held_memberships(user: User) -> list[Membership]:
    """The memberships of a user, with their teams locked."""
    hold_teams(Membership.objects.filter(user=user).values_list("team_id", flat=True))
    return list(Membership.objects.filter(user=user).select_related("team", "user"))


def _end(user: User) -> None:
    """Leave the row inactive, without its password and its address.

    From now on, sessions, tokens, second factors and anything else that refers to it are worthless.
    """
    user.email = f"{user.id.lower()}@retired.invalid"
    user.is_active = False
    user.set_unusable_password()
    user.save(update_fields=["email", "is_active", "password"])
