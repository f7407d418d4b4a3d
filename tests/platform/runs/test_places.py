"""Places on the cluster: shared fairly between teams, limited per team, and a waiting run says why it waits."""

import json
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import F
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.runs.facts.selectors import run_json
from dressage.runs.life.services import create_run
from dressage.runs.models import Attempt, Run, TeamPlaces
from dressage.runs.sweep import admission
from dressage.runs.sweep.reconcile import sweep
from dressage.teams.models import AuditEntry, Team
from tests.platform.runs.fixtures import Worker, furnish, spec_document
from tests.support.about import PLATFORM
from trainer_core.spec import RunSpec

SPEC = RunSpec.model_validate(spec_document())


@pytest.fixture
def theirs(other_team: Team, actor: Actor, tmp_path: Path) -> Callable[[str], Run]:
    """Queues a run of the other team."""
    furnish(other_team, actor, tmp_path / "their-policy")
    return lambda name: create_run(other_team, actor, name=name, spec=SPEC, start=True)


def states(*runs: Run) -> list[str]:
    return [Run.objects.get(pk=run.pk).state for run in runs]


def end(run: Run) -> None:
    worker = Worker(run.id, Run.objects.get(pk=run.pk).attempt)
    worker.state("running")
    worker.state("failed", "x")


def places(**options: Any) -> list[str]:
    output = StringIO()
    call_command("places", stdout=output, **options)
    return output.getvalue().splitlines()


def test_the_first_run_of_a_team_goes_before_the_second_of_another(
    make_run: Callable[..., Run], theirs: Callable[[str], Run]
) -> None:
    many = [make_run(f"m{number}", start=True) for number in range(4)]
    sweep()
    late = theirs("late")
    assert states(*many, late) == ["starting", "queued", "queued", "queued", "queued"]
    end(many[0])
    sweep()
    assert states(*many[1:], late) == ["queued", "queued", "queued", "starting"]
    end(late)
    again = theirs("again")
    sweep()
    assert states(*many[1:], again) == ["starting", "queued", "queued", "queued"]


def test_a_limit_of_a_team_leaves_places_to_others(
    make_run: Callable[..., Run], theirs: Callable[[str], Run], settings: Any
) -> None:
    settings.MAX_ACTIVE_RUNS, settings.MAX_ACTIVE_RUNS_PER_TEAM = 3, 1
    own = [make_run(f"r{number}", start=True) for number in range(3)]
    sweep()
    assert states(*own) == ["starting", "queued", "queued"]
    places(team="stable", limit="2")
    sweep()
    assert states(*own) == ["starting", "starting", "queued"]
    other = theirs("other")
    sweep()
    assert states(*own, other) == ["starting", "starting", "queued", "starting"]


def test_a_failure_between_the_choice_and_the_start_gives_nothing_away(
    make_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(start=True)

    def die(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(admission, "begin", die)
        sweep()
    assert (states(run), Attempt.objects.count(), TeamPlaces.objects.count()) == (["queued"], 0, 0)
    sweep()
    sweep()
    assert (states(run), Attempt.objects.count()) == (["starting"], 1)


def test_a_waiting_run_says_why(make_run: Callable[..., Run], team: Team, settings: Any) -> None:
    settings.MAX_ACTIVE_RUNS = 2
    runs = [make_run(name, start=True) for name in ("a", "b", "c", "d")]
    assert run_json(team, runs[0].id)["waiting"] == {
        "reason": "turn",
        "cluster": None,
        "position": 1,
        "places": 2,
        "taken": 0,
        "team_limit": 2,
        "own": [],
        "others": 0,
        "text": "Next in the queue; 0 of 2 slots are taken.",
    }
    sweep()
    Worker(runs[0].id, 1).state("running")
    Worker(runs[0].id, 1, seq=1).state("paused", "asked to pause")
    holders = [{"id": runs[0].id, "name": "a", "state": "paused"}, {"id": runs[1].id, "name": "b", "state": "starting"}]
    document = run_json(team, runs[3].id)
    assert document["waiting"] == {
        "reason": "places_taken",
        "cluster": None,
        "position": 2,
        "places": 2,
        "taken": 2,
        "team_limit": 2,
        "own": holders,
        "others": 0,
        "text": "Waiting for a slot: 2 of 2 taken by “a” (paused) and “b”; 2nd in your queue.",
    }
    assert (document["state_reason"], document["queue_position"]) == (document["waiting"]["text"], 2)
    assert run_json(team, runs[0].id)["waiting"] is None
    settings.MAX_ACTIVE_RUNS, settings.MAX_ACTIVE_RUNS_PER_TEAM = 3, 2
    limited = run_json(team, runs[2].id)["waiting"]
    assert (limited["reason"], limited["text"]) == (
        "team_limit",
        "Waiting for a slot: 2 of 3 taken by “a” (paused) and “b”; 1st in your queue; "
        "your team's limit of 2 is reached.",
    )


def test_of_other_teams_a_waiting_run_tells_a_number_alone(
    make_run: Callable[..., Run], theirs: Callable[[str], Run], api: Callable[..., APIClient], settings: Any
) -> None:
    settings.MAX_ACTIVE_RUNS = 3
    secret = [theirs(f"secret-{number}") for number in range(5)]
    sweep()
    own = make_run("mine", start=True)
    for path in ("/api/v1/runs", f"/api/v1/runs/{own.id}"):
        body = api("viewer").get(path).json()
        document = body["data"][0] if "data" in body else body
        assert document["waiting"]["text"] == (
            "Waiting for a slot: 3 of 3 taken by 3 runs of other teams; 1st in your queue."
        )
        assert (document["waiting"]["own"], document["waiting"]["others"]) == ([], 3)
        told = json.dumps(body)
        assert "secret" not in told and not any(run.id in told for run in secret)


@pytest.mark.expensive(2, "walks over many requests", about=PLATFORM)
def test_long_lists_of_holders_are_counted(make_run: Callable[..., Run], team: Team, settings: Any) -> None:
    settings.MAX_ACTIVE_RUNS = 12
    runs = [make_run(f"r{number:02}", start=True) for number in range(13)]
    sweep()
    text = run_json(team, runs[12].id)["state_reason"]
    assert text.startswith("Waiting for a slot: 12 of 12 taken by “r00”, “r01”, “r02” and 9 more of yours; 1st")


@pytest.mark.expensive(2, "walks over many requests", about=PLATFORM)
@pytest.mark.parametrize(("ahead", "word"), [(1, "2nd"), (2, "3rd"), (3, "4th"), (10, "11th"), (20, "21st")])
def test_the_place_in_the_queue_is_that_of_the_team(
    ahead: int, word: str, make_run: Callable[..., Run], theirs: Callable[[str], Run], team: Team
) -> None:
    theirs("before everybody")
    for number in range(ahead):
        make_run(f"r{number}", start=True)
    last = make_run("last", start=True)
    Run.objects.update(queued_at=F("queued_at") - timedelta(seconds=1))
    assert f"; {word} in your queue" in run_json(team, last.id)["state_reason"]


def test_the_operators_command_shows_and_sets(
    make_run: Callable[..., Run], theirs: Callable[[str], Run], settings: Any
) -> None:
    settings.MAX_ACTIVE_RUNS = 4
    for number in range(3):
        make_run(f"r{number}", start=True)
    theirs("x")
    assert places(team="stable", limit="1")[0] == "0 of 4 slots are taken."
    sweep()
    assert places() == [
        "2 of 4 slots are taken.",
        "rivals: holds 1, waits for 0, limit 4 (usual)",
        "stable: holds 1, waits for 2, limit 1 (its own)",
    ]
    assert places(team="stable", limit="usual")[2] == "stable: holds 1, waits for 2, limit 4 (usual)"
    entries = AuditEntry.objects.filter(action="team.places").order_by("created_at")
    assert [(entry.before, entry.after) for entry in entries] == [
        ({"places": None}, {"places": 1}),
        ({"places": 1}, {"places": None}),
    ]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"team": "stable"}, "together"),
        ({"limit": "2"}, "together"),
        ({"team": "nobody", "limit": "2"}, "There is no team 'nobody'"),
        ({"team": "stable", "limit": "-1"}, "a number from 0, or 'usual', not '-1'"),
        ({"team": "stable", "limit": "two"}, "not 'two'"),
    ],
)
def test_a_command_that_makes_no_sense_changes_nothing(options: dict[str, str], words: str, team: Team) -> None:
    with pytest.raises(CommandError, match=words):
        places(**options)
    assert (TeamPlaces.objects.count(), AuditEntry.objects.count()) == (0, 0)
