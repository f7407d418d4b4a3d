"""Lists by cursor."""

from collections.abc import Callable

import pytest
from rest_framework.test import APIClient

from dressage.common.roles import Role
from dressage.teams.models import ApiToken, Team


@pytest.fixture
def admin(api: Callable[..., APIClient], team: Team) -> APIClient:
    now = team.created_at
    for number in range(7):  # all at the same instant: the id decides
        ApiToken.objects.create(team=team, name=str(number), sha256=str(number), role=Role.VIEWER, created_at=now)
    return api("admin")


def test_pages_join_to_the_whole(admin: APIClient) -> None:
    whole = admin.get("/api/v1/tokens").json()
    assert (whole["object"], whole["has_more"], whole["next"], len(whole["data"])) == ("list", False, None, 7)
    seen, after = [], ""
    for size, more in ((3, True), (3, True), (1, False)):
        page = admin.get("/api/v1/tokens", {"limit": 3, **({"after": after} if after else {})}).json()
        assert (len(page["data"]), page["has_more"]) == (size, more)
        assert page["next"] == (page["data"][-1]["id"] if more else None)
        seen += page["data"]
        after = page["next"]
    assert seen == whole["data"]


def test_a_full_last_page_has_no_more(admin: APIClient) -> None:
    page = admin.get("/api/v1/tokens", {"limit": 7}).json()
    assert (len(page["data"]), page["has_more"]) == (7, False)


def test_rows_made_meanwhile_move_nothing(admin: APIClient, team: Team) -> None:
    first = admin.get("/api/v1/tokens", {"limit": 3}).json()
    ApiToken.objects.create(team=team, name="new", sha256="new", role=Role.VIEWER)
    second = admin.get("/api/v1/tokens", {"after": first["next"]}).json()
    assert len(second["data"]) == 4
    assert not {row["id"] for row in first["data"]} & {row["id"] for row in second["data"]}


@pytest.mark.parametrize("limit", ["0", "-1", "201", "x", "1.5", "", "9" * 50, "٣"])
def test_bad_limits(admin: APIClient, limit: str) -> None:
    response = admin.get("/api/v1/tokens", {"limit": limit})
    assert response.status_code == 422
    assert response.json()["error"]["param"] == "limit"


def test_unknown_cursors(admin: APIClient, other_team: Team) -> None:
    foreign = ApiToken.objects.create(team=other_team, name="x", sha256="f", role=Role.VIEWER)
    for after in ("nonsense", foreign.id):
        response = admin.get("/api/v1/tokens", {"after": after})
        assert (response.status_code, response.json()["error"]["code"]) == (422, "invalid_cursor")
