"""The account that an identity at the provider opens."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest

from dressage.teams.accounts.log import record_account_event
from dressage.teams.models import User
from dressage.teams.oidc.models import ExternalIdentity
from dressage.teams.sessions.life import place

IDENTITY_BOUND = "account.identity_bound"


class NotAdmittedError(Exception):
    """No user can sign in with this identity; ``code`` gives the console the reason."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@transaction.atomic
def account_of(request: HttpRequest, claims: Mapping[str, Any]) -> User:
    """The account of an identity. An identity without one is bound to an account now.

    Args:
        request: supplies device and address, for the log.
        claims: those of a valid ID token.

    Raises:
        NotAdmittedError: the address is not verified, not in an allowed domain, or has no account that is known to be
            its owner's.
    """
    email = claims.get("email")
    if not isinstance(email, str) or claims.get("email_verified") is not True:
        raise NotAdmittedError("email_not_verified")
    email = email.strip().lower()
    if settings.OIDC_DOMAINS and email.rpartition("@")[2] not in settings.OIDC_DOMAINS:
        raise NotAdmittedError("domain_not_allowed")
    issuer, subject = settings.OIDC_ISSUER, claims["sub"]
    known = ExternalIdentity.objects.select_related("user").filter(issuer=issuer, subject=subject).first()
    if known is not None and known.user.is_active:
        return known.user
    # Locked, so that of two concurrent identities with one address the second finds the account bound.
    account = User.objects.select_for_update(no_key=True).filter(email=email, is_active=True).first()
    if account is None or known is not None:
        raise NotAdmittedError("no_account")
    if not account.address_proven:
        raise NotAdmittedError("address_not_proven")
    if ExternalIdentity.objects.filter(user=account, issuer=issuer).exists():
        raise NotAdmittedError("other_identity")
    ExternalIdentity.objects.create(user=account, issuer=issuer, subject=subject)
    record_account_event(account, IDENTITY_BOUND, **place(request))
    return account
