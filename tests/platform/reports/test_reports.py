"""Reports: shared in the team, changed by editors who have seen the newest, with a history that can be brought back."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.common.api.problems import Problem
from dressage.reports import document, services
from dressage.reports.models import Report, ReportRevision
from dressage.teams.models import AuditEntry, Team

Clients = Callable[..., APIClient]
PATH = "/api/v1/reports"
RUN = {"id": "run_1", "name": "Parent"}
TEXT = {"type": "text", "id": "a", "markdown": "# Half the rate\n\nIt **helps**: $p < 0.05$."}
CHART = {"type": "chart", "id": "b", "metrics": ["critic/score/mean"], "runs": [RUN]}
WHOLE_CHART = {
    **CHART,
    "title": "Reward",
    "together": True,
    "x": "tokens",
    "x_from": 0.0,
    "x_to": 1e6,
    "y_from": -1.0,
    "y_to": 1.0,
    "smooth": 0.6,
    "log": False,
    "lineage": False,
    "as_of": "2026-11-26T04:00:00Z",
}
SAMPLE = {
    "type": "sample",
    "id": "c",
    "run": RUN,
    "step": 3,
    "group": "g1",
    "number": 0,
    "prompt": "1+1=",
    "completion": "2",
    "reward": None,
    "note": "Right, and not graded.",
}
BLOCKS = [
    TEXT,
    WHOLE_CHART,
    SAMPLE,
    {"type": "evaluations", "id": "d", "runs": [RUN], "as_of": None},
    {"type": "spec", "id": "e", "runs": [RUN]},
]


def make(client: APIClient, title: str = "Rates", status: int = 201, blocks: Any = None) -> Any:
    body = {"title": title, "content": {"blocks": [TEXT] if blocks is None else blocks}}
    response = client.post(PATH, body, format="json")
    assert response.status_code == status, response.content
    return response.json()


def change(client: APIClient, report: Any, revision: int, status: int = 200, **fields: Any) -> Any:
    headers = {"If-Match": f'"{revision}"'}
    response = client.patch(f"{PATH}/{report['id']}", fields, format="json", headers=headers)
    assert response.status_code == status, response.content
    return response.json()


def test_everyone_in_the_team_reads_what_an_editor_has_written(api: Clients) -> None:
    editor, viewer = api("editor"), api("viewer")
    report = make(editor, blocks=BLOCKS)
    assert report["content"]["blocks"] == BLOCKS
    assert (report["revision"], report["created_by"], report["updated_by"]) == (1, editor.user.email, editor.user.email)
    answer = viewer.get(f"{PATH}/{report['id']}")
    assert (answer.json(), answer.headers["ETag"]) == (report, '"1"')
    [entry] = viewer.get(PATH).json()["data"]
    assert entry == {name: value for name, value in report.items() if name != "content"}


def test_viewers_change_nothing(api: Clients) -> None:
    viewer, report = api("viewer"), make(api("editor"))
    make(viewer, status=403)
    change(viewer, report, 1, 403, title="Mine")
    assert viewer.delete(f"{PATH}/{report['id']}").status_code == 403
    assert Report.objects.get().title == "Rates"


def test_nothing_of_another_team(api: Clients, other_team: Team) -> None:
    report, other = make(api("editor")), api("admin", team=other_team)
    assert other.get(PATH).json()["data"] == []
    for path in ("", "/revisions", "/revisions/1"):
        assert other.get(f"{PATH}/{report['id']}{path}").status_code == 404
    change(other, report, 1, 404, title="Mine")
    assert other.delete(f"{PATH}/{report['id']}").status_code == 404
    assert Report.objects.get().title == "Rates"


def test_of_two_who_write_at_once_the_second_is_told(api: Clients) -> None:
    first, second = api("editor"), api("operator")
    report = make(first)
    saved = change(first, report, 1, title="Half the rate")
    assert (saved["revision"], saved["content"]["blocks"]) == (2, [TEXT])
    told = change(second, report, 1, 412, title="Twice the rate")
    assert (told["error"]["code"], told["revision"]) == ("stale_revision", 2)
    assert told["detail"].startswith(first.user.email)
    path = f"{PATH}/{report['id']}"
    for headers in ({}, {"If-Match": "*"}):
        assert second.patch(path, {"title": "x"}, format="json", headers=headers).status_code == 428
    assert Report.objects.get().title == "Half the rate"
    assert change(second, report, 2, title="Twice the rate")["updated_by"] == second.user.email


def test_what_was_said_before_is_kept_and_brought_back(api: Clients) -> None:
    editor, viewer = api("editor"), api("viewer")
    report = make(editor, blocks=BLOCKS)
    change(editor, report, 1, title="Emptied", content={"blocks": []})
    assert change(editor, report, 2, title="Emptied")["revision"] == 2, "what changes nothing is no revision"
    listed = viewer.get(f"{PATH}/{report['id']}/revisions").json()["data"]
    assert [(one["number"], one["title"]) for one in listed] == [(2, "Emptied"), (1, "Rates")]
    assert all("content" not in one for one in listed)
    old = viewer.get(f"{PATH}/{report['id']}/revisions/1").json()
    assert (old["title"], old["content"]["blocks"]) == ("Rates", BLOCKS)
    assert viewer.get(f"{PATH}/{report['id']}/revisions/3").status_code == 404
    back = change(editor, report, 2, title=old["title"], content=old["content"])
    assert (back["revision"], back["title"], back["content"]) == (3, "Rates", old["content"])


def test_only_so_many_revisions_are_kept(api: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "KEPT_REVISIONS", 2)
    editor = api("editor")
    report = make(editor)
    for revision in (1, 2, 3):
        change(editor, report, revision, title=f"Title {revision}")
    assert list(ReportRevision.objects.order_by("number").values_list("number", flat=True)) == [3, 4]
    assert editor.get(f"{PATH}/{report['id']}/revisions/1").status_code == 404


def test_long_revisions_go_earlier_and_the_newest_stays(api: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    editor = api("editor")
    report = make(editor, blocks=[])
    empty, text = 14, len('{"blocks": [{"type": "text", "id": "a", "markdown": "xx"}]}')
    monkeypatch.setattr(services, "KEPT_CHARACTERS", empty + text)
    change(editor, report, 1, content={"blocks": [{**TEXT, "markdown": "xx"}]})
    sizes = ReportRevision.objects.order_by("number").values_list("number", "size")
    assert list(sizes) == [(1, empty), (2, text)]
    change(editor, report, 2, content={"blocks": [{**TEXT, "markdown": "xy"}]})
    assert list(sizes.all()) == [(3, text)]
    change(editor, report, 3, content={"blocks": [{**TEXT, "markdown": "x" * 1000}]})
    assert [number for number, _ in sizes.all()] == [4]


def test_deleting_takes_all_of_it_and_is_audited(api: Clients) -> None:
    editor = api("editor")
    report = make(editor)
    change(editor, report, 1, content={"blocks": BLOCKS})
    assert editor.delete(f"{PATH}/{report['id']}").status_code == 204
    assert not Report.objects.exists()
    assert not ReportRevision.objects.exists()
    entries = AuditEntry.objects.filter(target_id=report["id"]).order_by("number")
    assert [entry.action for entry in entries] == ["report.create", "report.update", "report.delete"]
    assert entries[1].after == {"title": "Rates", "revision": 2, "blocks": 5}


@pytest.mark.parametrize(
    ("blocks", "pointer"),
    [
        ([{**TEXT, "type": "video"}], "/content/blocks/0"),
        ([{**TEXT, "html": "<b>"}], "/content/blocks/0/html"),
        ([{**TEXT, "markdown": "x" * 20_001}], "/content/blocks/0/markdown"),
        ([{**CHART, "metrics": []}], "/content/blocks/0/metrics"),
        ([{**CHART, "metrics": ["a,b"]}], "/content/blocks/0/metrics/0"),
        ([{**CHART, "runs": [RUN] * 21}], "/content/blocks/0/runs"),
        ([{**CHART, "runs": []}], "/content/blocks/0/runs"),
        ([{**CHART, "x": "mood"}], "/content/blocks/0/x"),
        ([{**CHART, "y_from": 1, "y_to": 1}], "/content/blocks/0"),
        ([{**CHART, "as_of": "2026-11-26T04:00:00"}], "/content/blocks/0/as_of"),
        ([TEXT, TEXT], "/content"),
        ([{**TEXT, "id": str(number)} for number in range(101)], "/content/blocks"),
        ("all", "/content/blocks"),
    ],
)
def test_what_says_nothing_sensible_is_refused(api: Clients, blocks: Any, pointer: str) -> None:
    assert make(api("editor"), status=422, blocks=blocks)["errors"][0]["pointer"] == pointer
    assert not Report.objects.exists()


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"title": ""}, "/title"),
        ({"title": "x" * 201}, "/title"),
        ({"content": {"blocks": [CHART], "html": ""}}, "/content/html"),
        ({"content": {"blocks": [{**SAMPLE, "completion": "x" * 4001}]}}, "/content/blocks/0/completion"),
        ({"content": {"blocks": [{**SAMPLE, "run": {"id": "../../teams"}}]}}, "/content/blocks/0/run/id"),
        ({"updated_by": "me"}, "/updated_by"),
    ],
)
def test_a_change_that_is_refused_changes_nothing(api: Clients, fields: Any, pointer: str) -> None:
    report = make(api("editor"))
    assert change(api("editor"), report, 1, 422, **fields)["errors"][0]["pointer"] == pointer
    assert api("viewer").get(f"{PATH}/{report['id']}").json() == report
    assert ReportRevision.objects.count() == 1


def test_reports_are_bounded(api: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    editor = api("editor")
    monkeypatch.setattr(document, "MAX_CHARACTERS", 60)
    refused = make(editor, status=422)["errors"][0]
    assert (refused["pointer"], "split it into two reports" in refused["detail"]) == ("/content", True)
    make(editor, blocks=[])
    monkeypatch.setattr(services, "MAX_REPORTS", 1)
    assert make(editor, status=409, blocks=[])["error"]["code"] == "too_many_reports"
    assert Report.objects.count() == 1


def test_a_report_that_was_deleted_meanwhile_is_not_found(api: Clients, actor: Actor) -> None:
    made = make(api("editor"))
    of_before = Report.objects.get(id=made["id"])
    Report.objects.all().delete()
    for write in (
        lambda: services.change_report(of_before, actor, 1, {"title": "x"}),
        lambda: services.delete_report(of_before, actor),
    ):
        with pytest.raises(Problem) as refused:
            write()
        assert refused.value.status == 404
    assert not Report.objects.exists()
