"""Invitations: who may make them, what they offer, and who becomes a member by them."""

import smtplib
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pyotp
import pytest
from django.core import mail
from django.db import connection
from django.test import TestCase
from django.utils import timezone
from rest_framework.test import APIClient

from dressage.common.models import StoredResponse
from dressage.common.sealing import seal
from dressage.common.secrets import secret_hash
from dressage.teams.guesses.limits import ADDRESS_BURST
from dressage.teams.invitations import services as invitations
from dressage.teams.models import AuditEntry, Authenticator, Invitation, Membership, RecoveryCode, Team, User
from tests.platform.conftest import PASSWORD
from tests.platform.queries import check_queries
from tests.platform.tokens import token_of

INVITATIONS = "/api/v1/teams/current/invitations"
NEW = "a new long password"
SQUATTERS = "the squatter's own"
ADDRESS = "mia@example.com"


@pytest.fixture
def by_mail(settings: Any) -> None:
    """An installation with a mail server; Django's test runner keeps the letters."""
    settings.EMAIL_IS_SET_UP = True


@dataclass(frozen=True)
class Invited:
    """An invitation and the secret of its link."""

    id: str
    token: str

    @property
    def offer(self) -> str:
        return f"/api/v1/invitations/{self.token}"

    def accept(self, client: APIClient, password: str = "", **body: str) -> Any:
        given = {"password": password, **body} if password else body
        return client.post(f"{self.offer}/accept", given, format="json")


def invite(admin: APIClient, email: str = ADDRESS, role: str = "editor") -> Invited:
    """Invite, and take the link from where it was sent or shown."""
    with TestCase.captureOnCommitCallbacks(execute=True):
        response = admin.post(INVITATIONS, {"email": email, "role": role}, format="json")
    assert response.status_code == 201, response.content
    made = response.json()
    return Invited(made["id"], _token(made["link"] or _letter(mail.outbox[-1].body)))


def _letter(text: str) -> str:
    return next(line.strip() for line in text.splitlines() if "/invitations/" in line)


def _token(link: str) -> str:
    assert link.startswith("http://127.0.0.1:8600/invitations/")
    return link.rpartition("/")[2]


def code(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


def rows() -> list[Any]:
    """What an invitation can change."""
    models: list[Any] = [User, Membership, Invitation, AuditEntry]
    return [
        {key: value for key, value in row.items() if key != "last_login"}
        for model in models
        for row in model.objects.order_by("pk").values()
    ]


def test_a_new_person_comes_by_mail(by_mail: None, api: Callable[..., APIClient], anonymous: APIClient) -> None:
    admin = api("admin")
    invited = invite(admin, "Mia@Example.com")
    [letter] = mail.outbox
    assert (letter.to, letter.subject) == ([ADDRESS], "Join Stable on Dressage")
    assert f"{admin.user.email} invites you to the team Stable on Dressage, as editor." in letter.body
    offer = anonymous.get(invited.offer)
    assert offer.json() == {
        "team": "Stable",
        "role": "editor",
        "email": ADDRESS,
        "invited_by": admin.user.email,
        "expires_at": offer.json()["expires_at"],
    }
    session = invited.accept(anonymous, NEW, name="Mia").json()
    assert (session["team"]["slug"], session["role"]) == ("stable", "editor")
    user = User.objects.get(email=ADDRESS)
    assert (user.name, user.address_proven, user.password_is_temporary) == ("Mia", True, False)
    assert user.check_password(NEW)
    assert anonymous.get("/api/v1/teams/current").status_code == 200
    entries = [(entry.action, entry.actor_name) for entry in AuditEntry.objects.order_by("number")]
    assert entries == [
        ("invitation.create", admin.user.email),
        ("member.add", ADDRESS),
        ("invitation.accept", ADDRESS),
        ("account.sign_in", ADDRESS),
    ]


def test_the_token_is_nowhere_in_clear(by_mail: None, api: Callable[..., APIClient], anonymous: APIClient) -> None:
    invited = invite(api("admin"))
    invited.accept(anonymous, NEW)
    stored = str([list(model.objects.values()) for model in (Invitation, AuditEntry, StoredResponse)])
    assert invited.token not in stored


def test_without_mail_the_link_is_shown_once(api: Callable[..., APIClient], anonymous: APIClient) -> None:
    admin = api("admin")
    key: dict[str, Any] = {"HTTP_IDEMPOTENCY_KEY": "k"}
    body = {"email": ADDRESS, "role": "viewer"}
    made = admin.post(INVITATIONS, body, format="json", **key).json()
    assert not mail.outbox
    assert admin.post(INVITATIONS, body, format="json", **key).json() == made
    assert made["link"].rpartition("/")[2] not in str(StoredResponse.objects.values_list("body", flat=True))
    [listed] = admin.get(INVITATIONS).json()["data"]
    assert listed == {name: value for name, value in made.items() if name != "link"}
    assert Invited(made["id"], _token(made["link"])).accept(anonymous, NEW).status_code == 200
    assert User.objects.get(email=ADDRESS).address_proven is False


def test_a_link_works_once(api: Callable[..., APIClient], anonymous: APIClient) -> None:
    invited = invite(api("admin"))
    assert invited.accept(anonymous, NEW).status_code == 200
    before = rows()
    for response in (invited.accept(APIClient(), "quite another password"), anonymous.get(invited.offer)):
        assert code(response) == (404, "not_found")
    assert rows() == before


@pytest.mark.parametrize("how", ["withdrawn", "expired", "resent", "inviter removed", "inviter demoted"])
def test_a_link_ends(api: Callable[..., APIClient], anonymous: APIClient, how: str) -> None:
    admin, other = api("admin"), api("admin")
    invited = invite(admin)
    member = f"/api/v1/teams/current/members/{Membership.objects.get(user=admin.user).id}"
    if how == "withdrawn":
        assert admin.delete(f"{INVITATIONS}/{invited.id}").status_code == 204
    elif how == "expired":
        Invitation.objects.update(expires_at=timezone.now())
    elif how == "resent":
        again = admin.post(f"{INVITATIONS}/{invited.id}/resend", format="json").json()
        assert (again["id"], anonymous.get(Invited(again["id"], _token(again["link"])).offer).status_code) == (
            invited.id,
            200,
        )
    elif how == "inviter removed":
        assert other.delete(member).status_code == 204
    else:
        assert other.patch(member, {"role": "editor"}, format="json").status_code == 200
    before = rows()
    gone, never = anonymous.get(invited.offer).json(), anonymous.get(Invited("", "x" * 43).offer).json()
    assert {**gone, "instance": ""} == {**never, "instance": ""}
    assert code(invited.accept(anonymous, NEW)) == (404, "not_found")
    assert rows() == before


@pytest.mark.parametrize("inviter", ["demoted meanwhile", "gone meanwhile", "token"])
def test_the_inviter_is_an_admin_when_it_is_accepted(
    team: Team, api: Callable[..., APIClient], anonymous: APIClient, inviter: str
) -> None:
    """Also of what was made while its maker lost the right, and of what tokens could make in earlier releases."""
    admin = api("admin")
    invited, membership = invite(admin), Membership.objects.filter(user=admin.user)
    if inviter == "demoted meanwhile":  # past the service, which withdraws what it finds
        membership.update(role="operator")
    elif inviter == "gone meanwhile":
        membership.delete()
    else:
        Invitation.objects.update(created_by_id=token_of(team, "admin")[0].id)
    before = rows()
    gone, never = anonymous.get(invited.offer).json(), anonymous.get(Invited("", "x" * 43).offer).json()
    assert {**gone, "instance": ""} == {**never, "instance": ""}
    assert code(invited.accept(anonymous, NEW)) == (404, "not_found")
    assert rows() == before


def test_an_inviter_who_is_demoted_while_somebody_accepts(
    team: Team, api: Callable[..., APIClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever waits for the team's lock looks again once they have it."""
    admin = api("admin")
    invited, hold = invite(admin), invitations.hold_teams

    def demoted_meanwhile(teams: Any) -> None:
        hold(teams)
        Membership.objects.filter(user=admin.user).update(role="operator")

    monkeypatch.setattr(invitations, "hold_teams", demoted_meanwhile)
    assert code(invited.accept(APIClient(), NEW)) == (404, "not_found")
    assert not User.objects.filter(email=ADDRESS).exists()


@pytest.mark.parametrize("again", [False, True])
def test_an_inviter_who_is_demoted_while_they_invite(
    api: Callable[..., APIClient], monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    admin = api("admin")
    path = f"{INVITATIONS}/{invite(admin).id}/resend" if again else INVITATIONS
    before, hold = rows(), invitations.hold_teams

    def demoted_meanwhile(teams: Any) -> None:
        hold(teams)
        Membership.objects.filter(user=admin.user).update(role="operator")

    monkeypatch.setattr(invitations, "hold_teams", demoted_meanwhile)
    body = {} if again else {"email": "x@example.com", "role": "admin"}
    assert code(admin.post(path, body, format="json")) == (403, "permission_denied")
    assert rows() == before


def test_an_expired_one_is_shown_sent_again_and_replaced(api: Callable[..., APIClient], anonymous: APIClient) -> None:
    admin = api("admin")
    first = invite(admin)
    Invitation.objects.update(expires_at=timezone.now() - timedelta(days=1))
    [listed] = admin.get(INVITATIONS).json()["data"]
    again = admin.post(f"{INVITATIONS}/{listed['id']}/resend", format="json").json()
    assert anonymous.get(Invited(first.id, _token(again["link"])).offer).status_code == 200
    Invitation.objects.update(expires_at=timezone.now() - timedelta(days=1))
    second = invite(admin, role="viewer")
    assert [row["id"] for row in admin.get(INVITATIONS).json()["data"]] == [second.id]


@pytest.mark.parametrize(("email", "expected"), [("member", "already_member"), ("invited", "invited")])
def test_nobody_is_invited_twice(api: Callable[..., APIClient], email: str, expected: str) -> None:
    admin = api("admin")
    invite(admin, "invited@example.com")
    address = admin.user.email.upper() if email == "member" else "INVITED@example.com"
    before = rows()
    assert code(admin.post(INVITATIONS, {"email": address, "role": "viewer"}, format="json")) == (409, expected)
    assert rows() == before


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"email": "x", "role": "viewer"}, "/email"),
        ({"email": "a@example.com\nBcc: b@example.com", "role": "viewer"}, "/email"),
        ({"email": "a@example.com", "role": "owner"}, "/role"),
        ({"email": "a@example.com"}, "/role"),
    ],
)
def test_malformed(by_mail: None, api: Callable[..., APIClient], body: dict[str, str], pointer: str) -> None:
    response = api("admin").post(INVITATIONS, body, format="json")
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, pointer)
    assert not Invitation.objects.exists() and not mail.outbox


@pytest.mark.parametrize("password", ["", "short", "password123"])
def test_a_weak_password_makes_no_account(api: Callable[..., APIClient], anonymous: APIClient, password: str) -> None:
    invited = invite(api("admin"))
    before = rows()
    response = invited.accept(anonymous, password)
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, "/password")
    assert rows() == before
    assert anonymous.get("/api/v1/session").json()["authenticated"] is False


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (smtplib.SMTPServerDisconnected("gone"), "The mail server refused it. The operator finds the reason"),
        (TimeoutError(), "The mail server did not answer in time."),
    ],
)
def test_a_letter_that_cannot_be_sent_is_told_and_sent_again(
    by_mail: None, api: Callable[..., APIClient], monkeypatch: pytest.MonkeyPatch, error: Exception, fault: str
) -> None:
    admin = api("admin")

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr("dressage.teams.invitations.mail.send_mail", refuse)
        with TestCase.captureOnCommitCallbacks(execute=True):
            answer = admin.post(INVITATIONS, {"email": ADDRESS, "role": "viewer"}, format="json")
    assert (answer.status_code, answer.json()["link"], answer.json()["letter_fault"]) == (201, None, "")
    [listed] = admin.get(INVITATIONS).json()["data"]
    assert listed["letter_fault"].startswith(fault) and not mail.outbox
    with TestCase.captureOnCommitCallbacks(execute=True):
        again = admin.post(f"{INVITATIONS}/{listed['id']}/resend", format="json")
    assert (again.json()["letter_fault"], len(mail.outbox)) == ("", 1)
    assert [row["letter_fault"] for row in admin.get(INVITATIONS).json()["data"]] == [""]


@pytest.mark.parametrize("headers", [{}, {"HTTP_IDEMPOTENCY_KEY": "k"}])
def test_a_letter_waits_for_the_commit(by_mail: None, api: Callable[..., APIClient], headers: dict[str, str]) -> None:
    """While a mail server takes its time, nobody waits for the team's row."""
    admin: Any = api("admin")
    with TestCase.captureOnCommitCallbacks() as callbacks:
        assert (
            admin.post(INVITATIONS, {"email": ADDRESS, "role": "viewer"}, format="json", **headers).status_code == 201
        )
    assert (len(callbacks), mail.outbox) == (1, [])


def test_a_team_sends_only_so_many_letters(
    api: Callable[..., APIClient], other_team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dressage.teams.invitations.limits.LETTERS_BURST", 3)
    admin = api("admin")
    invited = invite(admin)
    for _ in range(2):
        assert admin.post(f"{INVITATIONS}/{invited.id}/resend", format="json").status_code == 200
    before = rows()
    assert code(admin.post(INVITATIONS, {"email": "x@example.com", "role": "viewer"}, format="json")) == (
        429,
        "throttled",
    )
    assert rows() == before
    invite(api("admin", team=other_team))


def test_the_holder_of_one_token_slows_nobody_else(api: Callable[..., APIClient], anonymous: APIClient) -> None:
    admin = api("admin")
    first, second = invite(admin), invite(admin, "other@example.com")
    assert {first.accept(anonymous, "short").status_code for _ in range(40)} == {422, 429}
    assert second.accept(anonymous, NEW).status_code == 200


def test_guesses_from_one_address_close_no_valid_link(api: Callable[..., APIClient], anonymous: APIClient) -> None:
    admin = api("admin")
    invited, other = invite(admin), invite(admin, "other@example.com")
    guesses = [anonymous.get(f"/api/v1/invitations/{'x' * 43}").status_code for _ in range(2 * ADDRESS_BURST)]
    assert (guesses[0], guesses[-1]) == (404, 429)
    guess = anonymous.post(f"/api/v1/invitations/{'x' * 43}/accept", {"password": NEW}, format="json")
    assert code(guess) == (429, "throttled")
    assert anonymous.get(invited.offer).status_code == 200
    assert invited.accept(anonymous, NEW).status_code == 200
    assert anonymous.get(invited.offer).status_code == 429  # it is used, and thereby a guess again
    assert APIClient().get(other.offer).status_code == 200


def test_accepting_needs_the_csrf_token(api: Callable[..., APIClient]) -> None:
    """Else a page elsewhere could sign a person in to the account of another."""
    invited = invite(api("admin"))
    browser, before = APIClient(enforce_csrf_checks=True), rows()
    assert code(invited.accept(browser, NEW)) == (403, "csrf_failed")
    assert rows() == before


def test_queries_are_refused(api: Callable[..., APIClient]) -> None:
    admin = api("admin")
    assert check_queries(admin, invite(admin).offer, {}, {}) > 0


# --- whose account it is ---


def test_a_person_of_another_team_joins_when_signed_in(
    by_mail: None, api: Callable[..., APIClient], other_team: Team
) -> None:
    person = api("viewer", team=other_team)
    invited = invite(api("admin"), person.user.email)
    before = rows()
    response = invited.accept(person, "another long password")
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, "/password")
    assert rows() == before
    session = invited.accept(person).json()
    assert (session["team"]["slug"], session["role"], len(session["teams"])) == ("stable", "editor", 2)
    assert User.objects.get(pk=person.user.pk).check_password(PASSWORD)


def test_a_session_of_somebody_else_accepts_nothing(api: Callable[..., APIClient], other_team: Team) -> None:
    invited, other = invite(api("admin")), api("viewer", team=other_team)
    before = rows()
    for password in ("", NEW):
        assert code(invited.accept(other, password)) == (409, "other_account")
    assert rows() == before


@pytest.mark.parametrize("mailed", [True, False])
def test_a_link_opens_no_account_that_is_its_owners(
    api: Callable[..., APIClient], other_team: Team, anonymous: APIClient, settings: Any, mailed: bool
) -> None:
    settings.EMAIL_IS_SET_UP = mailed
    owner = api("viewer", team=other_team)
    invited = invite(api("admin"), owner.user.email)
    before = rows()
    for password in (NEW, PASSWORD):
        assert code(invited.accept(anonymous, password)) == (409, "sign_in_first")
    assert rows() == before
    assert anonymous.get("/api/v1/session").json()["authenticated"] is False
    assert owner.get("/api/v1/teams/current").status_code == 200


@pytest.fixture
def squatter(api: Callable[..., APIClient], other_team: Team) -> APIClient:
    """The admin of another team, in an account that he has made for a stranger's address by a link shown to him."""
    admin, browser = api("admin", team=other_team), APIClient()
    assert invite(admin).accept(browser, SQUATTERS).status_code == 200
    browser.user = User.objects.get(email=ADDRESS)
    return browser


def test_an_account_made_in_advance_does_not_get_what_its_address_is_offered(
    squatter: APIClient, api: Callable[..., APIClient], other_team: Team, anonymous: APIClient, settings: Any
) -> None:
    """The attack: own the account of a person before she is invited by those she works for."""
    settings.EMAIL_IS_SET_UP = True
    invited = invite(api("admin"), role="operator")
    assert invited.accept(anonymous, NEW, name="Mia").json()["teams"][0]["slug"] == "stable"
    owner = User.objects.get(email=ADDRESS)
    assert (owner.address_proven, owner.pk == squatter.user.pk) == (True, False)
    assert [m.team.slug for m in Membership.objects.filter(user=owner)] == ["stable"]
    for path in ("/api/v1/teams/current", "/api/v1/runs"):
        assert squatter.get(path).status_code == 401
    sign_in = {"email": ADDRESS, "password": SQUATTERS}
    assert APIClient().post("/api/v1/session", sign_in, format="json").status_code == 401
    assert APIClient().post("/api/v1/session", {**sign_in, "password": NEW}, format="json").status_code == 200
    left = AuditEntry.objects.get(team=other_team, action="member.remove")
    assert (left.actor_name, left.before["email"]) == ("invitations", ADDRESS)
    assert "chosen another password" in left.reason


def test_without_mail_a_link_of_another_team_does_not_open_it_either(
    squatter: APIClient, api: Callable[..., APIClient], anonymous: APIClient
) -> None:
    invited = invite(api("admin"))
    before = rows()
    assert code(invited.accept(anonymous, NEW)) == (409, "sign_in_first")
    assert rows() == before


@pytest.mark.parametrize("mailed", [True, False])
def test_a_session_of_unproven_address_brings_its_teams_and_no_password(
    squatter: APIClient, api: Callable[..., APIClient], settings: Any, mailed: bool
) -> None:
    """Whoever made the account may know its password still: it ends, with every other session."""
    settings.EMAIL_IS_SET_UP = mailed
    elsewhere = APIClient()
    elsewhere.force_login(squatter.user)
    invited = invite(api("admin"))
    before = rows()
    assert code(invited.accept(squatter, current=SQUATTERS)) == (422, "weak_password")
    assert rows() == before
    session = invited.accept(squatter, NEW, current=SQUATTERS).json()
    assert [team["slug"] for team in session["teams"]] == ["rivals", "stable"]
    assert session["team"]["slug"] == "stable"
    owner = User.objects.get(email=ADDRESS)
    assert (owner.address_proven, owner.check_password(NEW)) == (mailed, True)
    assert elsewhere.get("/api/v1/teams/current").status_code == 401
    assert squatter.get("/api/v1/teams/current").json()["slug"] == "stable"


def test_a_session_alone_replaces_no_account(squatter: APIClient, api: Callable[..., APIClient]) -> None:
    """A thief of the cookie, invited by a team of their own, would take the account with its teams."""
    invited = invite(api("admin"))
    before = rows()
    for given in ("", "wrong", NEW, "wrong", "wrong"):
        answer = invited.accept(squatter, NEW, current=given)
        assert (*code(answer), answer.json()["errors"][0]["pointer"]) == (422, "wrong_password", "/current")
    assert code(invited.accept(squatter, NEW, current=SQUATTERS)) == (429, "throttled")
    assert rows() == before


def test_an_account_with_a_second_factor_is_replaced_by_a_code_too(
    squatter: APIClient, api: Callable[..., APIClient]
) -> None:
    RecoveryCode.objects.create(user=squatter.user, sha256=secret_hash("aaaabbbbccccdddd"))
    Authenticator.objects.create(
        user=squatter.user, secret_sealed=seal(pyotp.random_base32()), confirmed_at=timezone.now()
    )
    invited = invite(api("admin"))
    before = rows()
    for given in ({}, {"code": "000000"}):
        assert code(invited.accept(squatter, NEW, current=SQUATTERS, **given)) == (422, "wrong_code")
    assert rows() == before
    given = {"current": SQUATTERS, "code": "aaaa-bbbb-cccc-dddd"}
    assert invited.accept(squatter, NEW, **given).status_code == 200
    assert User.objects.get(email=ADDRESS).check_password(NEW)


@pytest.mark.parametrize("name", ["current", "code"])
def test_a_proof_is_refused_where_none_is_asked_for(api: Callable[..., APIClient], other_team: Team, name: str) -> None:
    person = api("viewer", team=other_team)
    for email, client in ((person.user.email, person), (ADDRESS, APIClient())):
        invited, password = invite(api("admin"), email), "" if client is person else NEW
        before = rows()
        answer = invited.accept(client, password, **{name: PASSWORD})
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, f"/{name}")
        assert rows() == before


def test_a_team_does_not_lose_its_last_admin(
    squatter: APIClient, api: Callable[..., APIClient], other_team: Team, anonymous: APIClient, settings: Any
) -> None:
    Membership.objects.filter(team=other_team).exclude(user=squatter.user).delete()
    Membership.objects.filter(team=other_team).update(role="admin")
    offered = invite(squatter, "accomplice@example.com")
    settings.EMAIL_IS_SET_UP = True
    invite(api("admin")).accept(anonymous, NEW)
    owner = User.objects.get(email=ADDRESS)
    assert Membership.objects.get(team=other_team).user == owner
    assert anonymous.get(offered.offer).status_code == 404
    moved = AuditEntry.objects.get(team=other_team, action="member.account")
    assert (moved.before, moved.after) == ({"user": squatter.user.id}, {"user": owner.id, "email": ADDRESS})


def test_a_temporary_password_accepts_nothing(api: Callable[..., APIClient], other_team: Team) -> None:
    person = api("viewer", team=other_team)
    User.objects.filter(pk=person.user.pk).update(password_is_temporary=True)
    invited = invite(api("admin"), person.user.email)
    before = rows()
    assert code(invited.accept(person)) == (403, "temporary_password")
    assert rows() == before


# --- nobody is told which addresses have accounts ---


@pytest.mark.parametrize("mailed", [True, False])
def test_inviting_answers_the_same_whether_there_is_an_account(
    api: Callable[..., APIClient], other_team: Team, anonymous: APIClient, settings: Any, mailed: bool
) -> None:
    settings.EMAIL_IS_SET_UP = mailed
    admin = api("admin")
    known = api("viewer", team=other_team).user
    User.objects.create_user("bare@example.com", PASSWORD, address_proven=False)
    texts = set()
    for address in (known.email, "bare@example.com", "free@example.com"):
        with TestCase.captureOnCommitCallbacks(execute=True):
            answer = admin.post(INVITATIONS, {"email": address, "role": "viewer"}, format="json")
        document = answer.json()
        token = _token(document["link"] or _letter(mail.outbox[-1].body))
        offer = anonymous.get(f"/api/v1/invitations/{token}")
        text = f"{answer.status_code} {answer.content!r} {offer.status_code} {offer.content!r}"
        for changing in (document["id"], address, token, document["created_at"], document["expires_at"]):
            text = text.replace(changing, "…")
        texts.add(text)
    assert len(texts) == 1, texts


def test_accepting_answers_the_same_whether_a_stranger_has_the_address(
    squatter: APIClient, api: Callable[..., APIClient], settings: Any
) -> None:
    settings.EMAIL_IS_SET_UP = True
    admin, texts = api("admin"), set()
    for address in (ADDRESS, "free@example.com"):
        answer = invite(admin, address).accept(APIClient(), NEW)
        texts.add(f"{answer.status_code} {answer.content!r}".replace(address, "…"))
    assert len(texts) == 1, texts


@pytest.mark.parametrize("address", ["free@example.com", ADDRESS, "owner@example.com"])
def test_accepting_hashes_one_password_whatever_is_found(
    squatter: APIClient,
    api: Callable[..., APIClient],
    make_user: Callable[..., User],
    other_team: Team,
    hashed: list[str],
    address: str,
) -> None:
    make_user(team=other_team, email="owner@example.com")
    invited = invite(api("admin"), address)
    hashed.clear()
    invited.accept(APIClient(), NEW)
    assert len(hashed) == 1


@pytest.mark.parametrize("address", ["free@example.com", "owner@example.com", "gone@example.com"])
def test_signing_in_hashes_one_password_whatever_is_found(
    make_user: Callable[..., User], hashed: list[str], address: str
) -> None:
    make_user(email="owner@example.com")
    make_user(email="gone@example.com")
    User.objects.filter(email="gone@example.com").update(is_active=False)
    hashed.clear()
    answer = APIClient().post("/api/v1/session", {"email": address, "password": "wrong"}, format="json")
    assert code(answer) == (401, "wrong_credentials")
    assert len(hashed) == 1


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The passwords that were hashed, which is what takes time."""
    from django.contrib.auth.hashers import MD5PasswordHasher

    seen: list[str] = []
    encode = MD5PasswordHasher.encode

    def counted(self: MD5PasswordHasher, password: str, salt: str) -> str:
        seen.append(password)
        return encode(self, password, salt)

    monkeypatch.setattr(MD5PasswordHasher, "encode", counted)
    return seen


# --- at once ---


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("teams", "expected"), [(1, [200, 404]), (2, [200, 409])])
def test_two_who_accept_at_once_make_one_account(
    api: Callable[..., APIClient], team: Team, other_team: Team, teams: int, expected: list[int]
) -> None:
    """The same link twice, or links of two teams for one address."""
    links = [invite(api("admin", team=one)) for one in (team, other_team)[:teams]] * (3 - teams)
    together, statuses = threading.Barrier(2, timeout=30), []

    def accept(invited: Invited) -> None:
        client = APIClient()
        together.wait()
        statuses.append(invited.accept(client, NEW).status_code)
        connection.close()

    threads = [threading.Thread(target=accept, args=[invited]) for invited in links]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(statuses) == expected
    assert User.objects.filter(email=ADDRESS).count() == Membership.objects.filter(user__email=ADDRESS).count() == 1
