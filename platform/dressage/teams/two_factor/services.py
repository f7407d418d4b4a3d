"""Writes of second factors."""

from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from dressage.common.api.problems import Problem, conflict, invalid
from dressage.common.sealing import Resealed, UnsealError, hold_keys, seal, unseal
from dressage.common.secrets import secret_hash
from dressage.teams.accounts.log import CODE_FAILED, record_account_event, record_failed_sign_in
from dressage.teams.models import User
from dressage.teams.sessions.life import place
from dressage.teams.two_factor.codes import Key, is_of_an_app, new_key, new_recovery_codes, plain, step_of
from dressage.teams.two_factor.models import Authenticator, Passkey, RecoveryCode
from dressage.teams.two_factor.selectors import authenticator_of, has_second_factor, unused_recovery_codes

TOTP_ON, TOTP_OFF, RECOVERY_CODES, RECOVERY_CODE_USED, FORGOTTEN = (
    "account.totp_on",
    "account.totp_off",
    "account.recovery_codes",
    "account.recovery_code_used",
    "account.second_factors_removed",
)


@transaction.atomic
def begin_totp(user: User, *, current: str) -> Key:
    """Create a key for the person's app; an earlier unconfirmed one is forgotten.

    Raises:
        Problem: 422 for a wrong password; 409 ``totp_is_on`` if there is a confirmed app.
    """
    hold_keys()  # before locking any row: a rotation, which this waits for, also locks rows
    hold_factors(user)
    check_password(user, current)
    if authenticator_of(user) is not None:
        detail = "You already have an authenticator app. Turn it off before you set up another."
        raise conflict(detail, code="totp_is_on")
    key = new_key(user.email)
    fresh = {"secret_sealed": seal(key.secret), "last_step": 0, "created_at": timezone.now()}
    Authenticator.objects.update_or_create(user=user, defaults=fresh)
    return key


@transaction.atomic
def confirm_totp(request: HttpRequest, user: User, code: str) -> list[str]:
    """Turn the app on with its first code.

    Returns:
        The ten recovery codes, shown only this once; none if the person already has them from a passkey.

    Raises:
        Problem: 409 if no app is waiting to be confirmed; 422 ``wrong_code``.
    """
    hold_factors(user)
    app = Authenticator.objects.filter(user=user, confirmed_at=None).first()
    if app is None:
        raise conflict(
            "No authenticator app is waiting for confirmation. Start with a new key.", code="nothing_to_confirm"
        )
    step = step_of(_secret(app), plain(code))
    if step is None:
        raise wrong_code()
    has_passkeys = has_second_factor(user)
    app.last_step, app.confirmed_at = step, timezone.now()
    app.save(update_fields=["last_step", "confirmed_at"])
    record_account_event(user, TOTP_ON, **place(request))
    return [] if has_passkeys else renewed_recovery_codes(user)


@transaction.atomic
def turn_totp_off(request: HttpRequest, user: User, *, current: str, code: str) -> None:
    """Remove the app. Needs the password and a code.

    Raises:
        Problem: 422 for a wrong password or code; 409 if there is no app.
    """
    hold_factors(user)
    check_password(user, current)
    if authenticator_of(user) is not None:
        need_code(request, user, code)
    if not Authenticator.objects.filter(user=user).exclude(confirmed_at=None).delete()[0]:
        raise conflict("You have no authenticator app.", code="totp_is_off")
    record_account_event(user, TOTP_OFF, **place(request))
    remove_useless_codes(user)


@transaction.atomic
def renew_recovery_codes(request: HttpRequest, user: User, *, current: str, code: str) -> list[str]:
    """Ten new recovery codes to replace all old ones. Needs the password and a code; raises like ``turn_totp_off``."""
    hold_factors(user)
    check_password(user, current)
    if not has_second_factor(user):
        raise conflict("Recovery codes replace a second factor, and you have none.", code="no_second_factor")
    need_code(request, user, code)
    record_account_event(user, RECOVERY_CODES, **place(request))
    return renewed_recovery_codes(user)


@transaction.atomic
def forget_second_factors(user: User, *, by: str) -> bool:
    """Remove all second factors of an account whose owner has lost them. Returns whether there were any."""
    hold_factors(user)
    had = has_second_factor(user)
    Authenticator.objects.filter(user=user).delete()
    Passkey.objects.filter(user=user).delete()
    RecoveryCode.objects.filter(user=user).delete()
    if had:
        record_account_event(user, FORGOTTEN, address="", device=by)
    return had


@transaction.atomic
def use_code(request: HttpRequest, user: User, code: str) -> bool:
    """Whether this is a code of the person's app or a recovery code. It works once, even with concurrent requests."""
    given = plain(code)
    if not is_of_an_app(given):
        codes = unused_recovery_codes(user).filter(sha256=secret_hash(given))
        if not codes.update(used_at=timezone.now()):
            return False
        record_account_event(user, RECOVERY_CODE_USED, **place(request))
        return True
    app = authenticator_of(user)
    step = step_of(_secret(app), given) if app else None
    if app is None or step is None:
        return False
    # One statement compares and writes: of two requests with the same code, the second finds it used.
    return Authenticator.objects.filter(pk=app.pk, last_step__lt=step).update(last_step=step) == 1


def refuse_code(request: HttpRequest, user: User) -> Problem:
    """The problem for a wrong code in the second step, which is recorded: someone knows the password."""
    where = place(request)
    record_failed_sign_in(user.email, address=where["address"], device=where["device"], action=CODE_FAILED)
    return Problem(401, "Not signed in", "The code is wrong, or was used before.", code="wrong_code")


def wrong_code() -> Problem:
    """The problem for a wrong code of someone who is signed in."""
    return invalid("/code", "The code is wrong, or was used before. Wait for the next one.", code="wrong_code")


def check_password(user: User, current: str) -> None:
    """Require the password again, from anyone who has one. Raises a 422 problem."""
    if user.has_usable_password() and not user.check_password(current):
        raise invalid("/current", "This is not your current password.", code="wrong_password")


def seal_secrets_anew() -> Resealed:
    """Seal the keys of all apps under the newest encryption key. For a rotation, in its transaction."""
    count, unreadable = 0, []
    for app in Authenticator.objects.select_for_update(of=("self",)).select_related("user"):
        try:
            app.secret_sealed = seal(unseal(app.secret_sealed))
        except UnsealError:
            unreadable.append(f"the authenticator app of {app.user.email}")
            continue
        app.save(update_fields=["secret_sealed"])
        count += 1
    return Resealed(count, tuple(unreadable))


def hold_factors(user: User) -> None:
    """Serialize changes of one person's factors."""
    User.objects.select_for_update(no_key=True).get(pk=user.pk)


def need_code(request: HttpRequest, user: User, code: str) -> None:
    """Require a code, from anyone who has a second factor. Raises a 422 problem."""
    if has_second_factor(user) and not use_code(request, user, code):
        raise wrong_code()


def _secret(app: Authenticator) -> str:
    try:
        return unseal(app.secret_sealed)
    except UnsealError as error:
        detail = (
            "The key of your authenticator app can no longer be read: the installation's encryption key was lost. Use a"
            " recovery code, then set the app up again."
        )
        raise conflict(detail, code="totp_unreadable") from error


def renewed_recovery_codes(user: User) -> list[str]:
    """Ten new recovery codes to replace all old ones."""
    codes = new_recovery_codes()
    RecoveryCode.objects.filter(user=user).delete()
    RecoveryCode.objects.bulk_create([RecoveryCode(user=user, sha256=secret_hash(plain(code))) for code in codes])
    return codes


def remove_useless_codes(user: User) -> None:
    """Remove recovery codes once there is no second factor to replace."""
    if not has_second_factor(user):
        RecoveryCode.objects.filter(user=user).delete()
