"""Saved views: private or shared, one default of a team, nothing of another team, and no more than is kept."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.chart_views import services
from dressage.chart_views.models import ChartView
from dressage.common.actors import Actor
from dressage.common.api.problems import Problem
from dressage.common.roles import Role
from dressage.teams.models import AuditEntry, Team

Clients = Callable[..., APIClient]
PATH = "/api/v1/views"
CHARTS = {"x": "cost", "smooth": 0.6, "pins": ["reward", "metric-perf-new"], "hide": ["actor/entropy"], "log": ["loss"]}


def keep(client: APIClient, name: str = "Cost first", status: int = 201, **fields: Any) -> Any:
    response = client.post(PATH, {"name": name, "charts": CHARTS, **fields}, format="json")
    assert response.status_code == status, response.content
    return response.json()


def change(client: APIClient, view: Any, status: int = 200, **fields: Any) -> Any:
    response = client.patch(f"{PATH}/{view['id']}", fields, format="json")
    assert response.status_code == status, response.content
    return response.json()


def names(client: APIClient) -> list[str]:
    return [view["name"] for view in client.get(PATH).json()["data"]]


def test_a_private_view_is_its_owners_alone(api: Clients) -> None:
    viewer, admin = api("viewer"), api("admin")
    view = keep(viewer)
    assert (view["charts"], view["shared"], view["default"]) == (CHARTS, False, False)
    assert viewer.get(f"{PATH}/{view['id']}").json() == view
    assert (names(viewer), names(admin)) == (["Cost first"], [])
    assert admin.get(f"{PATH}/{view['id']}").status_code == 404
    change(admin, view, 404, name="Mine")
    assert admin.delete(f"{PATH}/{view['id']}").status_code == 404
    assert change(viewer, view, name="Spend", charts={"x": "step"})["charts"]["pins"] == []
    assert viewer.delete(f"{PATH}/{view['id']}").status_code == 204
    assert not ChartView.objects.exists()
    assert not AuditEntry.objects.filter(target_type="view").exists(), "what is private is not told to the team"


def test_editors_share_and_change_what_is_shared(api: Clients) -> None:
    viewer, editor, other = api("viewer"), api("editor"), api("operator")
    keep(viewer, status=403, shared=True)
    own = keep(viewer, "Own")
    change(viewer, own, 403, shared=True)
    view = keep(editor, shared=True)
    assert names(viewer) == ["Cost first", "Own"]
    change(viewer, view, 403, name="Taken over")
    assert viewer.delete(f"{PATH}/{view['id']}").status_code == 403
    assert change(other, view, name="Team’s")["name"] == "Team’s"
    refused = change(other, view, 422, shared=False)
    assert refused["errors"][0]["pointer"] == "/shared", "nobody hides from others what they have not made"
    assert ChartView.objects.get(id=view["id"]).shared
    change(editor, view, shared=False)
    assert (names(other), names(viewer)) == ([], ["Own"])
    actions = AuditEntry.objects.filter(target_id=view["id"]).order_by("number").values_list("action", flat=True)
    assert list(actions) == ["view.create", "view.update", "view.update"]


def test_a_team_has_one_default_which_is_shared(api: Clients, other_team: Team) -> None:
    editor, elsewhere = api("editor"), api("editor", team=other_team)
    assert keep(editor, default=True, status=422)["errors"][0]["pointer"] == "/default"
    first = keep(editor, "First", shared=True, default=True)
    theirs = keep(elsewhere, "Theirs", shared=True, default=True)
    second = keep(editor, "Second", shared=True)
    assert change(editor, second, default=True)["default"] is True
    found = dict(ChartView.objects.values_list("id", "default"))
    assert found == {first["id"]: False, second["id"]: True, theirs["id"]: True}
    change(editor, second, 422, shared=False)
    assert ChartView.objects.get(id=second["id"]).shared


def test_nothing_of_another_team(api: Clients, other_team: Team) -> None:
    view = keep(api("editor"), shared=True)
    other = api("admin", team=other_team)
    assert names(other) == []
    assert other.get(f"{PATH}/{view['id']}").status_code == 404
    change(other, view, 404, name="x")
    assert other.delete(f"{PATH}/{view['id']}").status_code == 404
    assert ChartView.objects.get().name == "Cost first"


def test_names_and_numbers_have_limits(api: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    editor, viewer = api("editor"), api("viewer")
    first = keep(editor)
    assert keep(editor, status=409)["errors"][0]["pointer"] == "/name"
    second = keep(editor, "Second")
    assert change(editor, second, 409, name="Cost first")["errors"][0]["pointer"] == "/name"
    assert change(editor, first, name="Cost first")["name"] == "Cost first"
    keep(viewer)  # each has names of their own
    monkeypatch.setattr(services, "MAX_VIEWS", 2)
    assert keep(editor, "Third", 409)["error"]["code"] == "too_many_views"
    assert ChartView.objects.count() == 3


@pytest.mark.parametrize(
    ("charts", "pointer"),
    [
        ({"colour": "red"}, "/charts/colour"),
        ({"x": "mood"}, "/charts/x"),
        ({"smooth": 1}, "/charts/smooth"),
        ({"pins": ["a,b"]}, "/charts/pins/0"),
        ({"pins": ["a"] * 101}, "/charts/pins"),
        ({"hide": ["a\u0001"]}, "/charts/hide/0"),
        ({"log": ["x" * 201]}, "/charts/log/0"),
        ([], "/charts"),
    ],
)
def test_what_says_nothing_sensible_is_refused(api: Clients, charts: Any, pointer: str) -> None:
    assert keep(api("editor"), status=422, charts=charts)["errors"][0]["pointer"] == pointer
    assert not ChartView.objects.exists()


def test_unknown_members_are_refused(api: Clients) -> None:
    assert keep(api("editor"), status=422, team="t")["errors"][0]["pointer"] == "/team"


def test_a_view_that_was_deleted_meanwhile_is_not_found(api: Clients, actor: Actor) -> None:
    view = ChartView.objects.get(id=keep(api("editor"), shared=True)["id"])
    view_of_before = ChartView.objects.get(id=view.id)
    view.delete()
    for write in (
        lambda: services.change_view(view_of_before, actor, Role.EDITOR, {"name": "x"}),
        lambda: services.delete_view(view_of_before, actor, Role.EDITOR),
    ):
        with pytest.raises(Problem) as refused:
            write()
        assert refused.value.status == 404
    assert not ChartView.objects.exists()
