"""Guessing of passwords: guessers are slowed, and no owner is shut out, whatever guessers do."""

import itertools
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from rest_framework.test import APIClient

from dressage.teams.guesses import limiter, limits
from dressage.teams.guesses.limiter import guess
from dressage.teams.models import Membership, Team, User
from tests.platform.conftest import PASSWORD
from tests.support.about import PLATFORM

SESSION, CHANGE = "/api/v1/session", "/api/v1/session/password"
MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
ACCOUNT = "owner@example.com"


@pytest.fixture(autouse=True)
def frozen_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine lets no wait pass."""
    monkeypatch.setattr(limiter, "time", lambda: 1_800_000_000.0)


def sign_in(client: APIClient, email: str, password: str = "wrong") -> int:
    return client.post(SESSION, {"email": email, "password": password}, format="json").status_code


def wait(
    network: str,
    now: float,
    *,
    account: str = ACCOUNT,
    device: str | None = None,
    known: bool = False,
    right: bool = False,
) -> float:
    """Seconds that a guess has to wait; 0 where it was counted."""
    counted = guess(*limits.sign_in_gates(account, network, device, known), now=now)
    if right and counted.wait == 0:
        counted.was_right()
    return counted.wait


def network(number: int) -> str:
    return f"20.{number // 256}.{number % 256}.0/24"


@pytest.mark.expensive(3, "walks over many requests", about=PLATFORM)
def test_ten_thousand_guessers_for_two_days() -> None:
    """They all guess as often as they are let. The owner comes by every six minutes from devices new and known."""
    start, admitted, chance = 1_800_000_000.0, [0, 0], random.Random(0)
    for number in range(10_000):
        admitted[0] += wait(network(number), start + number / 1000) == 0
    guesser, owner = 0, 0
    for round_ in range(1, 2 * 240):
        now = start + round_ * 6 * MINUTE
        # Whoever is refused leaves it to the next: all of them wait for the same allowance.
        while wait(network(guesser % 10_000), now) == 0:
            admitted[round_ >= 240] += 1
            guesser += 1
        guesser += 1
        assert wait(network(chance.randrange(10_000)), now, device="dev_1", right=True) == 0
        if round_ % 24 == 0:
            owner += 1
            assert wait(network(20_000 + owner), now, right=True) == 0, "a new device in a network of its own"
    assert 10_000 <= admitted[0] <= 10_500
    assert admitted[1] <= 300


def test_no_number_of_networks_gets_more_than_the_ceiling() -> None:
    """Each guess comes from a network of its own, as from a botnet without end."""
    gates = limits.sign_in_gates(ACCOUNT, "x", None, False)[1]
    most = limits.ALONE_BURST + DAY / limits.ALONE_EVERY + limits.SHARED_BURST + DAY / limits.SHARED_EVERY
    assert (gates.alone.burst, gates.shared.burst, most) == (15_000, 50, 16_290)


def test_the_ceiling_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ALONE_BURST", 20)
    monkeypatch.setattr(limits, "SHARED_BURST", 5)
    assert sum(wait(network(number), 1_800_000_000.0) == 0 for number in range(60)) == 25
    assert wait(network(99), 1_800_000_000.0, device="dev_1", right=True) == 0


def test_waits_grow_and_end() -> None:
    """One guesser alone: three at once, then 1 s, 2 s, 4 s, and an hour at most."""
    now, times = 1_800_000_000.0, []
    while len(times) < 20:
        pause = wait("20.0.0.0/24", now)
        now += pause
        if pause == 0:
            times.append(now)
    pauses = [round(later - earlier) for earlier, later in itertools.pairwise(times)]
    assert pauses[:8] == [0, 0, 1, 2, 4, 8, 16, 32]
    assert max(pauses) == HOUR
    assert times[-1] - times[0] < 10 * HOUR


def test_a_wrong_guess_is_forgotten_after_the_right_one() -> None:
    now = 1_800_000_000.0
    for _ in range(20):
        assert [wait("20.0.0.0/24", now), wait("20.0.0.0/24", now)] == [0, 0]
        assert wait("20.0.0.0/24", now, right=True) == 0
        now += 10 * MINUTE


def test_an_own_device_waits_a_minute_at_most() -> None:
    now, longest = 1_800_000_000.0, 0.0
    for _ in range(40):
        pause = wait("x", now, device="dev_1")
        longest, now = max(longest, pause), now + pause
        if pause:
            assert wait("x", now, device="dev_1") == 0
    assert longest == MINUTE
    assert wait("x", now, device="dev_2", right=True) == 0


@pytest.mark.expensive(2, "walks over many requests", about=PLATFORM)
def test_parallel_guesses_are_counted_one_by_one(transactional_db: None) -> None:
    """Three of forty that are sent at once are looked at."""
    user = User.objects.create_user(ACCOUNT, PASSWORD)
    Membership.objects.create(team=Team.objects.create(name="Stable", slug="stable"), user=user, role="viewer")

    def attempt(_: int) -> int:
        try:
            return sign_in(APIClient(REMOTE_ADDR="20.0.0.1"), ACCOUNT)
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as pool:
        statuses = list(pool.map(attempt, range(40)))
    assert (statuses.count(401), statuses.count(429)) == (3, 37)


def test_a_refusal_says_how_long(make_user: Callable[..., User]) -> None:
    user, client = make_user(), APIClient(REMOTE_ADDR="20.0.0.1")
    assert [sign_in(client, user.email) for _ in range(3)] == [401] * 3
    answer = client.post(SESSION, {"email": user.email, "password": PASSWORD}, format="json")
    assert (answer.status_code, answer.json()["error"]["code"], answer["Retry-After"]) == (429, "throttled", "1")
    assert answer.json()["detail"].startswith("There were too many wrong guesses. Try again in 1 s; ")
    assert client.get(SESSION).json()["authenticated"] is False


@pytest.mark.expensive(2, "walks over many requests", about=PLATFORM)
def test_the_owner_gets_in_while_others_guess(make_user: Callable[..., User]) -> None:
    """From a known device, a known network and elsewhere, though guessers come from many addresses and the own one."""
    user = make_user()
    known = APIClient(REMOTE_ADDR="20.9.9.9")
    assert sign_in(known, user.email, PASSWORD) == 200
    for number in range(30):
        sign_in(APIClient(REMOTE_ADDR=f"20.0.{number}.1"), user.email)
    for _ in range(8):
        sign_in(APIClient(REMOTE_ADDR="20.8.8.8"), user.email)
    known.defaults["REMOTE_ADDR"] = "20.8.8.8"
    assert sign_in(known, user.email, PASSWORD) == 200
    assert sign_in(APIClient(REMOTE_ADDR="20.9.9.10"), user.email, PASSWORD) == 200
    assert sign_in(APIClient(REMOTE_ADDR="20.7.7.7"), user.email, PASSWORD) == 200


@pytest.mark.expensive(2, "walks over many requests", about=PLATFORM)
def test_guesses_at_one_account_do_not_shut_others_out_behind_the_same_address(make_user: Callable[..., User]) -> None:
    """Also where one address guesses at accounts without end: whoever was here before gets in."""
    here, victim, colleague = {"REMOTE_ADDR": "20.0.0.1"}, make_user(), make_user()
    for _ in range(10):
        sign_in(APIClient(**here), victim.email)
    assert sign_in(APIClient(**here), colleague.email, PASSWORD) == 200
    statuses = {sign_in(APIClient(**here), f"u{number}@example.com") for number in range(40)}
    assert statuses == {401, 429}
    assert sign_in(APIClient(**here), colleague.email, PASSWORD) == 200


def test_a_device_is_known_to_its_own_account_alone(make_user: Callable[..., User]) -> None:
    """A guesser with an account of their own gets no device at another, nor by a cookie that is forged or renamed."""
    user, guesser = make_user(), make_user()
    client = APIClient(REMOTE_ADDR="20.0.0.1")
    assert sign_in(client, guesser.email, PASSWORD) == 200
    (name,) = [name for name in client.cookies if name.startswith("device_")]
    own = APIClient()
    assert sign_in(own, user.email, PASSWORD) == 200
    (other,) = [name for name in own.cookies if name.startswith("device_")]
    assert other != name
    client.cookies[other] = client.cookies[name].value
    assert [sign_in(client, user.email) for _ in range(4)] == [401, 401, 401, 429]
    cookie = own.cookies[other]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", "/api/v1/session")


def test_a_new_device_with_a_pass_does_not_wait(
    make_user: Callable[..., User], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even behind the address of a guesser who never stops; without a pass, or with another's, it waits."""
    here, user, guesser = "20.0.0.1", make_user(), make_user()
    passes = {}
    for one in (user, guesser):
        client = APIClient(REMOTE_ADDR="20.9.9.9")
        assert sign_in(client, one.email, PASSWORD) == 200
        passes[one] = client.post("/api/v1/account/device-passes").json()["device_pass"]
    while sign_in(APIClient(REMOTE_ADDR=here), user.email) != 429:
        pass
    body = {"email": user.email, "password": PASSWORD}

    def try_with(device_pass: str) -> int:
        client = APIClient(REMOTE_ADDR=here)
        return client.post(SESSION, {**body, "device_pass": device_pass}, format="json").status_code

    assert [try_with(text) for text in ("", "forged", passes[guesser])] == [429] * 3
    with monkeypatch.context() as later:
        later.setattr("dressage.teams.guesses.devices.PASS_S", -1.0)
        assert try_with(passes[user]) == 429
    assert try_with(passes[user]) == 200


def test_all_passes_of_an_account_share_one_line(make_user: Callable[..., User]) -> None:
    """A thief of the cookie makes passes without end, and has ten guesses at the password by them."""
    user, other = make_user(), make_user()

    def pass_of(one: User) -> str:
        client = APIClient(REMOTE_ADDR="20.9.9.9")
        assert sign_in(client, one.email, PASSWORD) == 200
        return str(client.post("/api/v1/account/device-passes").json()["device_pass"])

    def guess_with(device_pass: str, email: str = user.email) -> int:
        body = {"email": email, "password": "wrong", "device_pass": device_pass}
        return APIClient(REMOTE_ADDR="20.0.0.1").post(SESSION, body, format="json").status_code

    first, second = pass_of(user), pass_of(user)
    assert [guess_with(first) for _ in range(11)] == [401] * 10 + [429]
    assert guess_with(second) == 429
    assert guess_with(pass_of(other), other.email) == 401


@pytest.mark.parametrize("home", ["20.9.9.9", "20.0.0.1"])
def test_an_account_that_does_not_exist_looks_like_one_that_does(make_user: Callable[..., User], home: str) -> None:
    """Refusals, waits and cookies are the same, also in a network from which its owner signs in."""
    user = make_user()
    assert sign_in(APIClient(REMOTE_ADDR=home), user.email, PASSWORD) == 200

    def seen(email: str, address: str) -> list[tuple[int, str, list[str]]]:
        answers = []
        for _ in range(5):
            client = APIClient(REMOTE_ADDR=address)
            answer = client.post(SESSION, {"email": email, "password": "wrong"}, format="json")
            answers.append((answer.status_code, answer.json()["error"]["code"], sorted(client.cookies)))
        return answers

    assert seen(user.email, "20.0.0.1") == seen("nobody@example.com", "20.0.1.1")


def test_guesses_at_the_current_password_are_limited_per_session(api: Callable[..., APIClient]) -> None:
    thief, owner = api("viewer"), APIClient()
    owner.force_login(thief.user)
    wrong = {"current": "wrong", "new": "another long secret"}
    assert [thief.post(CHANGE, wrong, format="json").status_code for _ in range(6)] == [422] * 5 + [429]
    assert owner.post(CHANGE, {**wrong, "current": PASSWORD}, format="json").status_code == 204
