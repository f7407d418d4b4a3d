"""A person's own account: sessions that end, and a log of what has happened."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from rest_framework.test import APIClient

from dressage.teams.accounts.log import KEPT_FOR, record_failed_sign_in
from dressage.teams.models import AccountEvent, AuditEntry, Membership, Team, User, UserSession
from dressage.teams.selectors import first_broken_audit_number
from dressage.teams.sessions import life as sessions
from dressage.teams.sessions.user_agents import device_in_words
from dressage.teams.tasks import failed_sign_in, sweep
from tests.platform.conftest import PASSWORD
from tests.platform.tokens import token_of

SESSION, SESSIONS, EVENTS = "/api/v1/session", "/api/v1/account/sessions", "/api/v1/account/events"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
SAFARI = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 Version/18.5 Safari/604.1"
CHROME = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36"
BEGIN = datetime(2026, 11, 20, 9, tzinfo=UTC)


class Clock:
    """The time that Django tells."""

    now = BEGIN

    def pass_(self, **time: float) -> None:
        self.now += timedelta(**time)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    told = Clock()
    monkeypatch.setattr("django.utils.timezone.now", lambda: told.now)
    sessions._seen.clear()
    yield told


def browser(user: User, agent: str = FIREFOX, address: str = "20.0.0.1") -> APIClient:
    client = APIClient(HTTP_USER_AGENT=agent, REMOTE_ADDR=address)
    answer = client.post(SESSION, {"email": user.email, "password": PASSWORD}, format="json")
    assert answer.status_code == 200
    return client


def is_in(client: APIClient) -> bool:
    return client.get("/api/v1/teams/current").status_code == 200


def actions(user: User) -> list[str]:
    return list(AccountEvent.objects.filter(user=user).order_by("created_at").values_list("action", flat=True))


def test_sessions_are_listed(make_user: Callable[..., User], clock: Clock) -> None:
    user, other = make_user(), make_user()
    phone = browser(user, SAFARI, "2600:1:2:3::4")
    clock.pass_(hours=1)
    desk = browser(user)
    browser(other)
    clock.pass_(minutes=5)
    assert is_in(desk)
    rows = desk.get(SESSIONS).json()["data"]
    assert [{name: row[name] for name in row if name != "id"} for row in rows] == [
        {
            "device": "Firefox on Linux",
            "address": "20.0.0.1",
            "created_at": "2026-11-20T10:00:00Z",
            "last_seen_at": "2026-11-20T10:05:00Z",
            "is_current": True,
        },
        {
            "device": "Safari on iPhone",
            "address": "2600:1:2:3::4",
            "created_at": "2026-11-20T09:00:00Z",
            "last_seen_at": "2026-11-20T09:00:00Z",
            "is_current": False,
        },
    ]
    assert [row["is_current"] for row in phone.get(SESSIONS).json()["data"]] == [False, True]
    keys = set(Session.objects.values_list("session_key", flat=True))
    assert not [key for key in keys if key in desk.get(SESSIONS).content.decode()]


def test_ending_one_session(make_user: Callable[..., User]) -> None:
    user = make_user()
    phone, desk = browser(user, SAFARI), browser(user)
    phones = UserSession.objects.get(device="Safari on iPhone")
    assert desk.delete(f"{SESSIONS}/{phones.id}").status_code == 204
    assert (is_in(phone), is_in(desk)) == (False, True)
    assert desk.delete(f"{SESSIONS}/{phones.id}").status_code == 404
    own = desk.get(SESSIONS).json()["data"]
    assert [row["is_current"] for row in own] == [True]
    assert desk.delete(f"{SESSIONS}/{own[0]['id']}").status_code == 204
    assert (is_in(desk), Session.objects.count(), UserSession.objects.count()) == (False, 0, 0)


def test_ending_all_other_sessions(make_user: Callable[..., User]) -> None:
    user, other = make_user(), make_user()
    phone, desk, others = browser(user, SAFARI), browser(user), browser(other)
    assert desk.delete(SESSIONS).status_code == 204
    assert (is_in(phone), is_in(desk), is_in(others)) == (False, True, True)
    assert actions(user)[-1] == "account.session_end"
    assert desk.delete(SESSIONS).status_code == 204
    assert actions(user).count("account.session_end") == 1


def test_sessions_of_others_are_unknown(make_user: Callable[..., User]) -> None:
    user, other = make_user(), make_user("admin")
    desk, others = browser(user), browser(other)
    theirs = UserSession.objects.get(user=user).id
    for wanted in (theirs, "ses_nothing"):
        assert others.delete(f"{SESSIONS}/{wanted}").status_code == 404
    assert is_in(desk)
    assert "account.session_end" not in actions(user)


@pytest.mark.parametrize(("method", "path"), [("get", SESSIONS), ("delete", SESSIONS), ("get", EVENTS)])
def test_the_account_is_a_persons(
    anonymous: APIClient, make_user: Callable[..., User], method: str, path: str, team: Team
) -> None:
    _, secret = token_of(team, "admin")
    assert getattr(anonymous, method)(path).status_code == 401
    program = APIClient(HTTP_AUTHORIZATION=f"Bearer {secret}")
    assert getattr(program, method)(path).status_code == 403


def test_an_idle_session_ends(make_user: Callable[..., User], clock: Clock) -> None:
    desk = browser(make_user())
    for _ in range(5):
        clock.pass_(hours=11)
        assert is_in(desk)
    clock.pass_(hours=12, seconds=1)
    assert not is_in(desk)
    assert desk.get(SESSION).json()["authenticated"] is False


def test_a_session_in_use_ends_after_a_week(
    make_user: Callable[..., User], clock: Clock, team: Team, other_team: Team
) -> None:
    """Also where it is written in between, which is where Django would begin its time anew."""
    user = make_user()
    Membership.objects.create(team=other_team, user=user, role="viewer")
    desk = browser(user)
    for hour in range(0, 7 * 24 - 6, 6):
        clock.pass_(hours=6)
        wanted = (team, other_team)[hour // 6 % 2]
        assert desk.post("/api/v1/session/team", {"team": wanted.id}, format="json").status_code == 200
    clock.pass_(hours=6, seconds=1)
    assert not is_in(desk)


def test_choosing_a_team_does_not_outlive_the_idle_limit(
    make_user: Callable[..., User], clock: Clock, team: Team
) -> None:
    desk = browser(make_user())
    assert desk.post("/api/v1/session/team", {"team": team.id}, format="json").status_code == 200
    clock.pass_(hours=12, seconds=1)
    assert not is_in(desk)


def test_a_session_of_before_goes_on_and_is_listed(make_user: Callable[..., User], clock: Clock) -> None:
    """One that was begun by a release that knew no limits."""
    user, desk = make_user(), APIClient(HTTP_USER_AGENT=CHROME)
    desk.force_login(user)
    Session.objects.update(expire_date=clock.now + timedelta(days=14))
    assert UserSession.objects.count() == 0
    assert is_in(desk)
    assert [row["device"] for row in desk.get(SESSIONS).json()["data"]] == ["Chrome on Windows"]
    clock.pass_(hours=13)
    assert not is_in(desk)


def test_a_session_that_ends_while_it_asks_is_refused(make_user: Callable[..., User]) -> None:
    user, desk = make_user(), APIClient()
    desk.force_login(user)
    request: Any = desk.get(SESSION).wsgi_request
    Session.objects.all().delete()
    request.session._session_key = desk.cookies["sessionid"].value
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    sessions._seen.clear()
    assert sessions.see_session(request, user) is False


def test_changing_the_password_ends_the_others_and_renews_this_one(make_user: Callable[..., User]) -> None:
    user = make_user()
    phone, desk = browser(user, SAFARI), browser(user)
    before = desk.cookies["sessionid"].value
    body = {"current": PASSWORD, "new": "another long secret"}
    assert desk.post("/api/v1/session/password", body, format="json").status_code == 204
    assert desk.cookies["sessionid"].value != before
    assert (is_in(phone), is_in(desk)) == (False, True)
    assert [row["is_current"] for row in desk.get(SESSIONS).json()["data"]] == [True]
    assert Session.objects.count() == 1


def test_what_happens_is_told_to_the_person_and_to_their_teams(
    make_user: Callable[..., User], team: Team, other_team: Team
) -> None:
    user = make_user()
    Membership.objects.create(team=other_team, user=user, role="viewer")
    phone, desk = browser(user, SAFARI, "20.0.0.9"), browser(user)
    assert desk.delete(SESSIONS).status_code == 204
    body = {"current": PASSWORD, "new": "another long secret"}
    assert desk.post("/api/v1/session/password", body, format="json").status_code == 204
    events = desk.get(EVENTS).json()["data"]
    assert [(row["action"], row["device"], row["address"], row["count"]) for row in events] == [
        ("account.password", "Firefox on Linux", "20.0.0.1", 1),
        ("account.session_end", "Firefox on Linux", "20.0.0.1", 1),
        ("account.sign_in", "Firefox on Linux", "20.0.0.1", 1),
        ("account.sign_in", "Safari on iPhone", "20.0.0.9", 1),
    ]
    assert desk.delete(SESSION).status_code == 204
    assert not is_in(phone)
    for one in (team, other_team):
        entries = AuditEntry.objects.filter(team=one).order_by("number")
        assert [entry.action for entry in entries] == [
            "account.sign_in",
            "account.sign_in",
            "account.session_end",
            "account.password",
            "account.sign_out",
        ]
        assert {(entry.actor_id, entry.target_id) for entry in entries} == {(user.id, user.id)}
        assert entries[2].after == {"address": "20.0.0.1", "device": "Firefox on Linux", "ended": "1 other session"}
        assert first_broken_audit_number(one) is None


def test_a_guesser_fills_no_log(make_user: Callable[..., User], team: Team) -> None:
    """Ten thousand wrong passwords in a day are 24 rows, and 24 entries that count them."""
    user, at = make_user(), BEGIN
    for _ in range(240):
        record_failed_sign_in(user.email, address="20.0.0.1", device="curl", now=at)
        at += timedelta(minutes=6)
    rows = AccountEvent.objects.filter(user=user)
    assert (rows.count(), sum(row.count for row in rows)) == (24, 240)
    entries = AuditEntry.objects.filter(team=team).order_by("number")
    assert entries.count() == 24
    assert entries[1].after == {"address": "20.0.0.1", "device": "curl", "more_since_the_last_entry": 9}
    assert first_broken_audit_number(team) is None


def test_a_wrong_password_is_counted_by_the_worker(
    make_user: Callable[..., User], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request itself writes nothing, whether there is such an account or not."""
    sent: list[dict[str, str]] = []
    monkeypatch.setattr("dressage.celery.app.send_task", lambda name, kwargs, **_: sent.append(kwargs))
    user, client = make_user(), APIClient(HTTP_USER_AGENT=FIREFOX, REMOTE_ADDR="20.0.0.1")
    for email in (user.email, "nobody@example.com"):
        assert client.post(SESSION, {"email": email, "password": "wrong"}, format="json").status_code == 401
    assert AccountEvent.objects.count() == AuditEntry.objects.count() == 0
    assert [arguments["email"] for arguments in sent] == [user.email, "nobody@example.com"]
    for arguments in sent:
        failed_sign_in(**arguments)
    event = AccountEvent.objects.get()
    assert (event.action, event.device, event.user) == ("account.sign_in_failed", "Firefox on Linux", user)


def test_old_events_and_ended_sessions_are_removed(make_user: Callable[..., User], clock: Clock) -> None:
    user = make_user()
    browser(user)
    clock.pass_(days=8)
    sweep()
    assert (Session.objects.count(), UserSession.objects.count(), actions(user)) == (0, 0, ["account.sign_in"])
    clock.now += KEPT_FOR
    sweep()
    assert actions(user) == []


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (FIREFOX, "Firefox on Linux"),
        (SAFARI, "Safari on iPhone"),
        (CHROME, "Chrome on Windows"),
        (CHROME + " Edg/140.0.0.0", "Edge on Windows"),
        ("curl/8.5.0", "curl/8.5.0"),
        ("", "Unknown device"),
        ("\x01é" * 500 + "x" * 500, "x" * 60),
    ],
)
def test_devices_in_words(agent: str, words: str) -> None:
    assert device_in_words(agent) == words
