"""Admins who act while another one demotes or removes them: their requests were admitted before."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction
from rest_framework.test import APIClient

from dressage.common.roles import Role
from dressage.teams.models import ApiToken, AuditEntry, Invitation, Membership, ServiceAccount, Team
from tests.platform.locks import waiting
from tests.platform.tokens import bearer, token_of
from tests.support.installation import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
CURRENT = "/api/v1/teams/current"


def member(client: APIClient) -> Membership:
    return Membership.objects.get(user=client.user)


def path_of(client: APIClient) -> str:
    return f"{CURRENT}/members/{member(client).id}"


def at_once(team: Team, *requests: Callable[[], Any]) -> list[int]:
    """Statuses of requests that are all admitted before the first one gets the team's lock."""
    statuses: list[int] = []

    def ask(request: Callable[[], Any]) -> None:
        try:
            statuses.append(request().status_code)
        finally:
            connection.close()

    threads = [threading.Thread(target=ask, args=[request]) for request in requests]
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=team.pk)
        for number, thread in enumerate(threads, 1):
            thread.start()
            wait_until(lambda number=number: waiting() == number, 60)  # type: ignore[misc]
    for thread in threads:
        thread.join(60)
    return sorted(statuses)


def demote(actor: APIClient, other: APIClient) -> Callable[[], Any]:
    path = path_of(other)
    return lambda: actor.patch(path, {"role": "viewer"}, format="json")


def remove(actor: APIClient, other: APIClient) -> Callable[[], Any]:
    path = path_of(other)
    return lambda: actor.delete(path)


@pytest.mark.parametrize(("act", "done"), [(demote, 200), (remove, 204)])
def test_only_one_of_two_admins_ends_the_other(
    api: Callable[..., APIClient], team: Team, act: Callable[..., Callable[[], Any]], done: int
) -> None:
    first, second, third = api("admin"), api("admin"), api("admin")
    statuses = at_once(team, act(first, second), act(second, first))
    assert statuses == [done, 403]
    admins = set(Membership.objects.filter(team=team, role=Role.ADMIN).values_list("user", flat=True))
    assert third.user.id in admins and len(admins & {first.user.id, second.user.id}) == 1
    assert AuditEntry.objects.filter(action__startswith="member.").count() == 1


def test_an_admin_who_leaves_and_one_who_demotes_them(api: Callable[..., APIClient], team: Team) -> None:
    first, second, _ = api("admin"), api("admin"), api("admin")
    leaves = remove(first, first)
    statuses = at_once(team, demote(second, first), leaves)
    assert statuses in ([200, 403], [204, 409])


WRITES: dict[str, Callable[[APIClient, APIClient], Callable[[], Any]]] = {
    "invite": lambda admin, _: (
        lambda: admin.post(f"{CURRENT}/invitations", {"email": "new@example.com", "role": "admin"}, format="json")
    ),
    "promote": lambda admin, viewer: (lambda path: lambda: admin.patch(path, {"role": "admin"}, format="json"))(
        path_of(viewer)
    ),
    "token": lambda admin, _: (
        lambda: admin.post(
            "/api/v1/tokens", {"name": "mine", "role": "viewer", "scopes": None, "expires_at": None}, format="json"
        )
    ),
    "service account": lambda admin, _: (
        lambda: admin.post("/api/v1/service-accounts", {"name": "robot", "role": "admin"}, format="json")
    ),
}


@pytest.mark.parametrize("write", WRITES)
def test_nothing_is_written_for_an_admin_who_is_demoted_meanwhile(
    api: Callable[..., APIClient], team: Team, write: str
) -> None:
    first, second, viewer = api("admin"), api("admin"), api("viewer")
    late = WRITES[write](first, viewer)
    # The demotion is first in the lock's queue.
    assert at_once(team, demote(second, first), late) == [200, 403]
    assert member(first).role == member(viewer).role == "viewer"
    assert not Invitation.objects.exists() and not ApiToken.objects.exists() and not ServiceAccount.objects.exists()


def test_a_token_is_worth_its_owners_role_under_the_lock(api: Callable[..., APIClient], team: Team) -> None:
    first, second, viewer = api("admin"), api("admin"), api("viewer")
    _, secret = token_of(team, Role.ADMIN, owner=first.user)
    client = bearer(secret)
    path = path_of(viewer)
    assert at_once(team, demote(second, first), lambda: client.delete(path)) == [200, 403]
    assert member(viewer).role == "viewer"
