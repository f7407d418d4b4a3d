"""GPU hours of a team: counted to the second from leases, warned of, and kept."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import F
from django.utils import timezone
from rest_framework.test import APIClient

from dressage.clusters.services import take_report
from dressage.runs.facts.gpu_hours import hours_of
from dressage.runs.facts.selectors import run_json
from dressage.runs.link import sync as link_sync
from dressage.runs.models import Attempt, GpuSpan, Run, TeamGpuHours
from dressage.runs.sweep.reconcile import sweep
from dressage.teams.models import AuditEntry, Team
from dressage.telemetry.models import Event
from tests.platform.runs.fixtures import Worker
from trainer_core.link.cluster import ClusterReport, GpuKind

Launch = Callable[..., tuple[Run, Worker]]


@pytest.fixture
def gpus(db: None) -> None:
    """A cluster with four GPUs: each run holds two."""
    kinds = (GpuKind(kind="H100", total=4, free=4),)
    take_report("default", ClusterReport(ray_version="2.60.0", nodes=1, cpus=16, cpus_free=16, gpus=kinds))


def month_start() -> datetime:
    return timezone.now().astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def held(run: Run, first: datetime, end: datetime | None, lease: datetime, gpus: float = 2.0) -> None:
    Attempt.objects.filter(run=run).update(first_sync_at=first, ended_at=end, lease_expires_at=lease, gpus=gpus)


def used(team: Team) -> float:
    return hours_of([team.id])[team.id].used * 3600


def hours(**options: Any) -> list[str]:
    output = StringIO()
    call_command("gpu_hours", stdout=output, **options)
    return output.getvalue().splitlines()


def alerts(run: Run) -> list[str]:
    return [event.data["title"] for event in Event.objects.filter(run=run, kind="alert").order_by("seq")]


@pytest.mark.parametrize(
    ("first", "end", "lease", "seconds"),
    [
        (100, 400, 500, 600.0),  # ended: two GPUs for 300 s
        (100, 400, 250, 300.0),  # given up 150 s after its last lease
        (-100, 400, 500, 800.0),  # began in the month before
        (-500, -100, -50, 0.0),  # was over then
    ],
)
def test_hours_are_exact_to_the_second(
    gpus: None, launch: Launch, team: Team, other_team: Team, first: int, end: int, lease: int, seconds: float
) -> None:
    run, _ = launch()
    start = month_start()
    begun, ended, leased = (start + timedelta(seconds=number) for number in (first, end, lease))
    held(run, begun, ended, leased)
    assert used(team) == seconds
    assert used(other_team) == 0.0


def test_what_trains_now_counts_until_now_and_cpus_never(gpus: None, launch: Launch, team: Team) -> None:
    run, _ = launch()
    assert Attempt.objects.get().gpus == 2.0
    now = timezone.now()
    begun = max(month_start(), now - timedelta(seconds=60))
    held(run, begun, None, now + timedelta(seconds=60))
    expected = 2 * (timezone.now() - begun).total_seconds()
    assert used(team) == pytest.approx(expected, abs=5)
    held(run, begun, None, now + timedelta(seconds=60), gpus=0.0)
    assert used(team) == 0.0


def test_the_workers_own_word_counts_once_it_knows(gpus: None, launch: Launch) -> None:
    _, worker = launch()
    worker.post({**worker.last, "events": [], "gpus": 2.5})
    assert Attempt.objects.get().gpus == 2.5, "a reward model computes on a GPU as well"
    worker.step(1)
    assert Attempt.objects.get().gpus == 2.5


def test_what_an_attempt_holds_counts_from_when_to_when(
    gpus: None, launch: Launch, team: Team, api: Callable[..., APIClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its time: 50 s without room, two GPUs for 100 s, five for 20 s, two for 30 s, and none for 7 s."""
    run, worker = launch()
    start = month_start()
    clock = [start]
    monkeypatch.setattr(link_sync.timezone, "now", lambda: clock[0])
    held(run, start, None, start + timedelta(seconds=10_000), gpus=0.0)
    GpuSpan.objects.all().delete()
    for seconds, number in ((50, 2.0), (100, 5.0), (20, 2.0), (10, 2.0), (20, 0.0)):
        clock[0] += timedelta(seconds=seconds)
        worker.post({**worker.last, "events": [], "gpus": number})
    monkeypatch.undo()
    spans = [
        (span.gpus, (span.since - start).total_seconds(), (span.until - start).total_seconds())
        for span in GpuSpan.objects.order_by("since")
    ]
    assert spans == [(2.0, 50.0, 150.0), (5.0, 150.0, 170.0), (2.0, 170.0, 200.0)]
    end = start + timedelta(seconds=207)
    Attempt.objects.update(ended_at=end, lease_expires_at=end, first_sync_at=start)
    assert used(team) == 2 * 100 + 5 * 20 + 2 * 30
    document = api("viewer").get("/api/v1/teams/current/gpu-hours").json()
    assert document["runs"] == [{"run": run.id, "name": run.name, "hours": pytest.approx(360 / 3600)}]
    GpuSpan.objects.update(since=F("since") - timedelta(seconds=160), until=F("until") - timedelta(seconds=160))
    assert used(team) == pytest.approx(5 * 10 + 2 * 30), "of the month before nothing counts"
    waits = Run.objects.filter(pk=run.pk)
    waits.update(state="queued", queued_at=end)
    TeamGpuHours.objects.update_or_create(team=team, defaults={"limit": 0.01})
    waiting = run_json(team, run.id)["waiting"]
    assert waiting is not None and waiting["text"].startswith("Waiting for GPU hours: your team has used 0.0 of 0.01")


def test_a_team_is_warned_twice_and_then_its_run_is_saved_and_gives_its_place_back(
    gpus: None, launch: Launch, team: Team
) -> None:
    run, worker = launch()
    hours(team="stable", limit="10")
    start, lease = month_start(), timezone.now() + timedelta(seconds=60)
    for share, told in ((0.5, 0), (0.81, 1), (0.9, 1), (0.96, 2), (0.97, 2)):
        first = timezone.now() - timedelta(hours=10 * share / 2)
        held(run, first, None, lease)
        if first < start:
            pytest.skip("the month has only begun")
        sweep()
        assert len(alerts(run)) == told, share
    assert alerts(run) == ["80 % of the GPU hours are used", "95 % of the GPU hours are used"]
    assert Run.objects.get(pk=run.pk).desired_state == "running"
    held(run, timezone.now() - timedelta(hours=5.01), None, lease)
    sweep()
    sweep()
    assert alerts(run)[2:] == ["GPU hours are used up"]
    assert worker.sync()["desired_state"] == "paused"
    worker.state("paused", "asked to pause")
    sweep()
    assert worker.sync()["release_place"] is True, "it does not keep its GPUs while it is paused"
    worker.checkpoint(3)
    worker.state("suspended")
    assert Run.objects.get(pk=run.pk).state == "suspended"


def test_a_run_that_would_begin_beyond_the_limit_waits_and_says_why(
    gpus: None, launch: Launch, make_run: Callable[..., Run], team: Team, settings: Any
) -> None:
    settings.CLUSTERS = ("default", "cpus")
    settings.MAX_ACTIVE_RUNS = 4
    first, worker = launch()
    worker.state("failed", "x")
    begun = month_start()
    held(first, begun, begun + timedelta(hours=5), begun + timedelta(hours=6))
    hours(team="stable", limit="10")
    waits = make_run("waits", start=True)
    Run.objects.filter(pk=waits.pk).update(cluster="default")
    elsewhere = make_run("elsewhere", start=True)
    sweep()
    assert [Run.objects.get(pk=run.pk).state for run in (waits, elsewhere)] == ["queued", "starting"]
    assert Attempt.objects.get(run=elsewhere).cluster == "cpus", "CPUs do not count"
    waiting = run_json(team, waits.id)["waiting"]
    assert waiting is not None
    month = f"{begun:%B %Y}"
    assert (waiting["reason"], waiting["text"]) == (
        "gpu_hours",
        f"Waiting for GPU hours: your team has used 10.0 of 10 in {month}; 1st in your queue.",
    )
    hours(team="stable", limit="usual")
    sweep()
    assert Run.objects.get(pk=waits.pk).state == "starting"


def test_the_usual_limit_is_that_of_the_installation(gpus: None, launch: Launch, team: Team, settings: Any) -> None:
    settings.GPU_HOURS_PER_TEAM = 100.0
    assert hours_of([team.id])[team.id].limit == 100.0
    assert hours(team="stable", limit="7.5")[0].endswith("limit 7.5 (its own)")
    assert hours_of([team.id])[team.id].limit == 7.5
    assert hours(team="stable", limit="usual")[0].endswith("limit 100 (usual)")
    entries = AuditEntry.objects.filter(action="team.gpu_hours").order_by("created_at")
    assert [(entry.before, entry.after) for entry in entries] == [
        ({"limit": None}, {"limit": 7.5}),
        ({"limit": 7.5}, {"limit": None}),
    ]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"team": "stable"}, "together"),
        ({"team": "nobody", "limit": "2"}, "There is no team 'nobody'"),
        ({"team": "stable", "limit": "-1"}, "a number of hours from 0, or 'usual', not '-1'"),
        ({"team": "stable", "limit": "nan"}, "not 'nan'"),
    ],
)
def test_a_command_that_makes_no_sense_changes_nothing(options: dict[str, str], words: str, team: Team) -> None:
    with pytest.raises(CommandError, match=words):
        hours(**options)
    assert (TeamGpuHours.objects.count(), AuditEntry.objects.count()) == (0, 0)


def test_a_team_sees_its_hours_and_no_other_teams(
    gpus: None, launch: Launch, api: Callable[..., APIClient], other_team: Team
) -> None:
    run, worker = launch("long")
    worker.state("failed", "x")
    begun = month_start()
    held(run, begun, begun + timedelta(minutes=30), begun + timedelta(hours=1))
    hours(team="stable", limit="4")
    document = api("viewer").get("/api/v1/teams/current/gpu-hours").json()
    following = (begun + timedelta(days=32)).replace(day=1)
    assert document == {
        "month": f"{begun:%Y-%m}",
        "used": 1.0,
        "limit": 4.0,
        "percent": 25.0,
        "resets_at": f"{following:%Y-%m-%dT%H:%M:%S}.000Z",
        "runs": [{"run": run.id, "name": "long", "hours": 1.0}],
    }
    theirs = api("viewer", team=other_team).get("/api/v1/teams/current/gpu-hours").json()
    assert (theirs["used"], theirs["limit"], theirs["percent"], theirs["runs"]) == (0.0, None, None, [])
