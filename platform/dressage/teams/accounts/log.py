"""The log of an account: what its owner sees, and what the audit logs of the owner's teams record of it."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from dressage.common.actors import Actor
from dressage.common.api.client_address import network_of
from dressage.teams.models import AccountEvent, User
from dressage.teams.selectors import teams_of
from dressage.teams.services import record_audit

SIGN_IN_FAILED, CODE_FAILED, PASSKEY_FAILED, SIGNED_OUT, PASSWORD, SESSION_ENDED = (
    "account.sign_in_failed",
    "account.code_failed",
    "account.passkey_failed",
    "account.sign_out",
    "account.password",
    "account.session_end",
)
_FAILURES_TOGETHER = timedelta(hours=1)
"""Wrong passwords within this time share one row, so that guessing cannot fill the log."""
KEPT_FOR = timedelta(days=180)


@transaction.atomic
def record_account_event(user: User, action: str, *, address: str, device: str, target: str = "") -> None:
    """Append an event to the account's log, and an entry to the audit log of each of the person's teams.

    Args:
        user: the account.
        action: what happened, such as ``account.sign_in``.
        address: client address, or empty.
        device: description of the device.
        target: description of the other device that was acted on, if any.
    """
    _append(user, action, address, device)
    _tell_teams(user, action, {"address": address, "device": device, **({"ended": target} if target else {})})


@transaction.atomic
def record_failed_sign_in(
    email: str, *, address: str, device: str, now: datetime | None = None, action: str = SIGN_IN_FAILED
) -> None:
    """Count a wrong password or second-factor code in the log of the account, if such an account exists.

    The first within an hour is an event, and an entry in the teams' audit logs with the number of previous ones.
    """
    now = now or timezone.now()
    user = User.objects.select_for_update(no_key=True).filter(email=email).first()
    if user is None:
        return
    last = AccountEvent.objects.filter(user=user, action=action).order_by("-created_at", "-id").first()
    if last is not None and now - last.created_at < _FAILURES_TOGETHER:
        AccountEvent.objects.filter(pk=last.pk).update(count=F("count") + 1, last_at=now)
        return
    _append(user, action, address, device, now)
    uncounted = last.count - 1 if last else 0
    _tell_teams(user, action, {"address": address, "device": device, "more_since_the_last_entry": uncounted})


def forget_old_events() -> None:
    """Remove account events that are older than half a year. The teams' audit logs keep theirs."""
    AccountEvent.objects.filter(created_at__lt=timezone.now() - KEPT_FOR).delete()


def _append(user: User, action: str, address: str, device: str, now: datetime | None = None) -> None:
    moment = now or timezone.now()
    AccountEvent.objects.create(
        user=user,
        action=action,
        address=address,
        network=network_of(address),
        device=device,
        created_at=moment,
        last_at=moment,
    )


def _tell_teams(user: User, action: str, after: dict[str, object]) -> None:
    # In the same order for everyone, since each entry locks its team.
    for team in teams_of(user).order_by("id"):
        record_audit(team, Actor("user", user.id, user.email), action, "account", user.id, after=after)
