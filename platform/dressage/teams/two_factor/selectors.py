"""Queries for second factors."""

from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from dressage.common.api.problems import not_found
from dressage.common.roles import Role
from dressage.teams.models import Membership, User
from dressage.teams.two_factor.models import Authenticator, Passkey, RecoveryCode
from dressage.teams.two_factor.relying_party import relying_party


def authenticator_of(user: User) -> Authenticator | None:
    """The confirmed authenticator app of a person."""
    return Authenticator.objects.filter(user=user).exclude(confirmed_at=None).first()


def unused_recovery_codes(user: User) -> QuerySet[RecoveryCode]:
    """Recovery codes of a person that are still valid."""
    return RecoveryCode.objects.filter(user=user, used_at=None)


def passkeys_of(user: User) -> QuerySet[Passkey]:
    """Passkeys of a person."""
    return Passkey.objects.filter(user=user)


def passkey_of(user: User, passkey_id: str) -> Passkey:
    """One passkey of a person. Raises a 404 problem."""
    found = passkeys_of(user).filter(id=passkey_id).first()
    if found is None:
        raise not_found("passkey")
    return found


def has_second_factor(user: User) -> bool:
    """Whether a sign-in of this person requires a second step."""
    return authenticator_of(user) is not None or passkeys_of(user).exists()


def must_enrol(user: User) -> bool:
    """Whether the installation requires a second factor that this person lacks: then they may do nothing else."""
    wanted = settings.SECOND_FACTOR == "all" or (
        settings.SECOND_FACTOR == "admins" and Membership.objects.filter(user=user, role=Role.ADMIN).exists()
    )
    return wanted and not has_second_factor(user)


def second_factors(user: User) -> dict[str, Any]:
    """Second factors of a person, as shown to that person."""
    app, party = authenticator_of(user), relying_party()
    return {
        "passkey_origin": party and party.origin,
        "passkeys": passkeys_of(user).count(),
        "totp_since": app and app.confirmed_at,
        "recovery_codes": unused_recovery_codes(user).count(),
        "required": must_enrol(user),
    }
