"""Writes of passkeys, and what they prove."""

import json
from typing import Any

import structlog
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from webauthn import (
    generate_authentication_options,
    generate_registration_options,
    options_to_json,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from dressage.common.api.problems import Problem, conflict, invalid
from dressage.teams.accounts.log import PASSKEY_FAILED, record_account_event, record_failed_sign_in
from dressage.teams.models import User
from dressage.teams.sessions.life import place
from dressage.teams.two_factor.challenges import new_challenge, take_challenge
from dressage.teams.two_factor.models import Passkey
from dressage.teams.two_factor.relying_party import needed_relying_party
from dressage.teams.two_factor.selectors import has_second_factor
from dressage.teams.two_factor.services import (
    check_password,
    hold_factors,
    need_code,
    remove_useless_codes,
    renewed_recovery_codes,
)

logger = structlog.get_logger(__name__)
PASSKEY_ADD, PASSKEY_REMOVE = "account.passkey_add", "account.passkey_remove"
MOST = 20
"""Passkeys that one account may have."""
_MALFORMED = (WebAuthnException, ValueError, KeyError, TypeError, AttributeError, IndexError)
"""Errors that the library raises for responses that no browser sends."""


@transaction.atomic
def registration_options(request: HttpRequest, user: User, *, current: str, code: str) -> dict[str, Any]:
    """Options for a new passkey, as ``PublicKeyCredential.parseCreationOptionsFromJSON`` reads them.

    Raises:
        Problem: 422 for a wrong password or code; 409 if passkeys are not available, or the person has too many.
    """
    party = needed_relying_party()
    hold_factors(user)
    check_password(user, current)
    need_code(request, user, code)
    own = list(Passkey.objects.filter(user=user))
    if len(own) >= MOST:
        raise conflict(f"You have {MOST} passkeys. Remove one first.", code="too_many_passkeys")
    options = generate_registration_options(
        rp_id=party.id,
        rp_name="Dressage",
        user_id=user.pk.encode(),
        user_name=user.email,
        user_display_name=user.name or user.email,
        challenge=new_challenge(request, "register"),
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED, user_verification=UserVerificationRequirement.REQUIRED
        ),
        exclude_credentials=_descriptors(own),
    )
    return _document(options)


@transaction.atomic
def add_passkey(
    request: HttpRequest, user: User, *, name: str, credential: dict[str, Any]
) -> tuple[Passkey, list[str]]:
    """Store a new passkey.

    Returns:
        The passkey, and ten recovery codes if it is the person's first second factor.

    Raises:
        Problem: 409 without a fresh challenge; 422 for an answer that does not match it, or a passkey that is already
            known.
    """
    party = needed_relying_party()
    hold_factors(user)
    challenge = take_challenge(request, "register")
    try:
        found = verify_registration_response(
            credential=credential,
            expected_challenge=challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
            require_user_verification=True,
        )
    except _MALFORMED as error:
        logger.warning("passkey_refused", user=user.pk, reason=str(error))
        raise invalid("/credential", "This does not answer the challenge: try again.", code="wrong_passkey") from error
    credential_id = bytes_to_base64url(found.credential_id)
    if Passkey.objects.filter(credential_id=credential_id).exists():
        raise invalid("/credential", "This passkey is already registered.", code="passkey_known")
    is_first = not has_second_factor(user)
    passkey = Passkey.objects.create(
        user=user,
        name=name,
        credential_id=credential_id,
        public_key=found.credential_public_key,
        sign_count=found.sign_count,
    )
    record_account_event(user, PASSKEY_ADD, **place(request))
    return passkey, renewed_recovery_codes(user) if is_first else []


@transaction.atomic
def remove_passkey(request: HttpRequest, user: User, passkey: Passkey, *, current: str, code: str) -> None:
    """Delete a passkey. Needs the password and a code. Raises a 422 problem for a wrong one."""
    hold_factors(user)
    check_password(user, current)
    need_code(request, user, code)
    Passkey.objects.filter(pk=passkey.pk, user=user).delete()
    record_account_event(user, PASSKEY_REMOVE, **place(request))
    remove_useless_codes(user)


def sign_in_options(request: HttpRequest, user: User | None) -> dict[str, Any]:
    """Options for a sign-in: a passkey of the person who has given the password, or any.

    Raises:
        Problem: 409 if passkeys are not available.
    """
    party = needed_relying_party()
    options = generate_authentication_options(
        rp_id=party.id,
        challenge=new_challenge(request, "sign in"),
        allow_credentials=_descriptors(list(Passkey.objects.filter(user=user))) if user else None,
        user_verification=UserVerificationRequirement.REQUIRED,
    )
    return _document(options)


def owner_by_passkey(request: HttpRequest, user: User | None, credential: dict[str, Any]) -> User:
    """The person whose passkey has answered the session's challenge.

    Args:
        request: its session has the challenge.
        user: the person who has given the password, if any: another person's passkey is then refused.
        credential: the browser's answer.

    Raises:
        Problem: 401 for an answer that proves nothing; 409 without a fresh challenge.
    """
    party, challenge = needed_relying_party(), take_challenge(request, "sign in")
    with transaction.atomic():
        # Locked, so that of two answers with the same count the second finds it used.
        passkeys = Passkey.objects.select_for_update(of=("self",)).select_related("user")
        passkey = passkeys.filter(credential_id=_text(credential.get("id")), user__is_active=True).first()
        fault = _fault(passkey, user, credential, challenge, party.id, party.origin)
        if passkey is not None and fault is None:
            return passkey.user
    logger.warning("passkey_refused", user=passkey and passkey.user_id, reason=fault)
    if passkey is not None:
        where = place(request)
        address, device = where["address"], where["device"]
        record_failed_sign_in(passkey.user.email, address=address, device=device, action=PASSKEY_FAILED)
    raise Problem(401, "Not signed in", "This passkey does not belong to the account.", code="wrong_passkey")


def _fault(
    passkey: Passkey | None, user: User | None, credential: dict[str, Any], challenge: bytes, rp_id: str, origin: str
) -> str | None:
    """Reason why the answer proves nothing; None if it is valid, and its count is then recorded."""
    if passkey is None:
        return "unknown passkey"
    if user is not None and passkey.user_id != user.pk:
        return "passkey of somebody else"
    try:
        handle = credential["response"].get("userHandle")
        if handle is not None and base64url_to_bytes(handle) != passkey.user_id.encode():
            return "handle of somebody else"
        found = verify_authentication_response(
            credential=credential,
            expected_challenge=challenge,
            expected_rp_id=rp_id,
            expected_origin=origin,
            credential_public_key=bytes(passkey.public_key),
            credential_current_sign_count=passkey.sign_count,
            require_user_verification=True,
        )
    except _MALFORMED as error:
        return str(error)
    passkey.sign_count, passkey.last_used_at = found.new_sign_count, timezone.now()
    passkey.save(update_fields=["sign_count", "last_used_at"])
    return None


def _descriptors(passkeys: list[Passkey]) -> list[PublicKeyCredentialDescriptor]:
    return [PublicKeyCredentialDescriptor(id=base64url_to_bytes(passkey.credential_id)) for passkey in passkeys]


def _document(options: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(options_to_json(options))
    return document


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
