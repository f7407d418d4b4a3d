"""Second factors: an authenticator app, recovery codes, and the second step of a sign-in."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyotp
import pytest
from cryptography.fernet import Fernet
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.db import connection
from rest_framework.test import APIClient

from dressage.common.sealing import unseal
from dressage.teams.guesses import limits
from dressage.teams.guesses.limiter import guess
from dressage.teams.models import (
    AccountEvent,
    AuditEntry,
    Authenticator,
    Membership,
    RecoveryCode,
    Team,
    User,
    UserSession,
)
from tests.platform.conftest import PASSWORD
from tests.support.about import PLATFORM

SESSION, STEP, FACTORS = "/api/v1/session", "/api/v1/session/second-factor", "/api/v1/account/second-factors"
TOTP, CONFIRM, DISABLE = "/api/v1/account/totp", "/api/v1/account/totp/confirm", "/api/v1/account/totp/disable"
RENEW = "/api/v1/account/recovery-codes"
BEGIN = datetime(2026, 11, 22, 12, tzinfo=UTC).timestamp()
OTHER = "KRSXG5CTMVRXEZLUKRSXG5CTMVRXEZLU"
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


class Clock:
    """The seconds that ``time.time`` tells to what deals with codes."""

    now = BEGIN

    def code(self, steps: int = 0, secret: str = SECRET) -> str:
        return pyotp.TOTP(secret).at(int(self.now), counter_offset=steps)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    told = Clock()
    for name in ("codes", "second_step"):
        monkeypatch.setattr(f"dressage.teams.two_factor.{name}.time.time", lambda: told.now)
    monkeypatch.setattr("dressage.teams.two_factor.codes.pyotp.random_base32", lambda: SECRET)
    yield told


def post(client: APIClient, path: str, **body: Any) -> Any:
    return client.post(path, body, format="json")


def code_of(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def enrol(client: APIClient, clock: Clock) -> list[str]:
    """Turn the app on; its first code is used up by that. Returns the recovery codes."""
    assert post(client, TOTP, current=PASSWORD).status_code == 200
    answer = post(client, CONFIRM, code=clock.code())
    assert answer.status_code == 200
    clock.now += 30
    codes: list[str] = answer.json()["recovery_codes"]
    return codes


@pytest.fixture
def enrolled(api: Callable[..., APIClient], clock: Clock) -> APIClient:
    """A signed-in client whose ``user`` has an app, and ``recovery`` codes."""
    client: Any = api("admin")
    client.recovery = enrol(client, clock)
    return client


def give_password(user: User, address: str = "20.0.0.1") -> APIClient:
    client = APIClient(REMOTE_ADDR=address)
    answer = post(client, SESSION, email=user.email, password=PASSWORD)
    assert (answer.status_code, answer.json()["second_factor_due"]) == (200, True)
    return client


def is_in(client: APIClient) -> bool:
    return client.get("/api/v1/teams/current").status_code == 200


def actions(user: User) -> list[str]:
    return list(AccountEvent.objects.filter(user=user).order_by("created_at").values_list("action", flat=True))


def test_enrolment(api: Callable[..., APIClient], clock: Clock) -> None:
    client = api("admin")
    assert client.get(FACTORS).json() | {"passkey_origin": None} == {
        "totp_since": None,
        "passkeys": 0,
        "passkey_origin": None,
        "recovery_codes": 0,
        "required": False,
    }
    key = post(client, TOTP, current=PASSWORD).json()
    assert key["secret"] == SECRET
    name = client.user.email.replace("@", "%40")
    assert key["uri"] == f"otpauth://totp/Dressage:{name}?secret={SECRET}&issuer=Dressage"
    assert key["qr"].startswith("<svg ") and "http://www.w3.org/2000/svg" in key["qr"]
    assert post(APIClient(), SESSION, email=client.user.email, password=PASSWORD).json()["authenticated"] is True
    assert code_of(post(client, CONFIRM, code="000000")) == (422, "wrong_code")
    codes = post(client, CONFIRM, code=clock.code()).json()["recovery_codes"]
    assert len(set(codes)) == 10 and all(len(code) == 19 for code in codes)
    told = client.get(FACTORS).json()
    assert (told["totp_since"] is not None, told["recovery_codes"], told["required"]) == (True, 10, False)
    assert "account.totp_on" in actions(client.user)
    assert AuditEntry.objects.filter(action="account.totp_on").count() == 1


def test_nothing_stored_is_a_secret_in_clear(enrolled: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT a::text, r::text FROM teams_authenticator a, teams_recoverycode r")
        rows = str(cursor.fetchall())
    assert SECRET not in rows
    assert not [code for code in enrolled.recovery if code in rows or code.replace("-", "") in rows]
    assert unseal(Authenticator.objects.get().secret_sealed) == SECRET


def test_a_rotation_seals_the_keys_anew(enrolled: Any, clock: Clock, settings: Any, tmp_path: Path) -> None:
    new = Fernet.generate_key().decode()
    old = settings.ENCRYPTION_KEY_FILE.read_text().split()[0]
    settings.ENCRYPTION_KEYS = (new, old)
    call_command("rotate_encryption_key")
    settings.ENCRYPTION_KEYS = (new,)
    assert post(give_password(enrolled.user), STEP, code=clock.code()).status_code == 200


def test_setting_up_needs_the_password(api: Callable[..., APIClient], clock: Clock) -> None:
    client = api("viewer")
    for body in ({}, {"current": "wrong"}):
        assert code_of(post(client, TOTP, **body)) == (422, "wrong_password")
    assert code_of(post(client, CONFIRM, code=clock.code())) == (409, "nothing_to_confirm")
    assert Authenticator.objects.count() == 0


def test_a_second_app_takes_no_place_of_the_first(enrolled: Any, clock: Clock) -> None:
    assert code_of(post(enrolled, TOTP, current=PASSWORD)) == (409, "totp_is_on")
    assert code_of(post(enrolled, CONFIRM, code=clock.code())) == (409, "nothing_to_confirm")
    assert RecoveryCode.objects.filter(used_at=None).count() == 10


def test_two_steps(enrolled: Any, clock: Clock) -> None:
    client = give_password(enrolled.user)
    told = client.get(SESSION).json()
    assert (told["authenticated"], told["second_factor_due"], told["user"], told["teams"]) == (False, True, None, [])
    assert not is_in(client)
    assert not [name for name in client.cookies if name.startswith("device_")]
    before = client.cookies["sessionid"].value
    answer = post(client, STEP, code=clock.code())
    told = answer.json()
    assert (answer.status_code, told["authenticated"], told["second_factor_due"]) == (200, True, False)
    assert is_in(client) and client.cookies["sessionid"].value != before
    assert [name for name in client.cookies if name.startswith("device_")]
    assert actions(enrolled.user).count("account.sign_in") == 1


def test_the_first_step_ends_the_session_of_whoever_was_signed_in(enrolled: Any, api: Callable[..., APIClient]) -> None:
    """Else a thief of a session would take it to a new id, which its owner neither sees nor ends."""
    thief, owner = APIClient(), api("viewer").user
    assert post(thief, SESSION, email=owner.email, password=PASSWORD).json()["authenticated"] is True
    before = thief.cookies["sessionid"].value
    told = post(thief, SESSION, email=enrolled.user.email, password=PASSWORD).json()
    assert (told["authenticated"], told["second_factor_due"], told["user"]) == (False, True, None)
    assert not is_in(thief)
    assert thief.cookies["sessionid"].value != before
    assert not Session.objects.filter(pk=before).exists()
    assert not UserSession.objects.filter(user=owner).exists()


@pytest.mark.parametrize(("steps", "status"), [(-2, 401), (-1, 200), (0, 200), (1, 200), (2, 401)])
def test_the_window(enrolled: Any, clock: Clock, steps: int, status: int) -> None:
    clock.now += 300
    assert post(give_password(enrolled.user), STEP, code=clock.code(steps)).status_code == status


def test_a_code_is_good_once(enrolled: Any, clock: Clock) -> None:
    used = clock.code()
    assert post(give_password(enrolled.user), STEP, code=used).status_code == 200
    again = give_password(enrolled.user)
    assert code_of(post(again, STEP, code=used)) == (401, "wrong_code")
    clock.now += 30
    assert code_of(post(again, STEP, code=used)) == (401, "wrong_code")
    assert post(again, STEP, code=clock.code()).status_code == 200


def test_an_older_code_is_no_good_after_a_newer(enrolled: Any, clock: Clock) -> None:
    assert post(give_password(enrolled.user), STEP, code=clock.code(1)).status_code == 200
    assert post(give_password(enrolled.user), STEP, code=clock.code(0)).status_code == 401


def test_the_code_that_confirmed_opens_nothing(api: Callable[..., APIClient], clock: Clock) -> None:
    client = api("viewer")
    enrol(client, clock)
    clock.now -= 30
    assert post(give_password(client.user), STEP, code=clock.code()).status_code == 401


@pytest.mark.parametrize("kind", ["totp", "recovery"])
def test_one_code_in_parallel_is_good_once(transactional_db: None, clock: Clock, kind: str) -> None:
    user = User.objects.create_user("owner@example.com", PASSWORD)
    Membership.objects.create(team=Team.objects.create(name="Stable", slug="stable"), user=user, role="viewer")
    own = APIClient()
    own.force_login(user)
    recovery = enrol(own, clock)
    code = recovery[0] if kind == "recovery" else clock.code()
    clients = [give_password(user, f"20.0.{number}.1") for number in range(8)]

    def attempt(client: APIClient) -> int:
        try:
            return int(post(client, STEP, code=code).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        statuses = sorted(pool.map(attempt, clients))
    assert statuses == [200] + [401] * 7


def test_a_recovery_code_is_good_once(enrolled: Any) -> None:
    first, second = enrolled.recovery[:2]
    assert post(give_password(enrolled.user), STEP, code=f" {first.upper()} ").status_code == 200
    again = give_password(enrolled.user)
    assert code_of(post(again, STEP, code=first)) == (401, "wrong_code")
    assert post(again, STEP, code=second.replace("-", "")).status_code == 200
    assert enrolled.get(FACTORS).json()["recovery_codes"] == 8
    assert actions(enrolled.user).count("account.recovery_code_used") == 2
    assert AuditEntry.objects.filter(action="account.recovery_code_used").count() == 2


def test_codes_of_others_are_no_good(
    enrolled: Any, api: Callable[..., APIClient], clock: Clock, monkeypatch: Any
) -> None:
    other: Any = api("viewer")
    monkeypatch.setattr("dressage.teams.two_factor.codes.pyotp.random_base32", lambda: OTHER)
    post(other, TOTP, current=PASSWORD)
    theirs = post(other, CONFIRM, code=clock.code(secret=OTHER)).json()["recovery_codes"]
    for code in (theirs[0], clock.code(secret=OTHER)):
        assert post(give_password(enrolled.user), STEP, code=code).status_code == 401
    assert RecoveryCode.objects.exclude(used_at=None).count() == 0


@pytest.mark.parametrize("code", ["", "12345", "1234567", "１２３４５６", "abc", "x" * 41])
def test_what_is_no_code(enrolled: Any, code: str) -> None:
    client = give_password(enrolled.user)
    assert post(client, STEP, code=code).status_code in (401, 422)
    assert not is_in(client)


def test_a_code_without_the_password_opens_nothing(enrolled: Any, clock: Clock) -> None:
    assert code_of(post(APIClient(), STEP, code=clock.code())) == (401, "no_second_step")
    client = give_password(enrolled.user)
    clock.now += 601
    assert code_of(post(client, STEP, code=clock.code())) == (401, "no_second_step")
    assert client.get(SESSION).json()["second_factor_due"] is False


def test_a_changed_password_ends_the_second_step(enrolled: Any, clock: Clock) -> None:
    client = give_password(enrolled.user)
    enrolled.user.set_password("another long secret")
    enrolled.user.save()
    assert code_of(post(client, STEP, code=clock.code())) == (401, "no_second_step")
    User.objects.update(is_active=False)
    assert code_of(post(client, STEP, code=clock.code())) == (401, "no_second_step")


def test_the_second_step_needs_the_csrf_token(enrolled: Any, clock: Clock) -> None:
    client = APIClient(enforce_csrf_checks=True)
    client.get(SESSION)
    token = {"HTTP_X_CSRFTOKEN": client.cookies["csrftoken"].value}
    client.post(SESSION, {"email": enrolled.user.email, "password": PASSWORD}, format="json", **token)
    assert code_of(client.post(STEP, {"code": clock.code()}, format="json")) == (403, "csrf_failed")
    assert not is_in(client)


def test_guesses_are_slowed_and_told_to_the_owner(enrolled: Any, clock: Clock) -> None:
    client = give_password(enrolled.user)
    assert [post(client, STEP, code="000000").status_code for _ in range(4)] == [401, 401, 401, 429]
    # The password once more buys no further guesses.
    assert post(give_password(enrolled.user), STEP, code=clock.code()).status_code == 429
    event = AccountEvent.objects.get(user=enrolled.user, action="account.code_failed")
    assert (event.count, event.address) == (3, "20.0.0.1")
    assert AuditEntry.objects.filter(action="account.code_failed").count() == 1


@pytest.mark.expensive(2, "walks over many requests", about=PLATFORM)
def test_ten_thousand_guessers_who_have_the_password() -> None:
    """They guess as often as they are let for a day: fewer than 500 times. A browser that is known does not wait."""
    start, looked_at = 1_800_000_000.0, 0
    for number in range(10_000):
        gates = limits.code_gates("usr_1", f"20.{number // 256}.{number % 256}.0/24", None, False)
        looked_at += guess(*gates, now=start + number * 8.64).wait == 0
    assert 250 < looked_at < 500
    known = limits.code_gates("usr_1", "20.0.0.0/24", "dev_1", False)
    assert guess(*known, now=start + 86_400).wait == 0


def test_turning_off_needs_the_password_and_a_code(enrolled: Any, clock: Clock) -> None:
    wrong = [
        ("wrong", clock.code(), "wrong_password"),
        (PASSWORD, "000000", "wrong_code"),
        ("", clock.code(), "wrong_password"),
    ]
    for current, code, name in wrong:
        assert code_of(post(enrolled, DISABLE, current=current, code=code)) == (422, name)
    assert enrolled.get(FACTORS).json()["recovery_codes"] == 10
    assert post(enrolled, DISABLE, current=PASSWORD, code=clock.code()).status_code == 204
    assert (Authenticator.objects.count(), RecoveryCode.objects.count()) == (0, 0)
    assert "account.totp_off" in actions(enrolled.user)
    assert post(APIClient(), SESSION, email=enrolled.user.email, password=PASSWORD).json()["authenticated"] is True
    assert code_of(post(enrolled, DISABLE, current=PASSWORD, code="000000")) == (409, "totp_is_off")


def test_new_recovery_codes_end_the_old(enrolled: Any, clock: Clock) -> None:
    assert code_of(post(enrolled, RENEW, current=PASSWORD, code="000000")) == (422, "wrong_code")
    fresh = post(enrolled, RENEW, current=PASSWORD, code=clock.code()).json()["recovery_codes"]
    assert len(fresh) == 10 and not set(fresh) & set(enrolled.recovery)
    client = give_password(enrolled.user)
    assert post(client, STEP, code=enrolled.recovery[0]).status_code == 401
    assert post(client, STEP, code=fresh[0]).status_code == 200


def test_recovery_codes_are_for_who_has_a_second_factor(api: Callable[..., APIClient]) -> None:
    assert code_of(post(api("viewer"), RENEW, current=PASSWORD, code="000000")) == (409, "no_second_factor")
    assert RecoveryCode.objects.count() == 0


@pytest.mark.parametrize(
    ("wanted", "role", "open_"),
    [("optional", "admin", True), ("admins", "viewer", True), ("admins", "admin", False), ("all", "viewer", False)],
)
def test_a_second_factor_may_be_required(
    api: Callable[..., APIClient], clock: Clock, settings: Any, wanted: str, role: str, open_: bool
) -> None:
    settings.SECOND_FACTOR = wanted
    client = api(role)
    told = client.get(SESSION).json()
    assert (told["authenticated"], told["second_factor_missing"], told["team"] is not None) == (True, not open_, open_)
    for path in ("/api/v1/datasets", "/api/v1/account/sessions"):
        assert client.get(path).status_code == (200 if open_ else 403)
    if not open_:
        assert code_of(client.get("/api/v1/datasets")) == (403, "second_factor_missing")
        assert code_of(post(client, "/api/v1/session/team", team="x")) == (403, "second_factor_missing")
    enrol(client, clock)
    assert client.get("/api/v1/datasets").status_code == 200
    assert client.get(SESSION).json()["team"] is not None


def test_the_operator_can_let_somebody_in_again(enrolled: Any) -> None:
    call_command("remove_second_factors", "--email", enrolled.user.email.upper())
    assert post(APIClient(), SESSION, email=enrolled.user.email, password=PASSWORD).json()["authenticated"] is True
    assert (Authenticator.objects.count(), RecoveryCode.objects.count()) == (0, 0)
    assert actions(enrolled.user)[-2:] == ["account.second_factors_removed", "account.sign_in"]
    with pytest.raises(CommandError, match="no account"):
        call_command("remove_second_factors", "--email", "nobody@example.com")


def test_sessions_of_before_go_on(enrolled: Any) -> None:
    assert is_in(enrolled)
    assert Session.objects.count() == 1
