"""Writes of API tokens: create, use, hand over, revoke."""

import secrets
from datetime import datetime, timedelta
from ipaddress import ip_address

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from dressage.common.actors import Actor
from dressage.common.api.problems import conflict, invalid
from dressage.common.roles import Role
from dressage.common.scopes import Scope
from dressage.common.secrets import secret_hash
from dressage.teams.models import ApiToken, Membership, ServiceAccount, Team, User
from dressage.teams.selectors import token_of_secret
from dressage.teams.services import record_audit
from dressage.teams.standing import REFUSALS, standing_of

_TOKEN_BYTES = 32
_USED_AT_RESOLUTION = timedelta(minutes=1)


class TokenRefused(Exception):
    """A token that does not act; the message gives its holder the reason."""


@transaction.atomic
def create_token(
    team: Team,
    actor: Actor,
    *,
    name: str,
    role: Role,
    owner: User | ServiceAccount,
    scopes: list[Scope] | None = None,
    expires_at: datetime | None = None,
) -> tuple[ApiToken, str]:
    """A new API token and its secret, which is shown only this once.

    Args:
        team: the team that it acts for.
        actor: who creates it.
        name: what it is for.
        role: its maximum role; never more than its owner's.
        owner: a member of the team, or one of its service accounts.
        scopes: limits within that role; None for all scopes.
        expires_at: its end; None for the installation's default.

    Raises:
        Problem: 422 for an end that is past or too far away, for a role beyond the owner's, and for a disabled account.
    """
    held = _role_of(team, owner)
    if not held.covers(role):
        raise invalid("/role", f"A token may not do more than its owner, whose role is {held.value}.")
    secret = "drs_" + secrets.token_urlsafe(_TOKEN_BYTES)
    token = ApiToken.objects.create(
        team=team,
        name=name,
        prefix=secret[:12],
        sha256=secret_hash(secret),
        role=role,
        scopes=None if scopes is None else sorted(set(scopes)),
        user=owner if isinstance(owner, User) else None,
        service_account=owner if isinstance(owner, ServiceAccount) else None,
        created_by=actor.label,
        expires_at=_end(expires_at),
    )
    record_audit(team, actor, "token.create", "token", token.id, after=_facts(token))
    return token, secret


def longest_life() -> timedelta:
    """The maximum lifetime of a new token."""
    return timedelta(days=settings.TOKEN_DAYS_MAX)


def default_life() -> timedelta:
    """The lifetime of a token if its creator specifies none."""
    return min(timedelta(days=settings.TOKEN_DAYS), longest_life())


def use_token(secret: str, address: str | None = None) -> tuple[ApiToken, Role]:
    """The token of this secret and the role with which it acts.

    Its row records, to the minute, when and from which address it was last used.

    Raises:
        TokenRefused: the secret is unknown, or its token does not act.
    """
    token, now = token_of_secret(secret), timezone.now()
    if token is None:
        raise TokenRefused("The API token is unknown.")
    standing = standing_of(token)
    if standing.role is None:
        raise TokenRefused(REFUSALS[standing.state])
    if token.last_used_at is None or now - token.last_used_at > _USED_AT_RESOLUTION:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now, last_used_address=_address(address))
    return token, standing.role


@transaction.atomic
def hand_over(team: Team, actor: Actor, token: ApiToken, account: ServiceAccount) -> None:
    """Give a token without an owner to a service account. From then on it acts within that account's role.

    Raises:
        Problem: 409 for a token that has an owner; 422 for a disabled account.
    """
    _role_of(team, account)
    before = _facts(token)
    nobodys = ApiToken.objects.filter(pk=token.pk, user=None, service_account=None)
    if not nobodys.update(service_account=account):
        raise conflict("This token has an owner: create a new one for the service account.", code="token_has_owner")
    token.service_account = account
    record_audit(team, actor, "token.hand_over", "token", token.id, before=before, after=_facts(token))


@transaction.atomic
def revoke_token(team: Team, actor: Actor, token: ApiToken) -> None:
    """End a token now. Revoking twice is the same as once."""
    if ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()):
        record_audit(team, actor, "token.revoke", "token", token.id, before=_facts(token))


def _role_of(team: Team, owner: User | ServiceAccount) -> Role:
    """The owner's current role. Raises a 422 problem for an owner that may not have tokens."""
    if isinstance(owner, ServiceAccount):
        # A row lock: an account that is being disabled or demoted is read as it is afterwards.
        account = ServiceAccount.objects.select_for_update().filter(team=team, pk=owner.pk).first()
        if account is None or account.disabled_at is not None:
            raise invalid("/service_account", "There is no enabled service account with this id.")
        return Role(account.role)
    membership = Membership.objects.filter(team=team, user=owner, user__is_active=True).first()
    if membership is None:
        raise invalid("", "A token's owner must be a member of the team.")
    return Role(membership.role)


def _end(expires_at: datetime | None) -> datetime:
    now = timezone.now()
    if expires_at is None:
        return now + default_life()
    if expires_at <= now:
        raise invalid("/expires_at", "The time of expiry must be in the future.")
    if expires_at > now + longest_life() + timedelta(minutes=5):  # browser clocks differ
        raise invalid("/expires_at", f"A token expires after at most {longest_life().days} days.")
    return expires_at


def _address(text: str | None) -> str | None:
    """The address without its zone, if it is one; a server on a socket has none."""
    try:
        return str(ip_address((text or "").partition("%")[0]))
    except ValueError:
        return None


def _facts(token: ApiToken) -> dict[str, object]:
    """Facts about a token, for the audit log."""
    owner = token.user or token.service_account
    return {
        "name": token.name,
        "role": token.role,
        "scopes": token.scopes,
        "owner": str(owner) if owner else None,
        "expires_at": token.expires_at,
    }
