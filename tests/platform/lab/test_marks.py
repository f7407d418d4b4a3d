"""Marks: rows that people judge without the judge's scores, and how far both agree."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.datasets.models import DatasetVersion
from dressage.lab.models import LabJob, QualityMark
from dressage.lab.quality.agreement import agreement_of
from dressage.lab.quality.drawing import ScoredRow, drawn
from dressage.rewards.models import JudgeEndpoint
from dressage.teams.models import AuditEntry, Team
from tests.platform.lab.test_quality import ASSESS, by_number
from tests.support.about import PLATFORM
from tests.support.judge_endpoint import JudgeServer
from trainer_core.profiling.agreement import cohen_kappa
from trainer_core.profiling.interval import wilson_interval


@pytest.fixture
def judged(
    finish: Callable[..., LabJob], make: Callable[..., DatasetVersion], model: JudgeServer, endpoint: JudgeEndpoint
) -> LabJob:
    """Forty rows with scores 0.25, 0.4375, 0.625, 0.8125 and 1, eight of each."""
    model.say = by_number
    job = finish(make([{"prompt": f"Row {number}", "answer": "a"} for number in range(40)]), ASSESS)
    assert job.state == "done"
    return job


def marks(client: APIClient, job: LabJob, **query: Any) -> Any:
    answer = client.get(f"/api/v1/lab-jobs/{job.id}/marks", query)
    assert answer.status_code == 200, answer.json()
    return answer.json()


def put(client: APIClient, job: LabJob, said: dict[int, str | None]) -> Any:
    body = {"marks": [{"row": row, "word": word} for row, word in said.items()]}
    return client.put(f"/api/v1/lab-jobs/{job.id}/marks", body, format="json")


@pytest.mark.expensive(2, "starts a job's process", about=PLATFORM)
def test_rows_are_drawn_without_their_scores(editor: APIClient, api: Callable[..., APIClient], judged: LabJob) -> None:
    found = marks(editor, judged, size=12)
    rows = found["rows"]
    assert (len(rows), found["reviewers"], found["threshold"]) == (12, [], 0.5)
    assert all(set(row) == {"index", "id", "columns", "mine"} and row["mine"] is None for row in rows)
    assert rows[0]["columns"] == [
        {"name": "prompt", "text": f"Row {rows[0]['index']}"},
        {"name": "answer", "text": "a"},
    ]
    strata = [min(int((3 * (row["index"] % 5) / 4 + 1) / 4 * 5), 4) for row in rows]
    # five scores fall into four of the five parts: 0.2 to 0.4, 0.4 to 0.6, 0.6 to 0.8, and both high ones from 0.8 on
    assert sorted(strata.count(part) for part in range(5)) == [0, 3, 3, 3, 3]
    assert strata != sorted(strata) and strata != sorted(strata, reverse=True)
    assert marks(api("viewer"), judged, size=12)["rows"] == rows
    larger = {row["index"] for row in marks(editor, judged, size=20)["rows"]}
    assert {row["index"] for row in rows} <= larger


@pytest.mark.expensive(2, "starts a job's process", about=PLATFORM)
def test_verdicts_are_told_of_rows_once_they_are_marked(
    editor: APIClient, api: Callable[..., APIClient], judged: LabJob
) -> None:
    """Who marks rows has not read in the job's report what the judge thinks of them."""

    def lowest(client: APIClient) -> tuple[list[int], int]:
        quality = client.get(f"/api/v1/lab-jobs/{judged.id}").json()["report"]["quality"]
        return [one["row"]["index"] for one in quality["lowest"]], quality["kept_back"]

    every = [number for rest in range(5) for number in range(40) if number % 5 == rest][:30]
    assert lowest(api("viewer")) == (every, 0)
    assert lowest(editor) == ([], 30)
    assert put(editor, judged, {every[3]: "bad", every[0]: "good"}).status_code == 204
    assert lowest(editor) == ([every[0], every[3]], 28)
    assert lowest(api("admin")) == ([], 30)
    assert put(editor, judged, {every[0]: None}).status_code == 204
    assert lowest(editor) == ([every[3]], 29)
    assert editor.post(f"/api/v1/lab-jobs/{judged.id}/undo").status_code == 200
    assert lowest(editor) == (every, 0)


@pytest.mark.expensive(2, "starts a job's process", about=PLATFORM)
def test_rows_that_are_not_drawn_are_told_at_once(
    editor: APIClient,
    finish: Callable[..., LabJob],
    make: Callable[..., DatasetVersion],
    model: JudgeServer,
    endpoint: JudgeEndpoint,
) -> None:
    model.say = by_number
    job = finish(make([f"Row {number}" for number in range(300)]), ASSESS)
    to_mark = {row["index"] for row in marks(editor, job)["rows"]}
    quality = editor.get(f"/api/v1/lab-jobs/{job.id}").json()["report"]["quality"]
    shown = {one["row"]["index"] for one in quality["lowest"]}
    assert (len(to_mark), len(shown) + quality["kept_back"]) == (40, 30)
    assert len(shown) > 10 and not shown & to_mark
    # marks of rows that nobody has drawn would be of rows that somebody has chosen
    drawn = {row["index"] for row in marks(editor, job, size=200)["rows"]}
    assert len(drawn) == 200 and to_mark < drawn
    refused = put(editor, job, {min(set(range(300)) - drawn): "good"})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/marks/0/row")


@pytest.mark.expensive(2, "starts a job's process", about=PLATFORM)
def test_agreement_per_reviewer(editor: APIClient, api: Callable[..., APIClient], judged: LabJob) -> None:
    second = api("admin")
    # the judge finds rows good whose number ends with 2, 3, 4, 7, 8 or 9
    assert put(editor, judged, {0: "bad", 1: "bad", 2: "good", 3: "good", 4: "bad", 5: "good"}).status_code == 204
    assert put(second, judged, {0: "bad", 2: "good"}).status_code == 204
    found = {one["marked"]: one for one in marks(editor, judged)["reviewers"]}
    mine = found[6]
    assert [mine[name] for name in ("both_good", "judge_only", "person_only", "both_bad")] == [2, 1, 1, 2]
    low, high = wilson_interval(6, 4)
    assert (mine["agreement"], mine["low"], mine["high"]) == pytest.approx((4 / 6, low, high))
    kappa = cohen_kappa(2, 1, 1, 2)
    assert kappa is not None
    assert (mine["kappa"], mine["kappa_low"], mine["kappa_high"]) == pytest.approx((kappa.value, kappa.low, kappa.high))
    assert kappa.value == pytest.approx(1 / 3)
    assert (found[2]["agreement"], found[2]["kappa"]) == (1.0, 1.0)
    # another threshold is another judgement: only 1.0 is good from 0.9 on
    strict = {one["marked"]: one for one in marks(editor, judged, threshold=0.9)["reviewers"]}[6]
    assert [strict[name] for name in ("both_good", "judge_only", "person_only", "both_bad")] == [0, 1, 3, 2]

    said = {row["index"]: row["mine"] for row in marks(editor, judged, size=40)["rows"] if row["mine"]}
    assert said == {0: "bad", 1: "bad", 2: "good", 3: "good", 4: "bad", 5: "good"}
    assert put(editor, judged, {4: "good", 5: None}).status_code == 204
    again = {one["marked"]: one for one in marks(editor, judged)["reviewers"]}
    assert (again[5]["agreement"], again[5]["kappa"]) == (1.0, 1.0)
    assert AuditEntry.objects.filter(action="lab.mark").count() == 3


def test_who_says_one_word_has_no_kappa() -> None:
    found = agreement_of("she", [(True, True)] * 4)
    assert (found["agreement"], found["kappa"], found["kappa_low"]) == (1.0, None, None)
    assert found["low"] == pytest.approx(wilson_interval(4, 4)[0]) and found["high"] == 1.0


@pytest.mark.expensive(4, "starts a job's process", about=PLATFORM)
def test_what_is_refused(
    editor: APIClient, api: Callable[..., APIClient], judged: LabJob, other_team: Team, finish: Callable[..., LabJob]
) -> None:
    assert put(editor, judged, {40: "good"}).json()["errors"][0]["pointer"] == "/marks/0/row"
    doubled = {"marks": [{"row": 1, "word": "good"}, {"row": 1, "word": "bad"}]}
    path = f"/api/v1/lab-jobs/{judged.id}/marks"
    assert editor.put(path, doubled, format="json").json()["errors"][0]["pointer"] == "/marks/1/row"
    assert editor.put(path, {"marks": [{"row": 1, "word": "fine"}]}, format="json").status_code == 422
    assert editor.put(path, {"marks": []}, format="json").status_code == 422
    assert put(api("viewer"), judged, {1: "good"}).status_code == 403
    rival = api("editor", team=other_team)
    assert (rival.get(path).status_code, put(rival, judged, {1: "good"}).status_code) == (404, 404)
    for query in ({"size": 0}, {"size": 201}, {"threshold": "nan"}):
        assert editor.get(path, query).status_code == 422
    assert not QualityMark.objects.exists()

    other = finish(judged.version, {"kind": "statistics"})
    assert editor.get(f"/api/v1/lab-jobs/{other.id}/marks").json()["type"].endswith("not_a_judgement")
    assert editor.post(f"/api/v1/lab-jobs/{judged.id}/undo").status_code == 200
    assert editor.get(path).status_code == 409
    assert put(editor, judged, {1: "good"}).status_code == 409
    assert not QualityMark.objects.exists()


def test_drawn_rows_follow_from_ids_and_seed() -> None:
    rows = [ScoredRow(number, f"row-{number}", number / 999) for number in range(1000)]
    first = drawn(rows, 50, "lab_1")
    assert drawn(list(reversed(rows)), 50, "lab_1") == first
    assert drawn(rows, 200, "lab_1")[:50] == first
    # which part the next row is of cannot be told from its place
    turns = {tuple(int(row.score * 5) for row in first[place : place + 5]) for place in range(0, 50, 5)}
    assert {tuple(sorted(turn)) for turn in turns} == {(0, 1, 2, 3, 4)} and len(turns) > 5
    assert drawn(rows, 50, "lab_2") != first
    counts = [sum(part <= row.score * 5 < part + 1 for row in first) for part in range(5)]
    assert counts == [10] * 5
    few = [ScoredRow(0, "low", 0.1), *(ScoredRow(n, f"high-{n}", 1.0) for n in range(1, 30))]
    assert sorted(row.id == "low" for row in drawn(few, 10, "s")) == [False] * 9 + [True]
    assert len(drawn(few, 100, "s")) == 30
    assert drawn([], 100, "s") == []


@pytest.mark.expensive(2, "starts a job's process", about=PLATFORM)
def test_who_is_called_otherwise_now_is_one_reviewer(editor: APIClient, judged: LabJob) -> None:
    put(editor, judged, {0: "bad", 2: "good"})
    QualityMark.objects.filter(row=0).update(created_by="a@example.com")
    (found,) = marks(editor, judged)["reviewers"]
    assert (found["marked"], found["reviewer"]) == (2, QualityMark.objects.get(row=2).created_by)
