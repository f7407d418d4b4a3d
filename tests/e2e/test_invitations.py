"""Invitations in a real browser: made by an admin, accepted by a person on a phone, sent again, withdrawn."""

import re
from collections.abc import Iterator
from secrets import token_hex

import pytest
from django.contrib.auth.hashers import make_password
from playwright.sync_api import Browser, Locator, Page, expect

from dressage.common.ids import new_id
from tests.support.browser import fits, violations
from tests.support.installation import Installation
from tests.support.rows import rows

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.live,
    pytest.mark.timed,
    pytest.mark.timeout(300),
    pytest.mark.expensive(20, "two people in a browser", about=("frontend/src", "platform/dressage/teams")),
]

OWN = "my own long secret"
GIVEN = "printed by the operator"


@pytest.fixture
def phone(browser: Browser, installation: Installation) -> Iterator[Page]:
    """A small dark screen that nobody has signed in to."""
    context = browser.new_context(
        base_url=installation.url, viewport={"width": 390, "height": 844}, color_scheme="dark", reduced_motion="reduce"
    )
    context.set_default_timeout(60_000)
    yield context.new_page()
    context.close()


def check_page(page: Page, title: str) -> None:
    """The page has come, anybody can use it, and it fits the screen."""
    expect(page.get_by_role("heading", name=title)).to_be_visible()
    assert violations(page) == []
    fits(page)


def test_a_person_is_invited_and_joins(page: Page, phone: Page) -> None:
    mia, noa = (f"{name}-{token_hex(3)}@example.com" for name in ("mia", "noa"))
    page.goto("/team")
    link = _invite(page, mia)
    check_page(page, "Invited")

    phone.goto(link)
    check_page(phone, "Join Demo")
    phone.get_by_label("Your name").fill("Mia")
    phone.get_by_role("textbox", name="Choose a password").fill("short")
    phone.keyboard.press("Enter")
    expect(phone.get_by_role("heading", name="Join Demo")).to_be_visible()
    phone.get_by_role("textbox", name="Choose a password").fill(OWN)
    phone.keyboard.press("Enter")
    expect(phone.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
    phone.goto("/team")
    expect(phone.get_by_text(mia)).to_be_visible()
    expect(phone.get_by_role("button", name="Invite")).to_have_count(0)
    phone.goto(link)
    check_page(phone, "This invitation is no longer valid")

    page.reload()
    expect(page.get_by_test_id("members-table")).to_contain_text(mia)
    expect(_invited(page, mia)).to_have_count(0)
    first = _invite(page, noa)
    page.get_by_role("button", name=f"Invite {noa} again").click()
    expect(page.get_by_test_id("secret").get_by_role("code")).not_to_have_text(first)
    again = _link(page)
    phone.goto(first)
    expect(phone.get_by_role("heading", name="This invitation is no longer valid")).to_be_visible()
    phone.goto(again)
    expect(phone.get_by_text(f"You are signed in as {mia}")).to_be_visible()
    check_page(phone, "Join Demo")
    phone.get_by_role("button", name="Sign out").click()
    expect(phone.get_by_role("textbox", name="Choose a password")).to_be_visible()
    phone.get_by_role("button", name="Sign in with an existing account").click()
    expect(phone).to_have_url(re.compile(r"/sign-in\?next="))

    page.get_by_role("button", name=f"Withdraw the invitation of {noa}").click()
    page.get_by_role("dialog").get_by_role("button", name="Withdraw").click()
    expect(_invited(page, noa)).to_have_count(0)
    phone.goto(again)
    expect(phone.get_by_role("heading", name="This invitation is no longer valid")).to_be_visible()


def test_a_temporary_password_opens_nothing_but_the_choice_of_another(phone: Page, installation: Installation) -> None:
    email = f"temp-{token_hex(3)}@example.com"
    _make_account_with_a_temporary_password(installation, email)
    phone.goto("/runs")
    phone.get_by_label("Email").fill(email)
    phone.get_by_role("textbox", name="Password").fill(GIVEN)
    phone.get_by_role("button", name="Sign in").click()
    check_page(phone, "Choose your own password")
    phone.goto("/team")
    check_page(phone, "Choose your own password")
    phone.get_by_role("textbox", name="Current password").fill(GIVEN)
    phone.get_by_role("textbox", name="New password").fill(OWN)
    phone.get_by_role("button", name="Change password").click()
    expect(phone.get_by_role("heading", name="Team")).to_be_visible()


def _make_account_with_a_temporary_password(installation: Installation, email: str) -> None:
    """As the operator's command makes it, for an owner in no team."""
    rows(
        installation,
        "INSERT INTO teams_user (id, created_at, email, name, password, is_active, password_is_temporary, "
        "address_proven) VALUES (%s, now(), %s, '', %s, true, true, true)",
        new_id("usr"),
        email,
        make_password(GIVEN),
    )


def _invite(page: Page, email: str) -> str:
    page.get_by_label("Email to invite").fill(email)
    page.get_by_role("button", name="Invite", exact=True).click()
    expect(page.get_by_test_id("secret")).to_contain_text(f"Link for {email}")
    expect(_invited(page, email)).to_be_visible()
    return _link(page)


def _invited(page: Page, email: str) -> Locator:
    """The row of an open invitation."""
    return page.get_by_test_id("invitations-table").get_by_role("row").filter(has_text=email)


def _link(page: Page) -> str:
    return page.get_by_test_id("secret").get_by_role("code").inner_text()
