"""Passkeys of a real Chromium, whose virtual authenticator answers what the platform asks."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Error, Page, sync_playwright

from dressage.teams.models import Membership, Passkey, Team, User
from tests.platform.conftest import PASSWORD
from tests.platform.gateway.served import served
from tests.support.browser import start_chromium

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timed,
    pytest.mark.expensive(
        12, "starts Chromium and a web server", about=("platform/dressage/teams", "platform/dressage/gateway")
    ),
]

ASK = """
async ([method, path, body]) => {
  const token = document.cookie.split("; ").find(pair => pair.startsWith("csrftoken="))?.slice(10) ?? "";
  const headers = { "Content-Type": "application/json", "X-CSRFToken": token };
  const answer = await fetch("/api/v1/" + path, { method, headers, body: body && JSON.stringify(body) });
  return [answer.status, JSON.parse((await answer.text()) || "null")];
}
"""
CREATE = """
async options => (await navigator.credentials.create(
  { publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })).toJSON()
"""
GET = """
async options => (await navigator.credentials.get(
  { publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) })).toJSON()
"""
DEVICE = {
    "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
    "isUserVerified": True, "automaticPresenceSimulation": True,
}  # fmt: skip


@pytest.fixture
def page(transactional_db: None, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    """A page of the platform, at the address for which its passkeys are."""
    # The threaded driver runs an event loop; Django must not take that for an asynchronous caller.
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
    with served() as port, sync_playwright() as playwright:
        settings.PUBLIC_URL = f"http://127.0.0.1:{port}"
        browser = start_chromium(playwright)
        page = browser.new_page()
        page.goto(f"http://localhost:{port}/api/v1/session")
        yield page
        browser.close()


def call(page: Page, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    status, document = page.evaluate(ASK, [method, path, body])
    return status, document


def test_a_browser_registers_a_passkey_and_signs_in(page: Page) -> None:
    user = User.objects.create_user("owner@example.com", PASSWORD)
    Membership.objects.create(team=Team.objects.create(name="Stable", slug="stable"), user=user, role="viewer")
    cdp = page.context.new_cdp_session(page)
    cdp.send("WebAuthn.enable")
    device = cdp.send("WebAuthn.addVirtualAuthenticator", {"options": DEVICE})["authenticatorId"]
    who = {"email": user.email, "password": PASSWORD}
    assert call(page, "POST", "session", who)[1]["authenticated"] is True

    _, begun = call(page, "POST", "account/passkeys/options", {"current": PASSWORD})
    credential = page.evaluate(CREATE, begun["options"])
    status, made = call(page, "POST", "account/passkeys", {"name": "Laptop", "credential": credential})
    assert (status, len(made["recovery_codes"])) == (201, 10)
    assert call(page, "DELETE", "session")[0] == 204

    for password_first in (False, True):
        assert call(page, "GET", "session")[1]["authenticated"] is False
        if password_first:
            assert call(page, "POST", "session", who)[1]["second_factor_due"] is True
        _, asked = call(page, "POST", "session/passkey/options")
        status, session = call(page, "POST", "session/passkey", {"credential": page.evaluate(GET, asked["options"])})
        assert (status, session["user"]["email"]) == (200, user.email)
        assert call(page, "DELETE", "session")[0] == 204
    assert Passkey.objects.get().sign_count >= 2

    # Without the finger on it the device gives no answer, and the browser none for another name.
    cdp.send("WebAuthn.setUserVerified", {"authenticatorId": device, "isUserVerified": False})
    _, asked = call(page, "POST", "session/passkey/options")
    for options in (asked["options"], {**asked["options"], "rpId": "evil.example"}):
        with pytest.raises(Error, match=r"NotAllowedError|SecurityError"):
            page.evaluate(GET, options)
    assert call(page, "GET", "session")[1]["authenticated"] is False
