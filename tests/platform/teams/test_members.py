"""Members: changing and removing them; the last admin stays. How they come is in test_invitations.py."""

from collections.abc import Callable

from rest_framework.test import APIClient

from dressage.teams.models import AuditEntry, Membership, Team

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
