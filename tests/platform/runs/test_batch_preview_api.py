"""The forecast of a step under another group size or other filters, as the API tells it from stored groups."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from dressage.runs.models import Control, Run
from dressage.runs.sweep.reconcile import sweep
from dressage.teams.models import Team
from dressage.telemetry import stored_groups
from dressage.telemetry.models import Event, Rollout, RowOutcome
from tests.platform.runs.fixtures import Worker, expire_lease
from tests.platform.telemetry.test_history import rollouts, row
from tests.platform.telemetry.test_row_history import outcomes
from tests.platform.telemetry.test_traces import put
from tests.support.about import INSTALLATION
from tests.support.trace_files import trace_file, trace_group

Launch = Callable[..., tuple[Run, Worker]]
PARTS = {"rollout": {"group_size": 4}, "schedule": {"prompts_per_step": 8}}
SIZE, FILTERS = "rollout.group_size", "filters"
TRUNCATED = {"type": "truncated"}


def ask(client: APIClient, run: Run, changes: dict[str, Any], status: int = 200) -> Any:
    return ask_list(client, run, list(changes.items()), status)


def ask_list(client: APIClient, run: Run, changes: list[tuple[str, Any]], status: int = 200) -> Any:
    body = {"changes": [{"target": target, "value": value} for target, value in changes]}
    answer = client.post(f"/api/v1/runs/{run.id}/batch/preview", body, format="json")
    assert answer.status_code == status, answer.content
    return answer.json()


def tell(worker: Worker) -> None:
    """Four groups that came back, one of them right in half its samples, one in a quarter; two groups are stored."""
    worker.sync(
        outcomes(1, add_0=(0, 4), add_1=(2, 4)),
        outcomes(2, add_0=(1, 4), more_0=(4, 4)),
        rollouts(
            2,
            row("2-0", 0, 0.0, length=10),
            row("2-0", 1, 1.0, length=30) | {"finish_reason": "length"},
            row("2-1", 0, 1.0, length=20),
            row("2-1", 1, 1.0, length=20),
        ),
    )


@pytest.fixture
def viewer(api: Callable[..., APIClient]) -> APIClient:
    return api("viewer")


def test_another_group_size_is_foreseen(launch: Launch, viewer: APIClient) -> None:
    run, worker = launch(**PARTS)
    tell(worker)
    counts = (Event.objects.count(), Control.objects.count())
    same = ask(viewer, run, {})
    assert same["now"] == same["draft"]
    found = ask(viewer, run, {SIZE: 2})
    assert found["outcomes"] == {"groups": 4, "samples": 16, "first_step": 1, "last_step": 2}
    assert found["stored"] == {"groups": 2, "samples": 4, "first_step": 2, "last_step": 2}
    now, draft = found["now"], found["draft"]
    assert (now["group_size"], draft["group_size"]) == (4, 2)
    assert now["dead_share"]["value"] == 0.5
    # Of pairs among four, one right: 3 of 6 are alike; two right: 2 of 6.
    chances = [1, 1 / 3, 1 / 2, 1]
    mean = sum(chances) / 4
    half = 1.959963984540054 * math.sqrt(sum((one - mean) ** 2 for one in chances) / 3 / 4)
    assert draft["dead_share"] == pytest.approx({"value": mean, "low": mean - half, "high": 1.0})
    assert draft["live_groups"] == pytest.approx({"value": 8 * (1 - mean), "low": 0.0, "high": 8 * (1 - mean + half)})
    assert (now["refills"], draft["refills"]) == (None, None)
    assert [side["samples"]["value"] for side in (now, draft)] == [32.0, 16.0]
    assert [side["tokens"]["value"] for side in (now, draft)] == [640.0, 320.0]
    assert "Groups of 2 are all choices of 2 from a prompt's samples." in found["assumptions"]
    assert (Event.objects.count(), Control.objects.count()) == counts


def test_larger_groups_than_are_stored_are_foreseen(launch: Launch, viewer: APIClient) -> None:
    run, worker = launch(**PARTS)
    worker.sync(outcomes(1, add_0=(1, 2)))
    found = ask(viewer, run, {SIZE: 3})["draft"]["dead_share"]
    # Beta(3/2, 3/2): E[p³] = (3/2 · 5/2 · 7/2) / (3 · 4 · 5), twice.
    assert found == {"value": pytest.approx(2 * (1.5 * 2.5 * 3.5) / 60), "low": None, "high": None}


def test_other_filters_are_foreseen(launch: Launch, viewer: APIClient) -> None:
    run, worker = launch(**PARTS)
    tell(worker)
    found = ask(viewer, run, {FILTERS: [TRUNCATED, {"type": "overlong", "max_tokens": 15}]})
    assert (found["now"]["filters"], found["draft"]["filters"]) == (["zero_advantage"], ["truncated", "overlong"])
    values = {
        which: {name: one["value"] for name, one in found[which]["dropped"].items()} for which in ("now", "draft")
    }
    assert values == {
        "now": {"groups": 0.5, "samples": 0.5, "tokens": 0.5},
        "draft": {"groups": 0.5, "samples": 0.75, "tokens": pytest.approx((30 / 40 + 1) / 2)},
    }
    assert any(one.startswith("Only a sample of each step's groups is stored") for one in found["assumptions"])
    unknown = ask(viewer, run, {FILTERS: [{"type": "high_entropy"}]})
    assert unknown["draft"]["dropped"]["samples"]["value"] == 0.0
    assert "Not counted, because they need data that is not stored: high_entropy." in unknown["assumptions"]


def test_a_completion_that_is_cut_off_in_a_loop_is_both(launch: Launch, viewer: APIClient) -> None:
    run, worker = launch(**PARTS)
    cut = row("1-0", 0, 0.0, length=30) | {"finish_reason": "length", "excluded": "repetition"}
    worker.sync(outcomes(1, add_0=(1, 2)), rollouts(1, cut, row("1-0", 1, 1.0, length=10)))
    for filters in ([TRUNCATED], [{"type": "repetition"}], [{"type": "repetition"}, TRUNCATED]):
        dropped = ask(viewer, run, {FILTERS: filters})["draft"]["dropped"]
        assert (dropped["samples"]["value"], dropped["tokens"]["value"]) == (0.5, 0.75)


def test_steps_with_all_their_groups_come_first(launch: Launch, viewer: APIClient) -> None:
    run, worker = launch(**PARTS)
    whole = [trace_group(index, (0.0, 1.0) if index < 6 else (1.0, 1.0), step=2) for index in range(8)]
    put(run, trace_file(run.id, whole, step=2), step=2)
    worker.sync(rollouts(3, row("3-0", 0, 1.0), row("3-0", 1, 1.0)))
    found = ask(viewer, run, {FILTERS: []})
    assert found["stored"] == {"groups": 8, "samples": 16, "first_step": 2, "last_step": 2}
    assert found["now"]["dropped"]["groups"]["value"] == 0.25
    assert found["draft"]["dropped"]["groups"] == {"value": 0.0, "low": 0.0, "high": 3 / 8}
    assert not [one for one in found["assumptions"] if "Only a sample" in one]
    assert (found["outcomes"], found["now"]["dead_share"]) == (None, None)
    assert "Dead groups are not predicted: the prompts' results are not stored." in found["assumptions"]


def test_dynamic_sampling_is_counted(launch: Launch, viewer: APIClient) -> None:
    dynamic = {"group_size": 4, "dynamic_sampling": {"enabled": True, "max_refills": 2}}
    run, worker = launch(**{**PARTS, "rollout": dynamic})
    tell(worker)
    now = ask(viewer, run, {})["now"]
    assert (now["refills"]["value"], now["refills"]["high"]) == (8.0, 16.0)
    assert (now["samples"]["value"], now["live_groups"]["value"]) == (64.0, 8.0)


@pytest.mark.parametrize(
    ("parts", "changes", "pointer", "detail"),
    [
        ({}, [(SIZE, 0)], "/changes/0/value", "greater than or equal to 1"),
        ({}, [(FILTERS, []), (SIZE, 1025)], "/changes/1/value", "less than or equal to 1024"),
        ({}, [(SIZE, None)], "/changes/0/value", "integer"),
        ({}, [(SIZE, 1)], "/changes/0/value", "compares the samples of a group: it needs at least 2"),
        ({}, [(SIZE, 2), (SIZE, 3)], "/changes/1/target", "changed twice"),
        ({}, [(SIZE, 2), ("kl.coefficient", 1)], "/changes/1/target", "not a valid choice"),
        ({}, [(FILTERS, [TRUNCATED, {"type": "overlong"}])], "/changes/0/value/1/max_tokens", "required"),
        ({}, [(FILTERS, [{"type": "nonsense"}])], "/changes/0/value/0", "nonsense"),
        (
            {"batching": {"allocation": {"type": "dars", "max_samples": 8}}},
            [(FILTERS, []), (SIZE, 16)],
            "/changes/1/value",
            "batching.allocation.max_samples: max_samples (8) must not be below the group size (16)",
        ),
    ],
)
def test_drafts_that_make_no_spec_are_refused(
    launch: Launch,
    viewer: APIClient,
    parts: dict[str, Any],
    changes: list[tuple[str, Any]],
    pointer: str,
    detail: str,
) -> None:
    run, worker = launch(**{**PARTS, **parts})
    tell(worker)
    problem = ask_list(viewer, run, changes, status=422)
    assert problem["errors"][0]["pointer"] == pointer
    assert detail in problem["errors"][0]["detail"]


def test_a_run_that_has_stored_nothing_says_so(launch: Launch, viewer: APIClient) -> None:
    run, worker = launch(**PARTS)
    problem = ask(viewer, run, {SIZE: 2}, status=409)
    assert problem["error"]["code"] == "no_groups"
    assert problem["detail"] == "No groups are stored yet: wait for the run's first step."
    worker.sync(outcomes(1, add_0=(0, 0)))
    found = ask(viewer, run, {SIZE: 2})
    assert (found["draft"]["dead_share"], found["draft"]["dropped"]) == (None, None)


def test_what_was_done_again_counts_once(launch: Launch, viewer: APIClient) -> None:
    run, worker = launch(**PARTS)
    worker.steps(1, 2)
    tell(worker)
    expire_lease(run)
    sweep()
    again = Worker(run.id, 2)
    again.state("running")
    again.sync(outcomes(1, add_0=(2, 4)), rollouts(1, row("1-0", 0, 0.0)))
    found = ask(viewer, run, {})
    assert (found["outcomes"]["groups"], found["stored"]["groups"]) == (1, 1)
    assert found["now"]["dead_share"]["value"] == 0.0
    assert (RowOutcome.objects.count(), Rollout.objects.count()) == (5, 5)


@pytest.mark.expensive(2, "walks over many requests", about=INSTALLATION)
def test_reads_are_bounded(launch: Launch, viewer: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    run, worker = launch(**PARTS)
    for step in range(1, 26):
        worker.sync(
            outcomes(step, add_0=(0, 2), add_1=(1, 2)),
            rollouts(step, *(row(f"{step}-0", sample, float(sample)) for sample in range(2))),
        )
    with CaptureQueriesContext(connection) as many:
        found = ask(viewer, run, {})
    assert len([query for query in many.captured_queries if "LIMIT 8193" in query["sql"]]) == 2
    assert found["outcomes"] == {"groups": 40, "samples": 80, "first_step": 6, "last_step": 25}
    assert found["stored"] == {"groups": 20, "samples": 40, "first_step": 6, "last_step": 25}
    monkeypatch.setattr(stored_groups, "MAX_OUTCOMES", 5)
    monkeypatch.setattr(stored_groups, "MAX_SAMPLES", 7)
    found = ask(viewer, run, {})
    # The step and the group that do not fit as a whole are left out.
    assert found["outcomes"] == {"groups": 4, "samples": 8, "first_step": 24, "last_step": 25}
    assert found["stored"] == {"groups": 3, "samples": 6, "first_step": 23, "last_step": 25}
    monkeypatch.setattr(stored_groups, "MAX_OUTCOMES", 1)
    assert ask(viewer, run, {})["outcomes"]["groups"] == 1


def test_another_team_sees_nothing(launch: Launch, api: Callable[..., APIClient], other_team: Team) -> None:
    run, worker = launch(**PARTS)
    tell(worker)
    stranger = api("admin", team=other_team)
    assert ask(stranger, run, {SIZE: 2}, status=404)["error"]["code"] == "not_found"
