"""Stored rollouts under another reward: which are taken, what would change, and what is refused."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.bench import samples as bench_samples
from dressage.bench.models import BenchJob
from dressage.runs.models import Run
from dressage.teams.models import Team
from tests.platform.bench.fixtures import DEFINITION, BenchWorker, bench_score
from tests.platform.runs.fixtures import Worker

Launch = Callable[..., tuple[Run, Worker]]


def row(group: str, sample: int, reward: float | None, **more: Any) -> dict[str, Any]:
    return {
        "group_id": group, "sample": sample, "prompt_id": "add:0", "source": "add", "prompt": "q", "completion": "c",
        "answer": "2", "reward": reward, "reward_parts": {"a": reward}, "reward_error": None, "advantage": None,
        "excluded": None, "finish_reason": "stop", "length": 3, "thinking_tokens": 0, "budget_hit": False,
        "control_revision": 0, "policy_versions": [0], **more,
    }  # fmt: skip


@pytest.fixture
def run(launch: Launch) -> Run:
    """Step 1: a dead group and one whose rewards differ. Step 2: one with a failed reward and a shaped one."""
    made, worker = launch()
    first = [row("1-0", 0, 1.0), row("1-0", 1, 1.0), row("1-1", 0, 0.0), row("1-1", 1, 1.0)]
    shaped = {"reward_parts": {"a": 1.0, "overlong": -0.25}}
    second = [
        row("2-0", 0, 0.75, **shaped),
        row("2-0", 1, None, reward_parts={}, reward_error="a: broken"),
        row("2-0", 2, 0.0, finish_reason="length"),
    ]
    for step, rows in ((1, first), (2, second)):
        worker.sync({"kind": "rollouts", "step": step, "data": {"rows": rows}})
    return made


def groups_of(job: Any) -> list[str]:
    return [sample["stored"]["group"] for sample in job["samples"]]


def test_all_that_fit_a_filter_are_taken_as_whole_groups(start_bench: Callable[..., Any], run: Run) -> None:
    job = start_bench(samples={"run": run.id, "matching": {}})
    assert groups_of(job) == ["1/2/2-0"] * 3 + ["1/1/1-1"] * 2 + ["1/1/1-0"] * 2, "newest first, the dead last"
    assert job["source"]["matching"] == {"filter": {}, "groups": 3, "left_out": False}
    cut = start_bench(samples={"run": run.id, "matching": {"cut": True}})
    assert groups_of(cut) == ["1/2/2-0"] * 3
    dead = start_bench(samples={"run": run.id, "matching": {"dead": True, "step": 1}})
    assert (groups_of(dead), dead["source"]["matching"]["filter"]) == (["1/1/1-0"] * 2, {"dead": True, "step": 1})


def test_a_job_holds_no_more_than_its_bound_and_says_so(
    start_bench: Callable[..., Any], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_samples, "MAX_MATCHED", 6)
    job = start_bench(samples={"run": run.id, "matching": {}})
    assert groups_of(job) == ["1/2/2-0"] * 3 + ["1/1/1-1"] * 2, "no group is taken in part"
    assert job["source"]["matching"] == {"filter": {}, "groups": 2, "left_out": True}
    monkeypatch.setattr(bench_samples, "MAX_MATCHED", 2)
    refused = start_bench(422, samples={"run": run.id, "matching": {}})
    assert refused["errors"] == [
        {
            "pointer": "/samples/matching",
            "detail": "The newest matching group has more than 2 samples: pick rollouts instead.",
        }
    ]


def test_what_would_change(start_bench: Callable[..., Any], read_bench: Callable[[str], Any], run: Run) -> None:
    job = start_bench(samples={"run": run.id, "matching": {}})
    assert job["rescored"] == []
    # 2-0: 1 → 0, failed, 0 → 1; 1-1: 0 → 0.5, 1 → 0.5; 1-0: 1 → 1, 1 → failed
    scores = [0.0, 1.0, 1.0, 0.5, 0.5, 1.0, None]
    BenchWorker(job["id"]).answer(results=[[bench_score(one) for one in scores]])
    [found] = read_bench(job["id"])["rescored"]
    figures = {name: value for name, value in found.items() if name not in ("groups", "samples")}
    assert figures == {
        "label": "draft", "compared": 5, "failed": 2, "changed": 4, "mean_before": 0.6, "mean_after": 0.6, "flips": 2,
        "verdicts_changed": 3, "dead_before": 0, "dead_after": 1,
    }  # fmt: skip
    assert found["groups"] == [
        {
            "group": "1/2/2-0", "samples": 2, "mean_before": 0.5, "mean_after": 0.5, "dead_before": False,
            "dead_after": False, "flips": 2, "verdicts_changed": 2,
        },
        {
            "group": "1/1/1-1", "samples": 2, "mean_before": 0.5, "mean_after": 0.5, "dead_before": False,
            "dead_after": True, "flips": 0, "verdicts_changed": 1,
        },
    ]  # fmt: skip
    assert [(one["sample"], one["before"], one["after"], one["change"]) for one in found["samples"]] == [
        ("s0", 1.0, 0.0, -1.0), ("s2", 0.0, 1.0, 1.0), ("s3", 0.0, 0.5, 0.5), ("s4", 1.0, 0.5, -0.5),
        ("s5", 1.0, 1.0, 0.0), ("s1", None, 1.0, None), ("s6", 1.0, None, None),
    ]  # fmt: skip
    assert [(one["advantage_before"], one["advantage_after"], one["flips"]) for one in found["samples"][:2]] == [
        (0.5, -0.5, True),
        (-0.5, 0.5, True),
    ]
    # A half is a success: s3 gains its verdict, and its advantage only becomes 0. A failure is no verdict.
    assert [(one["sample"], one["success_before"], one["success_after"]) for one in found["samples"]] == [
        ("s0", True, False), ("s2", False, True), ("s3", False, True), ("s4", True, True), ("s5", True, True),
        ("s1", None, True), ("s6", True, None),
    ]  # fmt: skip
    assert [one["sample"] for one in found["samples"] if one["verdict_changes"]] == ["s0", "s2", "s3"]


def test_pasted_samples_are_compared_with_nothing(
    start_bench: Callable[..., Any], read_bench: Callable[[str], Any]
) -> None:
    job = start_bench()
    BenchWorker(job["id"]).answer(results=[[bench_score(1.0), bench_score(0.0)]])
    assert read_bench(job["id"])["rescored"] == []


def test_a_draft_that_fails_leaves_its_reason(
    start_bench: Callable[..., Any], read_bench: Callable[[str], Any], run: Run
) -> None:
    job = start_bench(samples={"run": run.id, "matching": {"group_id": "1-1"}})
    BenchWorker(job["id"]).answer(results=[[bench_score(None), bench_score(None)]])
    [found] = read_bench(job["id"])["rescored"]
    assert (found["compared"], found["failed"], found["mean_after"], found["groups"]) == (0, 2, None, [])
    assert {one["error"] for one in read_bench(job["id"])["results"][0]} == {"a: broken"}


@pytest.mark.parametrize(
    ("samples", "pointer"),
    [
        ({"matching": {"step": 9}}, "/samples/matching"),
        ({"matching": {"mood": "good"}}, "/samples/matching/mood"),
        ({"matching": {"step": -1}}, "/samples/matching/step"),
        ({"matching": {}, "count": 2}, "/samples"),
        ({"matching": {}, "step": 2}, "/samples"),
        ({"rollouts": ["1"] * 201}, "/samples/rollouts"),
    ],
)
def test_refused_selections(start_bench: Callable[..., Any], run: Run, samples: dict[str, Any], pointer: str) -> None:
    refused = start_bench(422, samples={"run": run.id, **samples})
    assert [error["pointer"] for error in refused["errors"]] == [pointer]
    assert BenchJob.objects.count() == 0


def test_who_may_score_again(
    api: Callable[..., APIClient], start_bench: Callable[..., Any], run: Run, other_team: Team
) -> None:
    samples = {"run": run.id, "matching": {}}
    body = {"definitions": [{"definition": DEFINITION}], "samples": samples, "probes": False}
    assert api("viewer").post("/api/v1/rewards/bench", body, format="json").status_code == 403
    foreign = api("editor", team=other_team).post("/api/v1/rewards/bench", body, format="json")
    assert (foreign.status_code, foreign.json()["errors"][0]["pointer"]) == (422, "/samples/run")
    assert BenchJob.objects.count() == 0
    made = start_bench(samples=samples)["id"]
    assert api("editor", team=other_team).get(f"/api/v1/rewards/bench/{made}").status_code == 404
