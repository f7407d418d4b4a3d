"""The e-mail that brings an invitation to the owner of its address."""

import smtplib

import structlog
from django.conf import settings
from django.core.mail import send_mail

from dressage.common.secrets import secret_hash
from dressage.teams.models import Invitation

logger = structlog.get_logger(__name__)
_TEXT = """\
{inviter} invites you to the team {team} on Dressage, as {role}.

To accept, open this link:

    {link}

It works once, until {until} UTC. If you do not know the inviter, ignore this message: nothing will happen.
"""
_REFUSED = "The mail server refused it. The operator finds the reason in the log."


def invitation_link(token: str) -> str:
    """The page of the console on which an invitation is accepted."""
    return f"{settings.PUBLIC_URL}/invitations/{token}"


def send_invitation(invitation: Invitation, inviter: str, token: str) -> None:
    """Send the link to the invited address, and record on the invitation if the mail server does not accept it.

    Call it after the commit: a mail server may be slow, and no other request should wait for the team's row.
    """
    # A header has one line.
    team = " ".join(invitation.team.name.split())
    text = _TEXT.format(
        inviter=inviter,
        team=team,
        role=invitation.role,
        link=invitation_link(token),
        until=f"{invitation.expires_at:%d %B %Y, %H:%M}",
    )
    try:
        send_mail(f"Join {team} on Dressage", text, settings.DEFAULT_FROM_EMAIL, [invitation.email])
    except (OSError, smtplib.SMTPException) as error:
        logger.error("invitation_not_sent", invitation=invitation.id, exc_info=error)
        fault = "The mail server did not answer in time." if isinstance(error, TimeoutError) else _REFUSED
        # Not the token of an e-mail that was resent in the meantime.
        Invitation.objects.filter(pk=invitation.pk, sha256=secret_hash(token)).update(letter_fault=fault)
