"""``manage.py create_admin``."""

from io import StringIO

import pytest
from django.core.management import call_command

from dressage.teams.models import Membership, Team, User

pytestmark = pytest.mark.django_db


def run(email: str = "Mia@Example.com", team: str = "Demo") -> str:
    output = StringIO()
    call_command("create_admin", email=email, team=team, stdout=output, stderr=StringIO())
    return output.getvalue().strip()


def test_makes_team_user_and_password() -> None:
    password = run()
    user = User.objects.get()
    assert (user.email, user.password_is_temporary) == ("mia@example.com", True)
    assert user.check_password(password)
    assert (Membership.objects.get().role, Team.objects.get().slug) == ("admin", "demo")


def test_again_gives_a_new_password_and_nothing_else() -> None:
    first, second = run(), run()
    assert first != second
    assert User.objects.get().check_password(second)
    assert (Team.objects.count(), Membership.objects.count()) == (1, 1)


def test_makes_a_member_admin() -> None:
    run()
    Membership.objects.update(role="viewer")
    run()
    assert Membership.objects.get().role == "admin"


def test_given_password_is_used_and_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRESSAGE_ADMIN_PASSWORD", "known to the test")
    assert run() == ""
    user = User.objects.get()
    assert user.check_password("known to the test")
    assert user.password_is_temporary is False
