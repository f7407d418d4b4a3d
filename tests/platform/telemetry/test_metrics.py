"""Charts: exact numbers, one point per step whatever the attempts, NaN reported."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.test import APIClient

from dressage.runs.models import Run
from dressage.runs.sweep.reconcile import sweep
from dressage.telemetry.downsample import bucket_width
from dressage.telemetry.lines import FOREVER, Line
from dressage.telemetry.models import Point
from tests.platform.runs.fixtures import Worker, expire_lease, step_event

Launch = Callable[..., tuple[Run, Worker]]
KEY = "critic/score/mean"


@pytest.fixture
def chart(launch: Launch, api: Callable[..., APIClient]) -> Any:
    """``chart(run, **query)``: the document, which must be there."""
    viewer = api("viewer")

    def read(run: Run, keys: str = KEY, status: int = 200, **query: Any) -> Any:
        response = viewer.get(f"/api/v1/runs/{run.id}/metrics", {"keys": keys, **query})
        assert response.status_code == status, response.content
        return response.json()

    return read


def values(worker: Worker, numbers: list[Any], first: int = 1) -> None:
    worker.sync(*(step_event(step, v=value) for step, value in enumerate(numbers, start=first)))


def test_every_point_when_there_is_room(launch: Launch, chart: Any) -> None:
    run, worker = launch()
    values(worker, [0.5, 0.25, 1.0])
    assert chart(run, "v,none") == {
        "x": "step",
        "series": {
            "v": {
                "x": [1, 2, 3], "min": [0.5, 0.25, 1.0], "mean": [0.5, 0.25, 1.0], "max": [0.5, 0.25, 1.0],
                "raw_count": 3, "nan": [],
            },
            "none": {"x": [], "min": [], "mean": [], "max": [], "raw_count": 0, "nan": []},
        },
    }  # fmt: skip


def test_buckets_are_exact_and_stay_where_they_are(launch: Launch, chart: Any) -> None:
    run, worker = launch()
    values(worker, [float(step) for step in range(1, 11)])
    # 10 steps in at most 4 buckets: width 4, that is steps 1-3, 4-7, 8-10.
    expected = {
        "x": [3, 7, 10], "min": [1, 4, 8], "mean": [2, 5.5, 9], "max": [3, 7, 10], "raw_count": 10, "nan": []
    }  # fmt: skip
    assert chart(run, "v", max_points=4)["series"]["v"] == expected
    values(worker, [11.0], first=11)
    grown = chart(run, "v", max_points=4)["series"]["v"]
    assert (grown["x"], grown["mean"]) == ([3, 7, 11], [2, 5.5, 9.5])


def test_values_that_are_not_finite(launch: Launch, chart: Any) -> None:
    run, worker = launch()
    values(worker, [1.0, "NaN", 3.0, "Infinity", "NaN", "-Infinity", "NaN", 8.0])
    series = chart(run, "v", max_points=3)["series"]["v"]  # steps 1-3, 4-7, 8
    assert (series["x"], series["mean"]) == ([3, 7, 8], [2.0, None, 8.0])
    assert (series["min"], series["max"]) == ([1.0, None, 8.0], [3.0, None, 8.0])
    assert (series["nan"], series["raw_count"]) == ([2, 4, 5, 6, 7], 8)


def test_the_largest_floats_have_a_mean(launch: Launch, chart: Any) -> None:
    run, worker = launch()
    values(worker, [1.7e308, 1.7e308, 1.7e308, -1e-300])
    assert chart(run, "v", max_points=1)["series"]["v"]["mean"] == [pytest.approx(1.275e308, rel=1e-12)]


def test_windows(launch: Launch, chart: Any) -> None:
    run, worker = launch()
    values(worker, [float(step) for step in range(1, 11)])
    assert chart(run, "v", **{"from": 3, "to": 5.5})["series"]["v"]["x"] == [3, 4, 5]
    assert chart(run, "v", **{"from": 50})["series"]["v"]["x"] == []


def test_time_and_tokens(launch: Launch, chart: Any) -> None:
    run, worker = launch()
    start = run.started_at.replace(microsecond=0)
    Run.objects.filter(pk=run.pk).update(started_at=start)

    def at(seconds: int) -> str:
        from datetime import timedelta

        return (start + timedelta(seconds=seconds)).isoformat()

    evaluation = {"kind": "eval", "data": {"metrics": {"e": 0.5}}}
    worker.sync({**evaluation, "step": 0, "at": at(10)})
    worker.sync(*({**step_event(step, v=float(step)), "at": at(10 + 5 * step)} for step in range(1, 5)))
    worker.sync({**evaluation, "step": 2, "at": at(90)})
    tokens = chart(run, "v,e", x="tokens")["series"]
    assert (tokens["v"]["x"], tokens["e"]["x"]) == ([10, 20, 30, 40], [0, 20])
    time = chart(run, "v,e", x="time")["series"]
    assert (time["v"]["x"], time["e"]["x"]) == ([15, 20, 25, 30], [10, 20])
    halves = chart(run, "v", x="time", max_points=2)["series"]["v"]  # width 16: [0, 16), [16, 32)
    assert (halves["x"], halves["mean"]) == ([15, 30], [1.0, 3.0])
    assert chart(run, "v", x="tokens", **{"from": 15, "to": 30})["series"]["v"]["x"] == [20, 30]


def test_a_second_attempt_leaves_no_double_and_no_gap(launch: Launch, chart: Any) -> None:
    run, first = launch()
    first.sync({"kind": "eval", "step": 0, "data": {"metrics": {"e": 0.0}}})
    first.steps(1, 10)
    first.sync({"kind": "eval", "step": 10, "data": {"metrics": {"e": 0.1}}})
    first.checkpoint(10)
    values(first, ["NaN", 7.0, 7.0], first=11)
    expire_lease(run)
    sweep()
    second = Worker(run.id, 2)
    second.sync({"kind": "eval", "step": 10, "data": {"metrics": {"e": 0.2}}})
    second.steps(11, 12)
    document = chart(run, f"{KEY},e,v", superseded="1")
    series, ghosts = document["series"][KEY], document["superseded"]
    assert (series["x"], series["raw_count"]) == (list(range(1, 13)), 12)
    assert series["mean"] == [step / 100 for step in range(1, 13)]
    # The evaluation that both have made counts once, as it was made last.
    assert (document["series"]["e"]["x"], document["series"]["e"]["mean"]) == ([0, 10], [0.0, 0.2])
    assert document["series"]["v"]["raw_count"] == 0
    assert ghosts["v"] == {
        "x": [11, 12, 13], "min": [None, 7, 7], "mean": [None, 7, 7], "max": [None, 7, 7], "raw_count": 3, "nan": [11]
    }  # fmt: skip
    assert ghosts[KEY]["x"] == [11, 12, 13]
    assert "e" not in ghosts
    for axis in ("time", "tokens"):
        assert chart(run, f"{KEY},e", x=axis)["series"][KEY]["raw_count"] == 12
    assert "superseded" not in chart(run)


def test_steps_that_were_replaced_do_not_widen_the_buckets(launch: Launch, chart: Any) -> None:
    run, first = launch()
    first.steps(1, 4)
    first.checkpoint(4)
    first.steps(5, 40)
    expire_lease(run)
    sweep()
    Worker(run.id, 2).steps(5, 8)
    for axis in ("step", "tokens"):
        series = chart(run, KEY, x=axis, max_points=10)["series"][KEY]
        assert len(series["x"]) == 8 and series["raw_count"] == 8, axis


def test_a_delivery_twice_leaves_one_point(launch: Launch, chart: Any) -> None:
    run, worker = launch()
    worker.step(1)
    for _ in range(3):
        worker.repeat()
    assert chart(run)["series"][KEY]["raw_count"] == 1
    # The same metric of a step from two kinds of events: the first counts, and nothing breaks.
    worker.sync({"kind": "eval", "step": 1, "data": {"metrics": {KEY: 9.0, "fresh": 1.0}}})
    assert Point.objects.count() == 2
    assert chart(run)["series"][KEY]["mean"] == [0.01]


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"keys": ""}, "/keys"),
        ({"keys": ",".join(map(str, range(65)))}, "/keys"),
        ({"x": "moon"}, "/x"),
        ({"max_points": "0"}, "/max_points"),
        ({"max_points": "10001"}, "/max_points"),
        ({"max_points": "many"}, "/max_points"),
        ({"from": "a"}, "/from"),
        ({"to": "nan"}, "/to"),
    ],
)
def test_bad_queries(make_run: Callable[..., Run], api: Callable[..., APIClient], query: Any, pointer: str) -> None:
    answer = api("viewer").get(f"/api/v1/runs/{make_run().id}/metrics", {"keys": "a", **query})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)


def test_names(launch: Launch, api: Callable[..., APIClient]) -> None:
    run, worker = launch()
    worker.step(1, strange=1.0)
    found = api("viewer").get(f"/api/v1/runs/{run.id}/metrics/names").json()["data"]
    assert [metric["name"] for metric in found] == [KEY, "strange"]
    assert found[0]["title"] != KEY
    assert (found[1]["title"], found[1]["group"]) == ("strange", "other")


def test_several_runs_at_once(
    launch: Launch, make_run: Callable[..., Run], chart: Any, api: Callable[..., APIClient]
) -> None:
    (first, worker), second = launch("first"), make_run("second")
    values(worker, [1.0, 2.0])
    viewer, runs = api("viewer"), f"{second.id},run_of_another_team,{first.id}"
    found = viewer.get("/api/v1/metrics", {"runs": runs, "keys": "v,none", "x": "tokens"}).json()
    assert (found["object"], found["missing"]) == ("list", ["run_of_another_team"])
    assert found["data"] == [{"run": run.id, **chart(run, "v,none", x="tokens")} for run in (second, first)]
    names = viewer.get("/api/v1/metrics/names", {"runs": runs}).json()
    assert [(entry["run"], [name["name"] for name in entry["data"]]) for entry in names["data"]] == [
        (second.id, []),
        (first.id, [KEY, "v"]),
    ]
    assert names["missing"] == ["run_of_another_team"]


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"keys": "v"}, "/runs"),
        ({"runs": "a"}, "/keys"),
        ({"keys": "v", "runs": ",".join(f"run_{number}" for number in range(21))}, "/runs"),
        ({"keys": ",".join("abcdefghij"), "runs": "a,b,c,d,e,f,g", "max_points": 9200}, "/max_points"),
    ],
)
def test_several_runs_have_their_bounds(api: Callable[..., APIClient], query: Any, pointer: str) -> None:
    response = api("viewer").get("/api/v1/metrics", query)
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, pointer)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=6))
def test_every_step_counts_once(resumed: list[int]) -> None:
    """For any history in which each attempt resumes at most where an earlier one has got to."""
    attempts, reached = [(1, 0)], [resumed[0] + 5]
    for number, step in enumerate(resumed[1:], start=2):
        resume = min(step, reached[-1])
        attempts.append((number, resume))
        reached.append(resume + 5)
    line = Line.from_attempts(attempts)
    assert line.ends[len(attempts)] == FOREVER
    for step in range(1, reached[-1] + 1):
        learned = [number for (number, resume), end in zip(attempts, reached, strict=True) if resume < step <= end]
        counting = [number for number in learned if line.has(number, step)]
        assert counting == [max(learned)]


@given(st.floats(0, 1e9), st.floats(1e-6, 1e9), st.integers(1, 10_000))
def test_widths(low: float, span: float, points: int) -> None:
    for whole in (False, True):
        first, last = (int(low), int(low + span)) if whole else (low, low + span)
        width = bucket_width(first, last, points, whole=whole)
        assert math.log2(width).is_integer()
        assert width >= 1 or not whole
        assert math.floor(last / width) - math.floor(first / width) + 1 <= points


def now(worker: Worker, numbers: list[Any], first: int = 1) -> None:
    """Steps that are done just now."""
    at = {"at": timezone.now().isoformat()}
    worker.sync(*(step_event(step, v=value) | at for step, value in enumerate(numbers, start=first)))


def test_a_chart_as_of_an_instant_stays_as_it_was(launch: Launch, chart: Any) -> None:
    run, worker = launch()
    now(worker, [1.0, 2.0, 3.0])
    before = chart(run, "v")
    then = timezone.now().isoformat()
    now(worker, [4.0, 5.0], first=4)
    assert chart(run, "v")["series"]["v"]["x"] == [1, 2, 3, 4, 5]
    assert chart(run, "v", as_of=then) == before
    # An attempt that goes on from step 1 does the others anew.
    worker.checkpoint(1)
    expire_lease(run)
    sweep()
    run.refresh_from_db()
    again = Worker(run.id, run.attempt)
    again.state("running")
    now(again, [20.0, 30.0, 40.0], first=2)
    assert chart(run, "v")["series"]["v"]["mean"] == [1.0, 20.0, 30.0, 40.0]
    assert chart(run, "v", as_of=then) == before
    assert chart(run, "v", as_of=then, x="tokens")["series"]["v"]["mean"] == [1.0, 2.0, 3.0]
    assert chart(run, "v", as_of=timezone.now().isoformat()) == chart(run, "v")


def test_nothing_is_known_as_of_an_instant_before_the_first_step(launch: Launch, chart: Any) -> None:
    then = timezone.now().isoformat()
    run, worker = launch()
    now(worker, [1.0])
    assert chart(run, "v", as_of=then)["series"]["v"]["x"] == []
    assert chart(run, "v", as_of="yesterday", status=422)["errors"][0]["pointer"] == "/as_of"
