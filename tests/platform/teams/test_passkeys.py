"""Passkeys: registered, signed in with, and what is refused."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from dressage.teams.models import AccountEvent, Membership, Passkey, RecoveryCode, Team, User
from dressage.teams.two_factor import challenges
from dressage.teams.two_factor.relying_party import relying_party
from tests.platform.conftest import PASSWORD
from tests.platform.teams.authenticator import PRESENT, VERIFIED, Device
from tests.support.about import PLATFORM

SESSION, STEP = "/api/v1/session", "/api/v1/session/second-factor"
SIGN_IN, ASK = "/api/v1/session/passkey", "/api/v1/session/passkey/options"
PASSKEYS, BEGIN = "/api/v1/account/passkeys", "/api/v1/account/passkeys/options"


@pytest.fixture(autouse=True)
def address(settings: Any) -> None:
    settings.PUBLIC_URL = "http://127.0.0.1:8600"


def post(client: APIClient, path: str, **body: Any) -> Any:
    return client.post(path, body, format="json")


def code_of(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def begin(client: APIClient, **proof: str) -> dict[str, Any]:
    answer = post(client, BEGIN, current=PASSWORD, **proof)
    assert answer.status_code == 200
    options: dict[str, Any] = answer.json()["options"]
    return options


def register(client: APIClient, device: Device, **proof: str) -> list[str]:
    answer = post(client, PASSKEYS, name="Phone", credential=device.create(begin(client, **proof)))
    assert answer.status_code == 201, answer.content
    codes: list[str] = answer.json()["recovery_codes"]
    return codes


def ask(client: APIClient) -> dict[str, Any]:
    answer = post(client, ASK)
    assert answer.status_code == 200
    options: dict[str, Any] = answer.json()["options"]
    return options


def is_in(client: APIClient) -> bool:
    return client.get("/api/v1/teams/current").status_code == 200


@pytest.fixture
def device() -> Device:
    return Device()


@pytest.fixture
def owner(api: Callable[..., APIClient], device: Device) -> Any:
    """A signed-in client whose ``user`` has the passkey of ``device``, and ``recovery`` codes."""
    client: Any = api("viewer")
    client.recovery = register(client, device)
    return client


def test_registering(api: Callable[..., APIClient], device: Device) -> None:
    client = api("viewer")
    options = begin(client)
    assert options["rp"] == {"id": "localhost", "name": "Dressage"}
    assert options["authenticatorSelection"]["userVerification"] == "required"
    assert options["authenticatorSelection"]["residentKey"] == "required"
    made = post(client, PASSKEYS, name="Phone", credential=device.create(options)).json()
    assert (made["passkey"]["name"], len(made["recovery_codes"])) == ("Phone", 10)
    assert [row["name"] for row in client.get(PASSKEYS).json()["data"]] == ["Phone"]
    told = client.get("/api/v1/account/second-factors").json()
    assert (told["passkeys"], told["recovery_codes"], told["passkey_origin"]) == (1, 10, "http://localhost:8600")
    again = begin(client, code=made["recovery_codes"][0])
    assert [one["id"] for one in again["excludeCredentials"]] == [Passkey.objects.get().credential_id]
    assert register(client, Device(), code=made["recovery_codes"][1]) == []
    assert AccountEvent.objects.filter(action="account.passkey_add").count() == 2


def test_a_passkey_alone_signs_in(owner: Any, device: Device) -> None:
    client = APIClient()
    options = ask(client)
    assert (options["rpId"], options["userVerification"], options.get("allowCredentials", [])) == (
        "localhost",
        "required",
        [],
    )
    before = client.cookies["sessionid"].value
    answer = post(client, SIGN_IN, credential=device.get(options))
    assert (answer.status_code, answer.json()["user"]["email"]) == (200, owner.user.email)
    assert is_in(client) and client.cookies["sessionid"].value != before
    assert (Passkey.objects.get().sign_count, Passkey.objects.get().last_used_at is not None) == (1, True)


def test_a_passkey_after_the_password(owner: Any, device: Device) -> None:
    client = APIClient()
    assert post(client, SESSION, email=owner.user.email, password=PASSWORD).json()["second_factor_due"] is True
    assert not is_in(client)
    options = ask(client)
    assert [one["id"] for one in options["allowCredentials"]] == [Passkey.objects.get().credential_id]
    assert post(client, SIGN_IN, credential=device.get(options)).status_code == 200
    assert is_in(client)


def test_a_recovery_code_stands_in_for_a_passkey(owner: Any) -> None:
    client = APIClient()
    post(client, SESSION, email=owner.user.email, password=PASSWORD)
    assert post(client, STEP, code=owner.recovery[0]).status_code == 200


LIES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "another origin": ({"origin": "https://evil.example"}, {}),
    "another port": ({"origin": "http://localhost:8601"}, {}),
    "an address": ({"origin": "http://127.0.0.1:8600"}, {}),
    "https": ({"origin": "https://localhost:8600"}, {}),
    "another party": ({"rp": "evil.example"}, {}),
    "nobody checked": ({"flags": PRESENT}, {}),
    "nobody there": ({"flags": VERIFIED}, {}),
    "another challenge": ({}, {"challenge": "AAAA"}),
    "another act": ({}, {"type": "payment.get"}),
}


@pytest.mark.parametrize("lie", LIES)
def test_registering_by_a_lie(api: Callable[..., APIClient], lie: str) -> None:
    client, (device, said) = api("viewer"), LIES[lie]
    answer = Device(**device).create(begin(client), **said)
    assert code_of(post(client, PASSKEYS, name="x", credential=answer)) == (422, "wrong_passkey")
    assert (Passkey.objects.count(), RecoveryCode.objects.count()) == (0, 0)


@pytest.mark.parametrize("lie", LIES)
def test_signing_in_by_a_lie(owner: Any, device: Device, lie: str) -> None:
    client, (changes, said) = APIClient(), LIES[lie]
    for name, value in changes.items():
        setattr(device, name, value)
    assert code_of(post(client, SIGN_IN, credential=device.get(ask(client), **said))) == (401, "wrong_passkey")
    assert not is_in(client)
    assert Passkey.objects.get().sign_count == 0
    assert AccountEvent.objects.filter(user=owner.user, action="account.passkey_failed").count() == 1


def test_a_signature_of_another_key(owner: Any, device: Device) -> None:
    client, liar = APIClient(), Device(id=device.id, handle=device.handle)
    assert code_of(post(client, SIGN_IN, credential=liar.get(ask(client)))) == (401, "wrong_passkey")


def test_an_unknown_passkey(owner: Any) -> None:
    client = APIClient()
    assert code_of(post(client, SIGN_IN, credential=Device().get(ask(client)))) == (401, "wrong_passkey")


@pytest.mark.parametrize("credential", [{}, {"id": 3}, {"id": "x", "response": []}, {"id": "x", "response": {}}])
def test_what_is_no_credential(owner: Any, credential: dict[str, Any]) -> None:
    client = APIClient()
    ask(client)
    assert post(client, SIGN_IN, credential=credential).status_code == 401
    for known in (
        {"id": Passkey.objects.get().credential_id, "response": 3},
        {"id": Passkey.objects.get().credential_id},
    ):
        ask(client)
        assert post(client, SIGN_IN, credential=known).status_code == 401
    codes = owner.recovery
    begin(owner, code=codes[0])
    assert post(owner, PASSKEYS, name="x", credential=credential).status_code == 422


def test_a_challenge_is_good_once(owner: Any, device: Device) -> None:
    device.counts = False  # so that nothing but the challenge tells
    client = APIClient()
    answer = device.get(ask(client))
    assert post(client, SIGN_IN, credential=answer).status_code == 200
    assert code_of(post(client, SIGN_IN, credential=answer)) == (409, "no_challenge")
    other = APIClient()
    assert code_of(post(other, SIGN_IN, credential=answer)) == (409, "no_challenge")
    ask(other)
    assert code_of(post(other, SIGN_IN, credential=answer)) == (401, "wrong_passkey")
    assert not is_in(other)


def test_a_challenge_of_another_purpose_or_time(owner: Any, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    options = begin(owner, code=owner.recovery[0])
    assert code_of(post(owner, SIGN_IN, credential=device.get(options))) == (409, "no_challenge")
    client = APIClient()
    answer = device.get(ask(client))
    late = challenges.time.time() + 301
    monkeypatch.setattr(challenges.time, "time", lambda: late)
    assert code_of(post(client, SIGN_IN, credential=answer)) == (409, "no_challenge")


def test_one_answer_in_parallel_is_good_once(transactional_db: None, device: Device) -> None:
    device.counts = False
    user = User.objects.create_user("owner@example.com", PASSWORD)
    Membership.objects.create(team=Team.objects.create(name="Stable", slug="stable"), user=user, role="viewer")
    own = APIClient()
    own.force_login(user)
    register(own, device)
    first = APIClient()
    answer = device.get(ask(first))

    def attempt(_: int) -> int:
        client = APIClient()
        client.cookies["sessionid"] = first.cookies["sessionid"].value
        try:
            return int(post(client, SIGN_IN, credential=answer).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(attempt, range(8)))
    assert statuses.count(200) == 1
    # 409: the question is gone. 400: the session was, when this request was about to note in it what it had asked.
    assert statuses.count(409) + statuses.count(400) == 7


def test_a_copied_device_is_noticed(owner: Any, device: Device) -> None:
    device.count = 10
    client = APIClient()
    assert post(client, SIGN_IN, credential=device.get(ask(client))).status_code == 200
    device.count = 5
    copy = APIClient()
    assert code_of(post(copy, SIGN_IN, credential=device.get(ask(copy)))) == (401, "wrong_passkey")
    assert Passkey.objects.get().sign_count == 11


@pytest.mark.expensive(5, "walks over many requests", about=PLATFORM)
def test_a_passkey_of_somebody_else_is_no_second_step(
    owner: Any, api: Callable[..., APIClient], device: Device
) -> None:
    other, theirs = api("viewer"), Device()
    register(other, theirs)
    client = APIClient()
    post(client, SESSION, email=owner.user.email, password=PASSWORD)
    assert code_of(post(client, SIGN_IN, credential=theirs.get(ask(client)))) == (401, "wrong_passkey")
    assert not is_in(client)
    device.handle = theirs.handle
    assert code_of(post(client, SIGN_IN, credential=device.get(ask(client)))) == (401, "wrong_passkey")


def test_a_known_passkey_is_not_registered_again(owner: Any, api: Callable[..., APIClient], device: Device) -> None:
    other = api("admin")
    answer = post(other, PASSKEYS, name="Mine", credential=device.create(begin(other)))
    assert code_of(answer) == (422, "passkey_known")
    assert Passkey.objects.get().user == owner.user


def test_an_inactive_person(owner: Any, device: Device) -> None:
    User.objects.update(is_active=False)
    client = APIClient()
    assert code_of(post(client, SIGN_IN, credential=device.get(ask(client)))) == (401, "wrong_passkey")


def test_adding_and_removing_need_password_and_code(owner: Any, api: Callable[..., APIClient]) -> None:
    passkey = Passkey.objects.get()
    path = f"{PASSKEYS}/{passkey.id}/remove"
    assert code_of(post(owner, BEGIN, current="wrong")) == (422, "wrong_password")
    assert code_of(post(owner, BEGIN, current=PASSWORD)) == (422, "wrong_code")
    assert code_of(post(owner, path, current=PASSWORD, code="000000")) == (422, "wrong_code")
    assert code_of(post(api("admin"), path, current=PASSWORD, code="000000")) == (404, "not_found")
    assert Passkey.objects.count() == 1
    assert post(owner, path, current=PASSWORD, code=owner.recovery[0]).status_code == 204
    assert (Passkey.objects.count(), RecoveryCode.objects.count()) == (0, 0)
    assert post(APIClient(), SESSION, email=owner.user.email, password=PASSWORD).json()["authenticated"] is True


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://dressage.example.com", ("dressage.example.com", "https://dressage.example.com")),
        ("https://dressage.example.com:8443/", ("dressage.example.com", "https://dressage.example.com:8443")),
        ("http://127.0.0.1:8600", ("localhost", "http://localhost:8600")),
        ("http://dressage.example.com", None),
        ("https://10.0.0.3", None),
    ],
)
def test_the_relying_party(settings: Any, url: str, expected: tuple[str, str] | None) -> None:
    settings.PUBLIC_URL = url
    party = relying_party()
    assert (party and (party.id, party.origin)) == expected


def test_without_an_address_there_are_no_passkeys(settings: Any, api: Callable[..., APIClient]) -> None:
    settings.PUBLIC_URL = "http://dressage.example.com"
    client = api("viewer")
    assert code_of(post(client, BEGIN, current=PASSWORD)) == (409, "no_passkeys_here")
    assert code_of(post(APIClient(), ASK)) == (409, "no_passkeys_here")
    assert client.get("/api/v1/account/second-factors").json()["passkey_origin"] is None
