"""Standing of API tokens: whether one still acts, and with which role. Checked on each use, since owners change."""

from dataclasses import dataclass

from django.db import models
from django.db.models import OuterRef, QuerySet, Subquery
from django.utils import timezone

from dressage.common.roles import Role
from dressage.teams.models import ApiToken, Membership


class TokenState(models.TextChoices):
    """Token state: all but the first are refused."""

    ACTIVE = "active", "Active"
    REVOKED = "revoked", "Revoked"
    EXPIRED = "expired", "Expired"
    OWNER_LEFT = "owner_left", "Its owner has left the team"
    OWNER_INACTIVE = "owner_inactive", "Its owner's account is inactive"
    ACCOUNT_DISABLED = "account_disabled", "Its service account is disabled"


REFUSALS = {
    TokenState.REVOKED: "The API token has been revoked.",
    TokenState.EXPIRED: "The API token has expired.",
    TokenState.OWNER_LEFT: "The API token has ended: its owner has left the team.",
    TokenState.OWNER_INACTIVE: "The API token has ended: its owner's account is inactive.",
    TokenState.ACCOUNT_DISABLED: "The API token has ended: its service account is disabled.",
}
"""The message for the holder of a token that does not act."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether a token acts."""

    state: TokenState
    role: Role | None = None
    """Role with which it acts: the lower one of its own and its owner's; None for one that does not act."""


def with_standing(tokens: QuerySet[ApiToken]) -> QuerySet[ApiToken]:
    """The tokens with the data that ``standing_of`` reads, in one query.

    A person who left and came back is a new member: their earlier tokens remain ended.
    """
    memberships = Membership.objects.filter(
        team=OuterRef("team"), user=OuterRef("user"), created_at__lte=OuterRef("created_at")
    )
    return tokens.select_related("team", "user", "service_account").annotate(
        owner_role=Subquery(memberships.values("role")[:1])
    )


def standing_of(token: ApiToken) -> Standing:
    """The standing of a token from ``with_standing``."""
    if token.revoked_at is not None:
        return Standing(TokenState.REVOKED)
    if token.expires_at is not None and token.expires_at <= timezone.now():
        return Standing(TokenState.EXPIRED)
    if token.service_account is not None:
        if token.service_account.disabled_at is not None:
            return Standing(TokenState.ACCOUNT_DISABLED)
        return _within(token, token.service_account.role)
    if token.user is None:  # from an earlier release, its creator is unknown
        return _within(token, token.role)
    if not token.user.is_active:
        return Standing(TokenState.OWNER_INACTIVE)
    owner_role: str | None = getattr(token, "owner_role")  # noqa: B009  (an annotation of the query)
    return _within(token, owner_role) if owner_role else Standing(TokenState.OWNER_LEFT)


def _within(token: ApiToken, role: str) -> Standing:
    own, owners = Role(token.role), Role(role)
    return Standing(TokenState.ACTIVE, own if owners.covers(own) else owners)
