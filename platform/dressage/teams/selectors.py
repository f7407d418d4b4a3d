"""Queries for teams: members, tokens, sessions, and whether the audit log is intact."""

from datetime import datetime

from django.db.models import BooleanField, Count, Exists, ExpressionWrapper, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

from dressage.common.api.problems import Problem, not_found
from dressage.common.roles import Role
from dressage.common.secrets import secret_hash
from dressage.teams.audit.chain import entry_hash
from dressage.teams.models import (
    AccountEvent,
    ApiToken,
    AuditEntry,
    Invitation,
    Membership,
    ServiceAccount,
    Team,
    User,
    UserSession,
)
from dressage.teams.standing import with_standing

SIGNED_IN = "account.sign_in"
"""Action of the event that makes a network known."""


def token_of_secret(secret: str) -> ApiToken | None:
    """The token of this secret with its standing, active or not."""
    return with_standing(ApiToken.objects.filter(sha256=secret_hash(secret))).first()


def membership_for(user: User, team_id: str | None) -> Membership | None:
    """The membership in the selected team, else the user's first one, else None."""
    memberships = Membership.objects.select_related("team").filter(user=user).order_by("created_at", "id")
    chosen = memberships.filter(team_id=team_id).first() if team_id else None
    return chosen or memberships.first()


def has_signed_in_from(user: User, network: str) -> bool:
    """Whether someone has signed in to the account from this network, as long as its events are stored."""
    return AccountEvent.objects.filter(user=user, action=SIGNED_IN, network=network).exists()


def sessions_of(user: User) -> QuerySet[UserSession]:
    """The sessions of a person that have not ended."""
    return UserSession.objects.filter(user=user, session__expire_date__gt=timezone.now())


def own_sessions(user: User, current_key: str | None) -> QuerySet[UserSession]:
    """The same, each with ``is_current``: whether its key is the given one."""
    is_current = ExpressionWrapper(Q(session_id=current_key), output_field=BooleanField())
    return sessions_of(user).annotate(is_current=is_current)


def own_session(user: User, session_id: str) -> UserSession:
    """One session of the person. Raises a 404 problem."""
    found = sessions_of(user).filter(id=session_id).first()
    if found is None:
        raise not_found("session")
    return found


def account_events(user: User) -> QuerySet[AccountEvent]:
    """Events of a person's account."""
    return AccountEvent.objects.filter(user=user)


def teams_of(user: User) -> QuerySet[Team]:
    """Every team that the user belongs to, oldest membership first."""
    return Team.objects.filter(id__in=Membership.objects.filter(user=user).values("team")).order_by("name", "id")


def members(team: Team) -> QuerySet[Membership]:
    """The team's memberships with their users."""
    return Membership.objects.for_team(team).select_related("user")


def member(team: Team, membership_id: str) -> Membership:
    """One membership. Raises a 404 problem."""
    found = members(team).filter(id=membership_id).first()
    if found is None:
        raise not_found("member")
    return found


def is_admin(team: Team, user_id: str) -> bool:
    """Whether the person with this id is an admin of the team. Lock the team first, so that the answer stays true."""
    return _admins().filter(team=team, user=user_id).exists()


def _admins() -> QuerySet[Membership]:
    return Membership.objects.filter(role=Role.ADMIN, user__is_active=True)


def open_invitations(team: Team) -> QuerySet[Invitation]:
    """The team's invitations that were neither accepted nor withdrawn, including expired ones."""
    return Invitation.objects.for_team(team).filter(accepted_at=None, withdrawn_at=None)


def open_invitation(team: Team, invitation_id: str) -> Invitation:
    """One of them. Raises a 404 problem."""
    found = open_invitations(team).filter(id=invitation_id).first()
    if found is None:
        raise not_found("open invitation")
    return found


def offered_invitation(token: str) -> Invitation:
    """The invitation of this token, while it can be accepted and its inviter is an admin of the team.

    Raises:
        Problem: 404, the same for a token that never existed and for one that is no longer valid.
    """
    inviters = _admins().filter(team=OuterRef("team"), user=OuterRef("created_by_id"))
    offers = Invitation.objects.select_related("team").filter(Exists(inviters), accepted_at=None, withdrawn_at=None)
    found = offers.filter(sha256=secret_hash(token), expires_at__gt=timezone.now()).first()
    if found is None:
        detail = (
            "There is no such invitation: it was accepted or withdrawn, has expired, or its link is incomplete. Ask the"
            " team's admin for another."
        )
        raise Problem(404, "Not found", detail, code="not_found")
    return found


def tokens(team: Team) -> QuerySet[ApiToken]:
    """The team's tokens that have not been revoked, ended ones included, with their standing."""
    return with_standing(ApiToken.objects.for_team(team).filter(revoked_at=None))


def token(team: Team, token_id: str) -> ApiToken:
    """One token, revoked or not, with its standing. Raises a 404 problem."""
    found = with_standing(ApiToken.objects.for_team(team).filter(id=token_id)).first()
    if found is None:
        raise not_found("token")
    return found


def service_accounts(team: Team) -> QuerySet[ServiceAccount]:
    """The team's service accounts, each with the number of its ``live_tokens``."""
    live = ApiToken.objects.filter(service_account=OuterRef("pk"), revoked_at=None, expires_at__gt=Now())
    counted = live.order_by().values("service_account").annotate(count=Count("pk")).values("count")
    return ServiceAccount.objects.for_team(team).annotate(live_tokens=Coalesce(Subquery(counted), 0))


def service_account(team: Team, account_id: str) -> ServiceAccount:
    """One service account. Raises a 404 problem."""
    found = service_accounts(team).filter(id=account_id).first()
    if found is None:
        raise not_found("service account")
    return found


def audit_entries(
    team: Team,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    actor: str | None = None,
    action: str | None = None,
) -> QuerySet[AuditEntry]:
    """The team's audit log, or a part of it.

    Args:
        team: owner of the log.
        since: earliest time.
        until: end of the period, exclusive.
        actor: id or name of the actor.
        action: action such as ``member.add``, or the noun that it begins with.
    """
    found = AuditEntry.objects.for_team(team)
    if since is not None:
        found = found.filter(created_at__gte=since)
    if until is not None:
        found = found.filter(created_at__lt=until)
    if actor is not None:
        found = found.filter(Q(actor_id=actor) | Q(actor_name=actor))
    if action is not None:
        found = found.filter(Q(action=action) | Q(action__startswith=f"{action}."))
    return found


def first_broken_audit_number(team: Team) -> int | None:
    """Number of the first entry that was changed, removed or forged; None if the whole chain is intact."""
    team.refresh_from_db(fields=["audit_length", "audit_head"])
    expected, previous = 1, ""
    for entry in audit_entries(team).filter(number__lte=team.audit_length).order_by("number").iterator():
        if entry.number != expected or entry.previous_hash != previous or entry.hash != entry_hash(entry):
            return expected
        expected, previous = expected + 1, entry.hash
    if expected != team.audit_length + 1 or previous != team.audit_head:
        return expected if expected <= team.audit_length else team.audit_length
    return None
