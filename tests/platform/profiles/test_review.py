"""The review of suspect golds: verdicts by people, what they change, and what they protect."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.datasets.models import DatasetVersion, RowNotes
from dressage.datasets.versions import notes, storage
from dressage.teams.models import AuditEntry, Team
from tests.platform.profiles.fixtures import ProfileWorker, row

Start = Callable[..., Any]
NOTHING = {"verdicts": [], "right": 0, "wrong": 0, "leave_out": 0}


@pytest.fixture
def done(start: Start) -> str:
    """Id of a profile that is done, whose notes call the gold of both rows suspect."""
    made: str = start()["id"]
    worker = ProfileWorker(made)
    worker.take()
    worker.hand_in(0, row(0, 8, 1, is7=7), row(1, 8, 0, is9=8))
    worker.answer(stopped="settled", votes=True)
    suspects = pa.table({"suspect": pa.array([True, True])})
    source: notes.NoteSource = {"kind": "profile", "id": made, "arguments": {}}
    notes.write(DatasetVersion.objects.get(), "suspect", suspects, by=Actor("user", "", "eve"), source=source)
    return made


@pytest.fixture
def ask(api: Callable[..., APIClient], done: str) -> Callable[..., Any]:
    """``ask(method, path, body, status=200)``: the answer below the profile, as an editor."""
    client = api("editor")

    def send(method: str, path: str, body: Any = None, status: int = 200) -> Any:
        response = getattr(client, method)(f"/api/v1/profiles/{done}/{path}", body, format="json")
        assert response.status_code == status, response.content
        return response.json()

    return send


def golds(number: int) -> list[Any]:
    """The golds of a version, by row."""
    path = DatasetVersion.objects.get(number=number).path
    return [one["answer"] for _, _, one in storage.read_identified(path, range(storage_rows(number)))]


def storage_rows(number: int) -> int:
    """Rows of a version."""
    return DatasetVersion.objects.get(number=number).rows


def test_a_gold_is_corrected_and_a_row_left_out(ask: Callable[..., Any], done: str) -> None:
    assert ask("get", "review") == NOTHING
    before = golds(1)
    assert ask("post", "review/versions", {}, 409)["error"]["code"] == "nothing_to_change"
    said = ask("put", "review", {"verdicts": [{"row": 0, "verdict": "wrong", "answer": " 7 "}]})
    (first,) = said["verdicts"]
    assert (first["row"], first["verdict"], first["answer"]) == (0, "wrong", "7")
    assert first["by"]
    assert first["at"]
    said = ask("put", "review", {"verdicts": [{"row": 1, "verdict": "leave_out", "answer": "9"}]})
    assert [one["answer"] for one in said["verdicts"]] == ["7", None]
    assert (said["right"], said["wrong"], said["leave_out"]) == (0, 1, 1)
    assert ask("get", "review") == said
    assert golds(1) == before, "verdicts change no row"

    counted = ask("post", "review/versions", {"dry_run": True})
    assert counted["counts"] == {"before": 2, "after": 1, "added": 0, "removed": 1, "changed": 1}
    assert DatasetVersion.objects.count() == 1
    assert ask("post", "review/versions", {"latest": 1}, 201)["results"][0]["ref"] == "sums@2"
    assert golds(2) == ["7"]
    made = DatasetVersion.objects.get(number=2)
    assert (made.operation["name"], made.parent.number) == ("edit", 1)
    arguments = made.operation["arguments"]
    assert {name: arguments[name] for name in ("review", "column", "corrected", "left_out", "reviewers")} == {
        "review": done,
        "column": "answer",
        "corrected": 1,
        "left_out": 1,
        "reviewers": [first["by"]],
    }
    assert ask("post", "review/versions", {"latest": 1}, 409)["error"]["code"] == "newer_version"
    entries = AuditEntry.objects.filter(action="profile.review", target_id=done)
    assert [entry.after["number_of_verdicts"] for entry in entries] == [1, 1]


def test_a_confirmed_gold_outlives_a_version_without_suspects(ask: Callable[..., Any]) -> None:
    ask("put", "review", {"verdicts": [{"row": 1, "verdict": "right"}]})
    made = ask("post", "versions", {"without_suspects": True}, 201)
    assert made["counts"]["after"] == 1
    assert golds(2) == golds(1)[1:]
    carried = notes.read(DatasetVersion.objects.get(number=2), "review").to_pylist()
    assert [one["verdict"] for one in carried] == ["right"], "the next profile knows of it"


def test_a_verdict_is_replaced_and_taken_back(ask: Callable[..., Any]) -> None:
    ask("put", "review", {"verdicts": [{"row": 0, "verdict": "right"}, {"row": 1, "verdict": "right"}]})
    said = ask("put", "review", {"verdicts": [{"row": 0, "verdict": "leave_out"}, {"row": 1, "verdict": None}]})
    assert [(one["row"], one["verdict"]) for one in said["verdicts"]] == [(0, "leave_out")]
    assert ask("put", "review", {"verdicts": [{"row": 0, "verdict": None}]}) == NOTHING


@pytest.mark.parametrize(
    ("verdicts", "pointer"),
    [
        ([{"row": 2, "verdict": "right"}], "/verdicts/0/row"),
        ([{"row": 0, "verdict": "right"}, {"row": 0, "verdict": "leave_out"}], "/verdicts/1/row"),
        ([{"row": 0, "verdict": "right"}, {"row": 1, "verdict": "wrong"}], "/verdicts/1/answer"),
        ([{"row": 0, "verdict": "perhaps"}], "/verdicts/0/verdict"),
        ([], "/verdicts"),
    ],
)
def test_a_verdict_that_says_nothing_is_refused(ask: Callable[..., Any], verdicts: Any, pointer: str) -> None:
    refused = ask("put", "review", {"verdicts": verdicts}, 422)
    assert refused["errors"][0]["pointer"] == pointer
    assert not RowNotes.objects.filter(name="review").exists()


def test_the_gold_itself_is_no_correction(ask: Callable[..., Any]) -> None:
    refused = ask("put", "review", {"verdicts": [{"row": 0, "verdict": "wrong", "answer": golds(1)[0]}]}, 422)
    assert refused["errors"][0]["pointer"] == "/verdicts/0/answer"
    assert ask("get", "review") == NOTHING


def test_who_only_reads_and_who_is_of_another_team_says_nothing(
    ask: Callable[..., Any], done: str, api: Callable[..., APIClient], other_team: Team
) -> None:
    body = {"verdicts": [{"row": 0, "verdict": "right"}]}
    path = f"/api/v1/profiles/{done}/review"
    assert api("viewer").get(path).json() == NOTHING
    assert api("viewer").put(path, body, format="json").status_code == 403
    stranger = api("admin", team=other_team)
    assert stranger.get(path).status_code == 404
    assert stranger.put(path, body, format="json").status_code == 404
    assert stranger.post(f"{path}/versions", {}, format="json").status_code == 404
    assert ask("get", "review") == NOTHING
