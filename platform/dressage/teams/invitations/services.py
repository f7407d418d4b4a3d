"""Invitations: the only way to create an account or to join a team is to hold an invitation's token.

What a token proves depends on how it was delivered. By mail, it has reached the owner of the address. Without mail, the
inviter sees the link and passes it on, so it proves nothing about the address. ADR 0009 has the rules.
"""

import secrets
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from dressage.common.actors import Actor
from dressage.common.api.problems import Problem, conflict, invalid
from dressage.common.roles import Role
from dressage.common.secrets import secret_hash
from dressage.teams.accounts.services import hold_address, hold_teams, make_account, replace_account
from dressage.teams.guesses.limits import count_in_session
from dressage.teams.invitations.mail import invitation_link, send_invitation
from dressage.teams.models import Invitation, Membership, Team, User
from dressage.teams.passwords.rules import check_new_password
from dressage.teams.selectors import is_admin, offered_invitation, open_invitation, open_invitations
from dressage.teams.services import add_member, record_audit, withdraw_invitation
from dressage.teams.two_factor.services import check_password, need_code

GOOD_FOR = timedelta(days=7)
_TOKEN_BYTES = 32


@transaction.atomic
def invite(team: Team, actor: Actor, *, email: str, role: Role) -> tuple[Invitation, str | None]:
    """Offer the owner of an address a role in the team. Does not look at whether the address has an account.

    Returns:
        The invitation, and the link for the inviter to pass on; None if it is sent by mail, after the commit.

    Raises:
        Problem: 403 for someone who is not, or no longer, an admin; 409 for a member of this team or an invitation that
            is still open.
    """
    email = email.strip().lower()
    _hold_as_admin(team, actor)
    if Membership.objects.filter(team=team, user__email=email).exists():
        raise conflict(f"{email} is already a member.", code="already_member")
    for earlier in open_invitations(team).filter(email=email):
        if earlier.expires_at > timezone.now():
            raise conflict(f"{email} is already invited. Send the invitation again, or withdraw it.", code="invited")
        withdraw_invitation(team, actor, earlier)
    invitation, token = _with_token(Invitation(team=team, email=email, role=role), actor)
    return invitation, _deliver(invitation, actor, "invitation.create", token)


@transaction.atomic
def invite_again(team: Team, actor: Actor, invitation: Invitation) -> tuple[Invitation, str | None]:
    """Give an open invitation another token and another week. The previous token stops working.

    Returns and raises as ``invite`` does.
    """
    _hold_as_admin(team, actor)
    invitation, token = _with_token(open_invitation(team, invitation.id), actor)
    return invitation, _deliver(invitation, actor, "invitation.resend", token)


@dataclass(frozen=True)
class Acceptance:
    """Result of accepting an invitation."""

    user: User
    """The account that is now a member."""
    membership: Membership
    is_new_account: bool
    """Whether the person still has to be signed in to it."""


def accept(
    request: HttpRequest,
    token: str,
    *,
    signed_in: User | None,
    password: str,
    name: str = "",
    current: str = "",
    code: str = "",
) -> Acceptance:
    """Join a team by an invitation, with the account that is signed in or with a new one.

    Args:
        request: its session waits after wrong passwords and codes.
        token: the secret of the link.
        signed_in: the account of the session, if any.
        password: for the new account; empty if the account that is signed in stays as it is.
        name: the person's name, for a new account.
        current: the old password, if the session's account is replaced: a cookie alone is not enough for that.
        code: a code in addition to it, if the account has a second factor.

    Raises:
        Problem: 404 for a token that is not valid; 409 ``other_account`` for a session of another person, and
            ``sign_in_first`` if the address has an account that this link does not open; 422 for a password or code
            that is missing, weak, wrong or not wanted; 429 after many wrong ones.
    """
    invitation = offered_invitation(token)
    email = invitation.email
    if signed_in is not None and signed_in.email != email:
        detail = f"This invitation is for {email}, and you are signed in as {signed_in.email}. Sign out, then open it."
        raise conflict(detail, code="other_account")
    if signed_in is None or signed_in.address_proven:
        _refuse_proof(current, code)
    if signed_in is not None and signed_in.address_proven:
        if password:
            raise invalid("/password", "Omit the password: you are signed in, and yours is unchanged.")
        hashed = ""
    else:
        # A person who is signed in must choose a different one from that of the account that ends.
        owner = signed_in or User(email=email, name=name)
        check_new_password(owner, password, invitation.team, pointer="/password")
        if signed_in is not None:
            _need_proof(request, signed_in, current, code)
        # Hashed whatever is found below, so that the response time does not reveal it.
        hashed = make_password(password)
    return _accept(token, email, signed_in, hashed, name)


def _refuse_proof(current: str, code: str) -> None:
    for pointer, given in (("/current", current), ("/code", code)):
        if given:
            raise invalid(pointer, "Omit this: it is only for an account that is replaced while you are signed in.")


def _need_proof(request: HttpRequest, user: User, current: str, code: str) -> None:
    """Require what a sign-in requires. Raises a 422 problem, or 429 after many wrong guesses in this session."""
    guess = count_in_session(request, "password")
    check_password(user, current)
    need_code(request, user, code)
    guess.was_right()


@transaction.atomic
def _accept(token: str, email: str, signed_in: User | None, hashed: str, name: str) -> Acceptance:
    hold_address(email)
    account = User.objects.filter(email=email).first()
    memberships = Membership.objects.filter(user=account) if account else Membership.objects.none()
    invitation = offered_invitation(token)
    hold_teams([invitation.team_id, *memberships.values_list("team_id", flat=True)])
    invitation = offered_invitation(token)  # another request may just have used or withdrawn it
    if signed_in is not None and (account is None or account.pk != signed_in.pk):
        raise conflict("Your account has just been replaced. Sign in again.", code="sign_in_first")
    user = _account(invitation, account, signed_in is not None, hashed, name)
    actor = Actor("user", user.id, user.email)
    membership = add_member(invitation.team, actor, user, Role(invitation.role), invitation=invitation.id)
    invitation.accepted_at = timezone.now()
    invitation.save(update_fields=["accepted_at"])
    after = {"email": email, "role": invitation.role, "user": user.id, "mailed": invitation.mailed}
    record_audit(invitation.team, actor, "invitation.accept", "invitation", invitation.id, after=after)
    return Acceptance(user, membership, account is None or user.pk != account.pk)


def _account(invitation: Invitation, found: User | None, is_signed_in: bool, hashed: str, name: str) -> User:
    """The account that accepts: the existing one if its owner is known, else a new one."""
    if found is None:
        return make_account(invitation.email, hashed, name=name, proven=invitation.mailed)
    if found.address_proven and is_signed_in:
        return found
    if not found.address_proven and (is_signed_in or invitation.mailed):
        return replace_account(
            found,
            Actor.system("invitations"),
            "The owner of the address has accepted an invitation and chosen another password.",
            password_hash=hashed,
            name=name,
            proven=invitation.mailed,
            keeps_teams=is_signed_in,
        )
    detail = "This link creates no account for its address. If you have one, sign in, then open the link again."
    raise conflict(detail, code="sign_in_first")


def _hold_as_admin(team: Team, actor: Actor) -> None:
    """Lock the team, then check that the actor is still an admin: the wait may have been for their demotion."""
    hold_teams([team.pk])
    if not is_admin(team, actor.id):
        raise Problem(403, "Not allowed", f"This needs the role {Role.ADMIN.value}.", code="permission_denied")


def _with_token(invitation: Invitation, actor: Actor) -> tuple[Invitation, str]:
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    invitation.sha256 = secret_hash(token)
    invitation.mailed, invitation.letter_fault = settings.EMAIL_IS_SET_UP, ""
    invitation.created_by, invitation.created_by_id = actor.label, actor.id
    invitation.expires_at = timezone.now() + GOOD_FOR
    invitation.save()
    return invitation, token


def _deliver(invitation: Invitation, actor: Actor, action: str, token: str) -> str | None:
    facts = {"email": invitation.email, "role": invitation.role, "mailed": invitation.mailed}
    after = {**facts, "expires_at": invitation.expires_at}
    record_audit(invitation.team, actor, action, "invitation", invitation.id, after=after)
    if not invitation.mailed:
        return invitation_link(token)
    transaction.on_commit(partial(send_invitation, invitation, actor.label, token))
    return None
