"""Rollups: a long run's chart is the same with them as from each point, whatever its attempts, and they keep up."""

import random
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from dressage.runs.facts.selectors import line_as_of, line_of
from dressage.runs.models import Attempt, Run
from dressage.runs.sweep.rolling import roll_up_all
from dressage.telemetry import downsample, rollups
from dressage.telemetry.axes import Axes
from dressage.telemetry.lines import Line
from dressage.telemetry.models import Moment, Point, RolledUp, Rollup, Series
from dressage.telemetry.rolled import cover
from dressage.telemetry.rollups import WIDTH, closed
from tests.platform.runs.fixtures import Worker, step_event
from tests.support.about import PLATFORM

Launch = Callable[..., tuple[Run, Worker]]
REPORTED = "v", "rare"
STRANGE = float("nan"), float("inf"), float("-inf")


def attempts(run: Run, ends: list[tuple[int, int]], chance: random.Random) -> None:
    """Give a run attempts of (resume step, last step), each with a value a step and evaluations now and then."""
    Attempt.objects.filter(run=run).delete()
    series = [Series.objects.create(run=run, name=name) for name in REPORTED]
    now = timezone.now()
    for number, (resume, last) in enumerate(ends, start=1):
        Attempt.objects.create(
            run=run, number=number, resume_step=resume, last_step=last, created_at=now, token_sha256=f"{number}"
        )
        steps = range(resume + 1, last + 1)
        Moment.objects.bulk_create(
            Moment(run=run, step=step, attempt=number, at=now, seconds=1.0, tokens_total=step) for step in steps
        )
        values = [(series[0], step, chance.gauss(0, 10.0 ** chance.randint(-3, 300))) for step in steps]
        values += [(series[1], step, chance.random()) for step in range(resume, last + 1) if not step % 10]
        Point.objects.bulk_create(
            Point(
                series=one,
                step=step,
                attempt=number,
                value=chance.choice(STRANGE) if chance.random() < 0.002 else value,
            )
            for one, step, value in values
        )
    Run.objects.filter(pk=run.pk).update(attempt=len(ends), step=ends[-1][1])
    run.refresh_from_db()


def drawn(run: Run, line: Line, low: float | None, high: float | None, most: int, x: str = "step") -> dict[str, Any]:
    ids = dict(Series.objects.filter(run=run).values_list("id", "name"))
    options: dict[str, Any] = {"x": x, "low": low, "high": high, "max_points": most}
    found = downsample.query(run.pk, Axes(timezone.now()), ids, line, **options)
    documents = {name: asdict(one) for name, one in found.items()}
    for one in documents.values():
        one["mean"] = [None if mean is None else pytest.approx(mean, rel=1e-9, abs=1e-300) for mean in one["mean"]]
    return documents


HISTORIES = {
    "one attempt": [(0, 1500)],
    "goes back far": [(0, 900), (640, 1400)],
    "ends on the edge of a bucket": [(0, 700), (639, 1300), (1023, 1900)],
    "dies at once": [(0, 800), (700, 700), (700, 1000), (700, 1500)],
    "many in one bucket": [(0, 650), (641, 660), (645, 670), (650, 1200)],
    "back to the beginning": [(0, 500), (0, 1400)],
    "far behind each other": [(0, 1000), (200, 900), (700, 1700)],
}


@pytest.mark.expensive(4, "stores and reads a long run", about=PLATFORM)
@pytest.mark.parametrize("x", ["step", "tokens"])
@pytest.mark.parametrize("name", HISTORIES)
def test_a_chart_is_the_same_with_rollups_as_without(
    name: str, x: str, launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many tokens as steps have been trained on: there rollups lie whole in a bucket on that axis as well."""
    chance = random.Random(name)
    run, _ = launch()
    attempts(run, HISTORIES[name], chance)
    roll_up_all()
    ends = {number: last for number, (_, last) in enumerate(HISTORIES[name], start=1)}
    assert {one.attempt: one.until for one in RolledUp.objects.filter(run=run)}.items() >= {
        number: closed(last) for number, last in ends.items() if closed(last) > HISTORIES[name][number - 1][0]
    }.items()
    last = HISTORIES[name][-1][1]
    lines = [line_of(run), line_of(run).cut(last - 333, ()), line_as_of(run, timezone.now())]
    windows: list[tuple[float | None, float | None]] = [
        (None, None),
        (0, 63.5),
        (63.5, None),
        (None, 640),
        (5000, None),
    ]
    windows += [(float(chance.randint(0, last)), float(chance.randint(0, last))) for _ in range(5)]
    asked = [(line, low, high, most, x) for line in lines for low, high in windows for most in (1, 5)]
    with_rollups = [drawn(run, *one) for one in asked]
    wide = [covered for line, low, high, _, _ in asked if (covered := cover(line, ends, low, high)).rollups]
    assert len(wide) > len(asked) / 3, "rollups are read at all"
    monkeypatch.setattr(downsample, "rolled_up", lambda run_id: {})
    for one, found in zip(asked, with_rollups, strict=True):
        assert drawn(run, *one) == found, one[1:]


def test_on_an_uneven_axis_rollups_lose_nothing(launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(7)
    run, _ = launch()
    attempts(run, HISTORIES["goes back far"], chance)
    moments = list(Moment.objects.filter(run=run).order_by("attempt", "step"))
    total = {0: 0}
    for moment in moments:
        moment.tokens_total = total[moment.step] = total[moment.step - 1] + chance.choice((1, 10, 1000))
    Moment.objects.bulk_update(moments, ["tokens_total"])
    roll_up_all()
    line = line_of(run)
    asked = [(line, low, high, most) for most in (1, 4) for low, high in ((None, None), (20_000.0, 250_000.0))]
    with_rollups = [drawn(run, *one, x="tokens") for one in asked]
    monkeypatch.setattr(downsample, "rolled_up", lambda run_id: {})
    for one, found in zip(asked, with_rollups, strict=True):
        for name, exact in drawn(run, *one, x="tokens").items():
            some = found[name]
            assert (some["raw_count"], some["nan"]) == (exact["raw_count"], exact["nan"])
            assert (min(some["min"]), max(some["max"])) == (min(exact["min"]), max(exact["max"]))
            assert some["x"] == sorted(set(some["x"])) and some["x"][-1] == exact["x"][-1]
            assert 1 <= len(some["x"]) <= one[3]


def test_a_short_run_on_another_axis_is_read_by_its_points(launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    run, _ = launch()
    attempts(run, [(0, 640)], random.Random(1))
    roll_up_all()
    asked: list[str] = []
    monkeypatch.setattr(downsample, "rolled_up", lambda run_id: asked.append(run_id) or rollups.rolled_up(run_id))
    drawn(run, line_of(run), None, None, 21, x="tokens")
    assert asked == [], "ten rollups would fill less than half of the buckets"
    drawn(run, line_of(run), None, None, 20, x="tokens")
    assert asked == [run.id]


def learn(worker: Worker, first: int, last: int) -> None:
    """Steps whose value is their number."""
    for begin in range(first, last + 1, 400):
        steps = range(begin, min(begin + 400, last + 1))
        worker.sync(*(step_event(step, v=float(step)) for step in steps))


def test_they_follow_the_run_in_portions_and_by_whole_buckets(launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollups, "PORTION", 3 * WIDTH * 2)  # three buckets of two metrics
    _, worker = launch()
    learn(worker, 1, 126)
    roll_up_all()
    assert not Rollup.objects.exists()
    learn(worker, 127, 127)
    roll_up_all()
    only = Rollup.objects.get(series__name="v")
    assert (only.bucket, only.attempt, only.last, only.low, only.high, only.points) == (0, 1, 63, 1.0, 63.0, 63)
    learn(worker, 128, 12 * WIDTH + 5)
    roll_up_all()
    rolled = Rollup.objects.filter(series__name="v").order_by("bucket")
    assert list(rolled.values_list("bucket", "last")) == [(bucket, bucket * 64 + 63) for bucket in range(11)]


def test_a_late_point_counts(launch: Launch, api: Callable[..., APIClient]) -> None:
    run, worker = launch()
    learn(worker, 1, 999)
    roll_up_all()
    worker.sync({"kind": "eval", "step": 300, "data": {"metrics": {"late": 5.0}}})
    assert RolledUp.objects.get(run=run).until == 256
    assert set(Rollup.objects.values_list("bucket", flat=True)) == {0, 1, 2, 3}

    def late() -> Any:
        found = api("viewer").get(f"/api/v1/runs/{run.id}/metrics", {"keys": "late,v", "max_points": 3}).json()
        assert found["series"]["v"]["raw_count"] == 999
        return found["series"]["late"]["x"], found["series"]["late"]["mean"]

    assert late() == ([300], [5.0])
    roll_up_all()
    assert RolledUp.objects.get(run=run).until == closed(999)
    assert late() == ([300], [5.0])


def test_a_deleted_run_leaves_none(launch: Launch) -> None:
    run, worker = launch()
    learn(worker, 1, 200)
    roll_up_all()
    assert Rollup.objects.exists()
    run.delete()
    assert not Rollup.objects.exists() and not RolledUp.objects.exists()
