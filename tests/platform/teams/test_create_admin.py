"""``manage.py create_admin``."""

from collections.abc import Callable
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from rest_framework.test import APIClient

from dressage.teams.models import AuditEntry, Membership, Team, User

pytestmark = pytest.mark.django_db


def run(email: str = "Mia@Example.com", team: str = "Demo") -> str:
    output = StringIO()
    call_command("create_admin", email=email, team=team, stdout=output, stderr=StringIO())
    return output.getvalue().strip()


def test_makes_team_user_and_password() -> None:
    password = run()
    user = User.objects.get()
    assert (user.email, user.password_is_temporary, user.address_proven) == ("mia@example.com", True, True)
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


def test_an_account_of_unknown_owner_is_replaced(other_team: Team) -> None:
    """Somebody may have made it with the address in advance: neither his password nor his team come along."""
    squatted = User.objects.create_user("mia@example.com", "the squatter's own", address_proven=False)
    Membership.objects.create(team=other_team, user=squatted, role="viewer")
    Membership.objects.create(
        team=other_team, user=User.objects.create_user("boss@example.com", "a long password"), role="admin"
    )
    password = run()
    user = User.objects.get(email="mia@example.com")
    assert user.pk != squatted.pk and user.check_password(password) and user.address_proven
    assert list(Membership.objects.filter(user=user).values_list("team__slug", flat=True)) == ["demo"]
    squatted.refresh_from_db()
    assert (squatted.is_active, squatted.has_usable_password()) == (False, False)
    assert AuditEntry.objects.get(team=other_team).before == {"email": "mia@example.com", "role": "viewer"}


def test_a_retired_account_lets_nobody_in_and_sets_its_address_free(
    api: Callable[..., APIClient], make_user: Callable[..., User]
) -> None:
    make_user("admin")
    leaver = api("viewer")
    address = leaver.user.email
    call_command("retire_account", email=address.upper(), stderr=StringIO())
    assert leaver.get("/api/v1/teams/current").status_code == 401
    assert not User.objects.filter(email=address).exists()
    assert AuditEntry.objects.get(action="member.remove").before == {"email": address, "role": "viewer"}
    with pytest.raises(CommandError, match="no account"):
        call_command("retire_account", email=address)


def test_the_last_admin_is_not_retired(make_user: Callable[..., User]) -> None:
    admin = make_user("admin")
    with pytest.raises(CommandError, match="last admin"):
        call_command("retire_account", email=admin.email)
    admin.refresh_from_db()
    assert admin.is_active and Membership.objects.get().user == admin and not AuditEntry.objects.exists()
