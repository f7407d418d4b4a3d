"""Members: adding, changing, removing; the last admin stays."""

from collections.abc import Callable

import pytest
from rest_framework.test import APIClient

from dressage.teams.models import AuditEntry, Membership, Team, User

MEMBERS = "/api/v1/teams/current/members"


def member_of(client: APIClient) -> Membership:
    return Membership.objects.get(user=client.user)


def test_list(api: Callable[..., APIClient], other_team: Team) -> None:
    api("admin", team=other_team)
    viewer = api("viewer")
    data = viewer.get(MEMBERS).json()["data"]
    membership = member_of(viewer)
    assert data == [
        {
            "id": membership.id,
            "email": viewer.user.email,
            "name": "Viewer",
            "role": "viewer",
            "created_at": membership.created_at.isoformat().replace("+00:00", "Z"),
        }
    ]


def test_adding_a_new_person(api: Callable[..., APIClient], anonymous: APIClient) -> None:
    admin = api("admin")
    made = admin.post(MEMBERS, {"email": "New@Example.com", "role": "editor", "name": "New"}, format="json")
    assert made.status_code == 201
    document = made.json()
    assert (document["email"], document["role"], document["name"]) == ("new@example.com", "editor", "New")
    session = anonymous.post(
        "/api/v1/session", {"email": "new@example.com", "password": document["password"]}, format="json"
    ).json()
    assert (session["role"], session["user"]["password_is_temporary"]) == ("editor", True)
    entry = AuditEntry.objects.get(action="member.add")
    assert entry.after == {"email": "new@example.com", "role": "editor"}
    assert entry.actor_name == admin.user.email
    assert document["password"] not in "".join(str(list(row.values())) for row in AuditEntry.objects.values())


def test_adding_someone_of_another_team(api: Callable[..., APIClient], other_team: Team) -> None:
    other = api("viewer", team=other_team)
    made = api("admin").post(MEMBERS, {"email": other.user.email, "role": "admin"}, format="json")
    assert (made.status_code, made.json()["password"]) == (201, None)
    assert User.objects.get(pk=other.user.pk).check_password("correct horse battery")


def test_adding_twice(api: Callable[..., APIClient]) -> None:
    admin = api("admin")
    response = admin.post(MEMBERS, {"email": admin.user.email.upper(), "role": "viewer"}, format="json")
    assert (response.status_code, response.json()["error"]["code"]) == (409, "already_member")
    assert member_of(admin).role == "admin"


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"email": "x", "role": "viewer"}, "/email"),
        ({"email": "a@example.com", "role": "owner"}, "/role"),
        ({"email": "a@example.com"}, "/role"),
    ],
)
def test_malformed(api: Callable[..., APIClient], body: dict, pointer: str) -> None:
    response = api("admin").post(MEMBERS, body, format="json")
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, pointer)
    assert User.objects.count() == 1


def test_changing_a_role_acts_at_once(api: Callable[..., APIClient]) -> None:
    admin, viewer = api("admin"), api("viewer")
    path = f"{MEMBERS}/{member_of(viewer).id}"
    assert viewer.get("/api/v1/audit").status_code == 403
    changed = admin.patch(path, {"role": "admin"}, format="json")
    assert (changed.status_code, changed.json()["role"]) == (200, "admin")
    assert viewer.get("/api/v1/audit").status_code == 200
    entry = AuditEntry.objects.get(action="member.role")
    assert (entry.before["role"], entry.after["role"]) == ("viewer", "admin")


def test_removing_acts_at_once(api: Callable[..., APIClient]) -> None:
    admin, viewer = api("admin"), api("viewer")
    assert admin.delete(f"{MEMBERS}/{member_of(viewer).id}").status_code == 204
    assert viewer.get(MEMBERS).status_code == 403
    assert not Membership.objects.filter(user=viewer.user).exists()
    assert AuditEntry.objects.get(action="member.remove").before == {"email": viewer.user.email, "role": "viewer"}


def test_the_last_admin_stays(api: Callable[..., APIClient]) -> None:
    admin = api("admin")
    api("operator")
    path = f"{MEMBERS}/{member_of(admin).id}"
    for response in (admin.delete(path), admin.patch(path, {"role": "operator"}, format="json")):
        assert (response.status_code, response.json()["error"]["code"]) == (409, "last_admin")
    assert member_of(admin).role == "admin"
    assert AuditEntry.objects.count() == 0
    assert admin.patch(path, {"role": "admin"}, format="json").status_code == 200


def test_one_of_two_admins_may_go(api: Callable[..., APIClient]) -> None:
    first, second = api("admin"), api("admin")
    assert first.delete(f"{MEMBERS}/{member_of(first).id}").status_code == 204
    assert second.delete(f"{MEMBERS}/{member_of(second).id}").status_code == 409
