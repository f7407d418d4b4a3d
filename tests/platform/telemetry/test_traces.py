"""Trace files: stored once and whole, for the present attempt alone, pruned by the rule; groups, tokens and search."""

import base64
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from django.test import TestCase
from rest_framework.test import APIClient

from dressage.runs.models import Run
from dressage.runs.sweep.reconcile import sweep
from dressage.runs.tokens import link_token
from dressage.telemetry.models import Event, Rollout, TraceFile
from tests.platform.runs.fixtures import Worker, expire_lease
from tests.platform.telemetry.test_history import rollouts, row
from tests.support.trace_files import trace_file, trace_group
from trainer_core.link.limits import MAX_TRACE_BYTES
from trainer_core.link.traces import MEDIA_TYPE

Launch = Callable[..., tuple[Run, Worker]]
Api = Callable[..., APIClient]


def put(run: Run, data: bytes, *, step: int = 1, number: int = 0, attempt: int = 1, status: int = 201) -> Any:
    """Upload as a worker does."""
    client = APIClient(headers={"Authorization": f"Bearer {link_token(run.id, attempt)}"})
    with TestCase.captureOnCommitCallbacks(execute=True):
        path = f"/api/v1/link/runs/{run.id}/traces/{step}/{number}"
        response = client.put(path, data, content_type=MEDIA_TYPE)
    assert response.status_code == status, response.content
    return response.json()


def files(run: Run) -> list[str]:
    """Names of the files on disk, which are those that the index knows."""
    found = sorted(path.name for path in Path(run.run_dir / "traces").iterdir())
    known = TraceFile.objects.filter(run=run)
    assert found == sorted(f"step-{file.step:06d}-a{file.attempt}-{file.number}.parquet" for file in known)
    return found


def stored() -> list[Any]:
    models = (TraceFile, Rollout, Event)
    return [list(model.objects.order_by("pk").values()) for model in models]


def test_an_upload_twice_is_one(launch: Launch) -> None:
    run, _ = launch()
    data = trace_file(run.id, [trace_group(0, (0, 1)), trace_group(1, (1, 1))])
    put(run, data)
    before = stored()
    assert files(run) == ["step-000001-a1-0.parquet"]
    assert (run.run_dir / "traces" / files(run)[0]).read_bytes() == data
    assert Rollout.objects.count() == 4
    event = Event.objects.get(kind="traces")
    assert (event.step, event.data) == (1, {"groups": 8, "samples": 4, "tokens": 12, "bytes": len(data)})
    put(run, data, status=200)
    assert stored() == before
    other = trace_file(run.id, [trace_group(2, (0, 1))])
    assert put(run, other, status=409)["error"]["code"] == "other_trace"
    assert stored() == before
    assert (run.run_dir / "traces" / files(run)[0]).read_bytes() == data


def test_a_stale_attempt_stores_nothing(launch: Launch) -> None:
    run, worker = launch()
    worker.steps(1, 2)
    worker.checkpoint(2)
    expire_lease(run)
    sweep()
    run.refresh_from_db()
    assert run.attempt == 2
    before = stored()
    data = trace_file(run.id, [trace_group(0, (0, 1))])
    assert put(run, data, attempt=1, status=409)["error"]["code"] == "stale_attempt"
    assert stored() == before
    assert not (run.run_dir / "traces").exists()


def test_what_cannot_be_read_is_refused(launch: Launch) -> None:
    run, _ = launch()
    before = stored()
    data = trace_file(run.id, [trace_group(0, (0, 1))])
    for broken in (b"", b"PAR1 nothing", data[:-20], data[: len(data) // 2]):
        assert put(run, broken, status=422)["error"]["code"] == "invalid_trace"
    for foreign in (
        trace_file("run_other", [trace_group(0, (0, 1))]),
        trace_file(run.id, [trace_group(0, (0, 1))], attempt=2),
        trace_file(run.id, [trace_group(0, (0, 1))], step=2),
        trace_file(run.id, [trace_group(0, (0, 1))], number=1),
    ):
        put(run, foreign, status=422)
    put(run, bytes(MAX_TRACE_BYTES + 1), status=413)
    assert stored() == before
    assert not (run.run_dir / "traces").exists()


@pytest.mark.parametrize("file_first", [True, False])
def test_a_sample_that_an_event_tells_of_is_one_sample(launch: Launch, api: Api, file_first: bool) -> None:
    run, worker = launch()
    event = rollouts(1, row("1-0", 0, 0.0), row("1-0", 1, 1.0))
    if not file_first:
        worker.sync(event)
    put(run, trace_file(run.id, [trace_group(0, (0, 1)), trace_group(1, (1, 1))]))
    if file_first:
        worker.sync(event)
    found = api().get(f"/api/v1/runs/{run.id}/rollouts").json()["data"]
    told = [(one["group_id"], one["sample"], one["prompt"], one["completion"]) for one in found]
    # What the event has told stays as it is; the others' texts come from the file.
    assert told == [
        ("1-0", 0, "q", "c"),
        ("1-0", 1, "q", "c"),
        ("1-1", 0, "prompt 1", "answer 0 of group 1"),
        ("1-1", 1, "prompt 1", "answer 1 of group 1"),
    ]
    for one in found:
        assert api().get(f"/api/v1/runs/{run.id}/rollouts/{one['id']}/tokens").status_code == 200


def names(run: Run) -> list[tuple[int, str]]:
    found = Rollout.objects.filter(run=run, sample=0).order_by("step", "group_id")
    return list(found.values_list("step", "group_id"))


def upload_steps(run: Run, first: int, last: int, *, attempt: int = 1) -> None:
    """Two files a step: of group 0, which stays, and of group 1."""
    for step in range(first, last + 1):
        for number in (0, 1):
            groups = [trace_group(number, (0, 1), step=step)]
            data = trace_file(run.id, groups, step=step, number=number, stays=number == 0, attempt=attempt)
            put(run, data, step=step, number=number, attempt=attempt)


def test_other_groups_go_with_the_newest_steps(launch: Launch) -> None:
    run, worker = launch(traces={"full_steps": 2})
    worker.sync(rollouts(1, row("1-1", 0, 0.0)))
    upload_steps(run, 1, 4)
    assert files(run) == [
        "step-000001-a1-0.parquet",
        "step-000002-a1-0.parquet",
        "step-000003-a1-0.parquet",
        "step-000003-a1-1.parquet",
        "step-000004-a1-0.parquet",
        "step-000004-a1-1.parquet",
    ]
    # The text that an event has told stays, without its tokens.
    assert names(run) == [(1, "1-0"), (1, "1-1"), (2, "2-0"), (3, "3-0"), (3, "3-1"), (4, "4-0"), (4, "4-1")]
    left = Rollout.objects.get(run=run, group_id="1-1", sample=0)
    assert (left.trace_id, left.trace_row, left.completion) == (None, None, "c")


def test_the_budget_takes_the_oldest_others_first(launch: Launch, api: Api) -> None:
    run, _ = launch(traces={"max_mib": 1})
    upload_steps(run, 1, 3)
    # As if they were larger: the next upload prunes.
    TraceFile.objects.filter(run=run).update(bytes=2**18)
    put(run, trace_file(run.id, [trace_group(0, (0, 1), step=4)], step=4), step=4)
    assert files(run) == [
        "step-000001-a1-0.parquet",
        "step-000002-a1-0.parquet",
        "step-000003-a1-0.parquet",
        "step-000004-a1-0.parquet",
    ]
    TraceFile.objects.filter(run=run).update(bytes=2**19)
    put(run, trace_file(run.id, [trace_group(0, (0, 1), step=5)], step=5), step=5)
    assert files(run) == ["step-000004-a1-0.parquet", "step-000005-a1-0.parquet"]
    kept = api().get(f"/api/v1/runs/{run.id}/rollouts/kept").json()
    assert {name: kept[name] for name in ("full_steps", "groups_per_step", "max_bytes", "files", "samples")} == {
        "full_steps": 20,
        "groups_per_step": 4,
        "max_bytes": 2**20,
        "files": 2,
        "samples": 4,
    }
    assert kept["bytes"] == sum(TraceFile.objects.values_list("bytes", flat=True))


def test_what_a_later_attempt_does_again_loses_its_other_groups(launch: Launch) -> None:
    run, worker = launch()
    worker.steps(1, 2)
    worker.checkpoint(1)
    upload_steps(run, 1, 2)
    expire_lease(run)
    sweep()
    run.refresh_from_db()
    Worker(run.id, 2).state("running")
    upload_steps(run, 2, 2, attempt=2)
    assert files(run) == [
        "step-000001-a1-0.parquet",
        "step-000001-a1-1.parquet",
        "step-000002-a1-0.parquet",
        "step-000002-a2-0.parquet",
        "step-000002-a2-1.parquet",
    ]


def test_tokens(launch: Launch, api: Api) -> None:
    run, _ = launch()
    forced = np.array([True, False, True])
    groups = [trace_group(0, (0, 1), sampled=forced), trace_group(1, (None, 0.5), excluded="zero_advantage")]
    put(run, trace_file(run.id, groups))
    first, _, third, _ = Rollout.objects.order_by("group_id", "sample")
    found = api().get(f"/api/v1/runs/{run.id}/rollouts/{first.id}/tokens").json()
    assert (found["prompt"], found["completion"]) == ("prompt 0", "answer 0 of group 0")
    assert found["vocabulary"] == {"10": "<10>", "11": "<11>", "12": "<12>"}

    def values(name: str, kind: str) -> list[float]:
        return np.frombuffer(base64.b64decode(found["columns"][name]), kind).tolist()

    assert values("token_ids", "<i4") == [10, 11, 12]
    assert values("engine_logprobs", "<f4") == [-1.0, -1.0, -1.0]
    assert values("learner_logprobs", "<f4") == [-1.0, -1.5, -1.0]
    assert values("entropy", "<f4") == [0.5, 0.25, 0.0]
    assert values("versions", "<i4") == [0, 0, 0]
    assert values("sampled", "u1") == values("loss_mask", "u1") == [1, 0, 1]
    assert found["columns"]["advantages"] is None
    left_out = api().get(f"/api/v1/runs/{run.id}/rollouts/{third.id}/tokens").json()
    assert np.frombuffer(base64.b64decode(left_out["columns"]["loss_mask"]), "u1").tolist() == [0, 0, 0]


def test_tokens_that_are_gone_are_told(launch: Launch, api: Api, other_team: Any) -> None:
    run, worker = launch()
    worker.sync(rollouts(1, row("1-5", 0, 0.0)))
    put(run, trace_file(run.id, [trace_group(0, (0, 1))]))
    text_only = Rollout.objects.get(group_id="1-5")
    kept = Rollout.objects.filter(group_id="1-0")[0]

    def ask(number: Any, client: APIClient, status: int = 404) -> str:
        answer = client.get(f"/api/v1/runs/{run.id}/rollouts/{number}/tokens")
        assert answer.status_code == status
        return answer.json()["error"]["code"] if status != 200 else ""

    assert ask(text_only.id, api()) == "tokens_gone"
    assert ask(2**62, api()) == ask("x", api()) == "not_found"
    assert ask(kept.id, api(team=other_team)) == "not_found"
    ask(kept.id, api(), 200)
    (run.run_dir / "traces" / files(run)[0]).unlink()
    assert ask(kept.id, api()) == "tokens_gone"


def groups_of(api: Api, run: Run, **query: Any) -> list[str]:
    """Ids of the groups by pages of two; a page that says it goes on does."""
    client, found, after = api(), [], None
    while True:
        parameters = {"limit": 2, **query, **({"after": after} if after else {})}
        answer = client.get(f"/api/v1/runs/{run.id}/groups", parameters)
        assert answer.status_code == 200, answer.content
        page = answer.json()
        found += [group["group_id"] for group in page["data"]]
        after = page["next"]
        assert page["has_more"] == (after is not None)
        if after is None:
            return found


def test_groups_newest_first_and_dead_ones_last(launch: Launch, api: Api) -> None:
    run, worker = launch()
    first = [trace_group(0, (1, 1)), trace_group(2, (0, 1)), trace_group(10, (0, 0.5, None))]
    put(run, trace_file(run.id, first))
    worker.sync(rollouts(2, row("2-0", 0, 0.0), row("2-0", 1, 1.0)))
    assert groups_of(api, run) == ["2-0", "1-2", "1-10", "1-0"]
    found = api().get(f"/api/v1/runs/{run.id}/groups").json()["data"]
    assert [(one["group_id"], one["tokens"], one["dead"]) for one in found] == [
        ("2-0", False, False),
        ("1-2", True, False),
        ("1-10", True, False),
        ("1-0", True, True),
    ]
    last = found[2]
    assert {name: last[name] for name in ("reward_mean", "reward_min", "reward_max", "pass_rate", "length_max")} == {
        "reward_mean": 0.25,
        "reward_min": 0.0,
        "reward_max": 0.5,
        "pass_rate": 0.5,
        "length_max": 3,
    }
    assert (last["worst_gap"], last["staleness"], last["prompt"]) == (0.5, 0, "prompt 10")
    assert [sample["reward_error"] for sample in last["samples"]] == [False, False, True]
    assert found[0]["pass_rate"] is None  # an older worker does not tell who succeeds


def test_filters_of_groups(launch: Launch, api: Api) -> None:
    run, worker = launch()
    upload = [
        trace_group(0, (1, 1)),
        trace_group(1, (0, 0.25), finish_reason="length"),
        trace_group(2, (0.5, None), budget_hit=True),
    ]
    put(run, trace_file(run.id, upload))
    worker.sync(rollouts(3, row("3-0", 0, 0.0, "more")))
    assert groups_of(api, run, dead="true") == ["3-0", "1-0", "1-2"]
    assert groups_of(api, run, dead="false") == ["1-1"]
    assert groups_of(api, run, first_step=2) == groups_of(api, run, source="more") == ["3-0"]
    assert groups_of(api, run, last_step=2, min_reward=0.5) == ["1-0", "1-2"]
    assert groups_of(api, run, min_reward=0.2, max_reward=0.3) == ["1-1"]
    assert groups_of(api, run, finish_reason="length") == ["1-1"]
    assert groups_of(api, run, last_step=2, cut="true") == ["1-1", "1-2"]
    assert groups_of(api, run, error="true") == ["1-2"]
    assert groups_of(api, run, min_gap=0.5) == ["1-1", "1-0", "1-2"]
    assert groups_of(api, run, min_gap=0.51) == []
    assert groups_of(api, run, group_id="1-1") == ["1-1"]
    cursor = api().get(f"/api/v1/runs/{run.id}/groups", {"after": "1:x"})
    assert (cursor.status_code, cursor.json()["error"]["code"]) == (422, "invalid_cursor")


def test_search_reads_texts_of_events_and_of_files(launch: Launch, api: Api, other_team: Any) -> None:
    run, worker = launch()
    put(run, trace_file(run.id, [trace_group(0, (0, 1)), trace_group(1, (0, 1)), trace_group(2, (0, 1))]))
    worker.sync(rollouts(1, {**row("1-2", 0, 0.0), "completion": "50% of ANSWER x"}, row("1-9", 0, 0.0)))
    assert groups_of(api, run, q="Answer 1 of") == ["1-0", "1-1", "1-2"]
    assert groups_of(api, run, q="group 1") == ["1-1"]
    assert groups_of(api, run, q="50% of answer X") == ["1-2"]
    assert groups_of(api, run, q="prompt 0") == ["1-0"]
    assert groups_of(api, run, q="nowhere") == []
    # A sample that matches is told from its siblings.
    (found,) = api().get(f"/api/v1/runs/{run.id}/groups", {"q": "answer 1 of group 0"}).json()["data"]
    assert [sample["matches"] for sample in found["samples"]] == [False, True]
    assert api(team=other_team).get(f"/api/v1/runs/{run.id}/groups").status_code == 404


def test_exports_hold_what_fits_with_its_tokens(launch: Launch, api: Api, other_team: Any) -> None:
    run, worker = launch()
    broken = np.array([-1.0, np.nan, -1.0], np.float32)
    put(run, trace_file(run.id, [trace_group(0, (0, 1), entropy=broken), trace_group(1, (1, 1))]))
    worker.sync(rollouts(2, row("2-0", 0, 1.0)))

    def ask(client: APIClient, **query: Any) -> bytes:
        answer = client.get(f"/api/v1/runs/{run.id}/rollouts/export", query)
        assert answer.status_code == 200
        return b"".join(answer.streaming_content)

    lines = [json.loads(line) for line in ask(api(), min_reward=1).splitlines()]
    assert [(one["group_id"], one["sample"]) for one in lines] == [("2-0", 0), ("1-0", 1), ("1-1", 0), ("1-1", 1)]
    assert (lines[0]["token_ids"], lines[0]["completion"]) == (None, "c")
    assert lines[1]["texts"] == ["<10>", "<11>", "<13>"]
    assert lines[1]["entropy"] == [-1.0, "NaN", -1.0]
    assert lines[1]["completion"] == "answer 1 of group 0"
    table = pq.read_table(io.BytesIO(ask(api(), type="parquet"))).to_pylist()
    assert [(one["group_id"], one["learner_logprobs"]) for one in table[:2]] == [
        ("2-0", None),
        ("1-0", [-1.0, -1.5, -1.0]),
    ]
    assert json.loads(table[1]["reward_parts"]) == {}
    foreign = api(team=other_team).get(f"/api/v1/runs/{run.id}/rollouts/export")
    assert foreign.status_code == 404
