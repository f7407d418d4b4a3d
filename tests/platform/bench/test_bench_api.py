"""The bench: what it scores, what its results say, and the link of its worker."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from django.test import TestCase
from rest_framework.test import APIClient

from dressage.bench.models import BenchJob
from dressage.cluster_jobs.life import job_token
from dressage.datasets.services import create_dataset
from dressage.rewards.judges.services import create_judge_endpoint
from dressage.rewards.models import JudgeEndpoint
from dressage.rewards.services import create_reward
from dressage.runs.models import Run
from dressage.teams.models import AuditEntry, Team
from dressage.telemetry.models import Rollout
from tests.platform.bench.fixtures import DEFINITION, PASTED, BenchWorker, bench_score
from tests.platform.runs.fixtures import Worker
from tests.platform.runs.test_link import ROW
from tests.support.about import PLATFORM
from trainer_core.rewards import RewardDefinition

GOOD = [[bench_score(1.0), bench_score(0.0)]]
KEY = "sk-very-secret-0123456789"


@pytest.mark.expensive(3, "walks over many requests", about=PLATFORM)
def test_a_job_from_beginning_to_end(start_bench: Callable[..., Any], read_bench: Callable[[str], Any]) -> None:
    two = [{"definition": DEFINITION, "label": "old"}, {"definition": {**DEFINITION, "success_threshold": 0.9}}]
    job = start_bench(definitions=two)
    assert (job["state"], job["results"], job["summary"], job["tries"]) == ("queued", None, [], 0)
    assert [entry["label"] for entry in job["definitions"]] == ["old", "draft"]
    worker = BenchWorker(job["id"])
    document = worker.take()
    assert document["id"] == job["id"]
    assert document["definitions"] == [
        {"label": entry["label"], "definition": entry["definition"]} for entry in job["definitions"]
    ]
    assert document["samples"] == [
        {"id": f"s{index}", **sample, "completion_tokens": None, "finish_reason": "stop", "probe": None}
        for index, sample in enumerate(PASTED)
    ]
    assert (document["judges"], document["reward_models"], document["timeout_s"]) == ({}, {}, 60.0)
    assert document["thinking"] == {"start": "<think>", "end": "</think>"}
    assert read_bench(job["id"])["state"] == "running"
    judge = {"calls": 4, "cached": 1, "prompt_tokens": 10, "completion_tokens": 5, "cost": 0.25}
    results = [
        [bench_score(0.75), bench_score(None, traceback="Traceback: …")],
        [bench_score(0.75), bench_score(1.0, seconds=1.5)],
    ]
    assert worker.answer(results=results, judge=judge) == {"state": "done"}
    assert worker.answer(results=results, judge=judge) == {"state": "done"}, "a worker may repeat itself"
    done = read_bench(job["id"])
    assert (done["state"], done["tries"], done["judge"]["cost"]) == ("done", 1, 0.25)
    assert [[score["success"] for score in scores] for scores in done["results"]] == [[True, None], [False, True]]
    assert done["results"][0][1]["traceback"] == "Traceback: …"
    assert [flip["sample"] for flip in done["flips"]] == ["s0", "s1"]
    assert done["flips"][0] == {
        "sample": "s0", "before": True, "after": False, "reward_before": 0.75, "reward_after": 0.75
    }  # fmt: skip
    old, draft = done["summary"]
    assert (old["mean"], old["success_share"], old["errors"], old["parts"]) == (0.75, 1.0, 1, {"a": 0.75})
    assert old["error_kinds"] == [{"message": "a: broken", "count": 1}]
    assert (draft["mean"], draft["std"], draft["success_share"]) == (0.875, 0.125, 0.5)
    assert (draft["seconds_p50"], draft["seconds_p95"]) == (0.5, 1.5)
    assert AuditEntry.objects.count() == 0


def test_the_cluster_is_rung_on_commit(start_bench: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    from dressage.celery import app

    sent: list[Any] = []
    monkeypatch.setattr(app, "send_task", lambda name, **options: sent.append((name, options)))
    with TestCase.captureOnCommitCallbacks(execute=True):
        job = start_bench()
    [(name, options)] = sent
    assert (name, options["queue"]) == ("worker.tasks.bench", "cluster")
    assert options["kwargs"].keys() == {"job_id", "link_url"}
    assert options["kwargs"]["job_id"] == job["id"]
    assert job_token(BenchJob, job["id"]) not in str(options)
    assert job_token(BenchJob, job["id"]) not in str(list(BenchJob.objects.values()))


def test_probes_are_added_and_those_that_earn_success_are_flagged(
    start_bench: Callable[..., Any], read_bench: Callable[[str], Any]
) -> None:
    job = start_bench(probes=True)
    probes = [sample for sample in job["samples"] if sample["probe"]]
    kinds = ["empty", "very_long", "format_only", "gold_echoed", "prompt_repeated"]
    assert [probe["probe"] for probe in probes] == kinds, "both samples are of one row"
    results = [bench_score(1.0), bench_score(0.0)]
    results += [bench_score({"very_long": 0.5, "gold_echoed": 1.0}.get(probe["probe"], 0.25)) for probe in probes]
    worker = BenchWorker(job["id"])
    assert [sample["probe"] for sample in worker.take()["samples"]] == [None, None, *kinds]
    worker.answer(results=[results])
    done = read_bench(job["id"])
    assert [(flag["probe"], flag["severity"], flag["definition"]) for flag in done["flags"]] == [
        ("very_long", "warn", 0),
        ("gold_echoed", "info", 0),
    ]
    assert done["flags"][0]["detail"] == (
        "A very long output without content earns 0.5, and 0.5 counts as success. A policy will exploit this."
    )
    assert (done["summary"][0]["samples"], done["summary"][0]["mean"]) == (2, 0.5), "probes do not bend the mean"


def test_samples_from_a_dataset(start_bench: Callable[..., Any], team: Team, actor: Any) -> None:
    lines = b"".join(b'{"prompt": "p%d", "answer": "work\\n#### %d"}\n' % (n, n) for n in range(10))
    create_dataset(team, actor, name="Sums", file=BytesIO(lines), size=len(lines))
    job = start_bench(samples={"dataset": "sums@1", "rows": [7, 2]})
    assert job["source"] == {"type": "dataset", "dataset": "sums@1", "outputs": "reference"}
    assert [sample["output_text"] for sample in job["samples"]] == ["\\boxed{7}", "\\boxed{2}"]
    assert [sample["stored"] for sample in job["samples"]] == [{"row": 7}, {"row": 2}]
    job = start_bench(samples={"dataset": "sums@1", "count": 4})
    assert [sample["stored"]["row"] for sample in job["samples"]] == [0, 2, 5, 7]
    assert len(start_bench(samples={"dataset": "sums@1", "count": 50})["samples"]) == 10
    code = b'{"prompt": "def f():\\n", "canonical_solution": "    return 1\\n"}\n{"prompt": "no answer"}\n'
    create_dataset(team, actor, name="Code", file=BytesIO(code), size=len(code))
    job = start_bench(samples={"dataset": "code@1", "rows": [0]})
    assert job["samples"][0]["output_text"] == "```python\ndef f():\n    return 1\n\n```"
    refused = start_bench(422, samples={"dataset": "code@1", "rows": [1]})
    assert refused["detail"] == "Row 1 of code@1 has no gold answer to score."
    refused = start_bench(422, samples={"dataset": "sums@1", "rows": [3, 10]})
    assert refused["errors"][0]["pointer"] == "/samples/rows/1"


def test_stored_rollouts_are_scored_anew(
    start_bench: Callable[..., Any],
    launch: Callable[..., tuple[Run, Worker]],
    read_bench: Callable[[str], Any],
    team: Team,
    actor: Any,
) -> None:
    held_out = b'{"prompt": "9+9=", "answer": "18"}\n'
    create_dataset(team, actor, name="Held", file=BytesIO(held_out), size=len(held_out))
    # The held-out source bears the name of the one trained on, as it does in the demo.
    run, worker = launch(evaluation={"sources": [{"name": "add", "dataset": "held@1"}]})
    row = {**ROW, "prompt_id": "add:0"}
    other = {**ROW, "prompt_id": "more:1", "source": "more", "completion": "four", "reward": 0.0, "length": 7}
    worker.sync({"kind": "rollouts", "step": 1, "data": {"rows": [row]}})
    worker.sync({"kind": "rollouts", "step": 2, "data": {"rows": [{**row, "sample": 1}, {**other, "sample": 2}]}})
    ids = [str(number) for number in Rollout.objects.order_by("id").values_list("id", flat=True)]
    length = {"components": [{"name": "short", "grader": {"type": "length_penalty", "free": 4, "full": 8}}]}
    job = start_bench(samples={"run": run.id, "rollouts": [ids[2], ids[0]]}, definitions=[{"definition": length}])
    assert [sample["item"] for sample in job["samples"]] == [
        {"prompt": "1+2=", "answer": "3"}, {"prompt": "1+1=", "answer": "2"}
    ]  # fmt: skip
    assert [sample["completion_tokens"] for sample in job["samples"]] == [7, 2]
    assert job["samples"][0]["stored"] == {
        "rollout": ids[2], "step": 2, "reward": 0.0, "graded": 0.0, "reward_version": "exact@1", "reward_error": None,
        "group": "1/2/1-0", "sample": 2,
    }  # fmt: skip
    assert "stored" not in BenchWorker(job["id"]).take()["samples"][0]
    newest = start_bench(samples={"run": run.id, "count": 20})
    assert [sample["stored"]["rollout"] for sample in newest["samples"]] == ids[1:]
    assert newest["source"] == {"type": "run", "run": run.id, "name": "first", "step": None}
    assert len(start_bench(samples={"run": run.id, "count": 20, "step": 1})["samples"]) == 1
    for samples, pointer in (
        ({"run": run.id, "count": 1, "step": 9}, "/samples/step"),
        ({"run": run.id, "rollouts": ["99999"]}, "/samples/rollouts/0"),
        ({"run": "run_gone", "count": 1}, "/samples/run"),
    ):
        assert start_bench(422, samples=samples)["errors"][0]["pointer"] == pointer


def test_rollouts_are_judged_by_the_tags_of_their_run(
    start_bench: Callable[..., Any], launch: Callable[..., tuple[Run, Worker]]
) -> None:
    harmony = {
        "start": "<|channel|>analysis<|message|>",
        "end": "<|end|>",
        "answer_start": "<|channel|>final<|message|>",
    }
    run, worker = launch(thinking={"type": "tags", **harmony, "budget": None})
    worker.sync({"kind": "rollouts", "step": 1, "data": {"rows": [{**ROW, "prompt_id": "add:0"}]}})
    samples = {"run": run.id, "count": 1}
    job = start_bench(samples=samples, probes=True)
    assert job["thinking"] == BenchWorker(job["id"]).take()["thinking"] == harmony
    [form] = [sample["output_text"] for sample in job["samples"] if sample["probe"] == "format_only"]
    assert form.startswith("<|channel|>analysis<|message|>\n<|end|><|channel|>final<|message|>")
    own = {"start": "[a]", "end": "[b]", "answer_start": None}
    assert start_bench(samples=samples, thinking=own)["thinking"] == own


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"definitions": []}, "/definitions"),
        ({"definitions": [{"definition": DEFINITION}] * 3}, "/definitions"),
        ({"definitions": [{}]}, "/definitions/0"),
        ({"definitions": [{"ref": "gone@1"}]}, "/definitions/0/ref"),
        ({"definitions": [{"definition": {"components": []}}]}, "/definitions/0/definition/components"),
        ({"samples": []}, "/samples"),
        ({"samples": PASTED * 26}, "/samples"),
        ({"samples": [{"output_text": "a"}]}, "/samples/0/item"),
        ({"samples": [{**PASTED[0], "more": 1}]}, "/samples/0/more"),
        ({"samples": {"dataset": "gone@1", "count": 1}}, "/samples/dataset"),
        ({"samples": {"dataset": "gone@1"}}, "/samples"),
        ({"samples": {"dataset": "gone@1", "count": 1, "rows": [1]}}, "/samples"),
        ({"samples": {"dataset": "gone@1", "count": 201}}, "/samples/count"),
        ({"samples": {"run": "x", "rollouts": ["one"]}}, "/samples/rollouts/0"),
        ({"samples": {"run": "x", "rollouts": ["1"], "step": 1}}, "/samples"),
        ({"samples": "all"}, "/samples"),
        ({"timeout_s": 0}, "/timeout_s"),
    ],
)
def test_refused(start_bench: Callable[..., Any], body: dict[str, Any], pointer: str) -> None:
    assert [error["pointer"] for error in start_bench(422, **body)["errors"]] == [pointer]
    assert BenchJob.objects.count() == 0


def test_length_needs_the_number_of_tokens(start_bench: Callable[..., Any]) -> None:
    length = {"components": [{"name": "short", "grader": {"type": "length_penalty", "free": 4, "full": 8}}]}
    samples = [{**PASTED[0], "completion_tokens": 3}, PASTED[1]]
    inner = {"type": "composite", "parts": [{"grader": length["components"][0]["grader"]}]}
    for definition in (length, {"components": [{"name": "short", "grader": inner}]}):
        refused = start_bench(422, definitions=[{"definition": definition}], samples=samples)
        assert [error["pointer"] for error in refused["errors"]] == ["/samples/1/completion_tokens"]


def test_keys_of_judges_reach_the_worker_alone(
    start_bench: Callable[..., Any], read_bench: Callable[[str], Any], team: Team, actor: Any
) -> None:
    rubric = {"type": "rubric", "endpoint": "strict", "items": [{"name": "clear", "description": "Is clear."}]}
    definition = {"components": [{"name": "quality", "grader": rubric}]}
    refused = start_bench(422, definitions=[{"definition": definition}])
    pointers = [error["pointer"] for error in refused["errors"]]
    assert pointers == ["/definitions/0/definition/components/0/grader/endpoint"]
    for name in ("Strict", "Unused"):
        create_judge_endpoint(team, actor, name=name, slug=None, base_url="http://j/v1", model="m", api_key=KEY)
    job = start_bench(definitions=[{"definition": definition}])
    document = BenchWorker(job["id"]).take()
    assert document["judges"] == {
        "strict": {
            "base_url": "http://j/v1", "model": "m", "api_key": KEY, "model_dir": None, "max_in_flight": 32,
            "timeout_s": 60.0, "retries": 3, "price_prompt": None, "price_completion": None,
            "networks": ["127.0.0.0/8", "::1/128"],
        }
    }  # fmt: skip
    assert KEY not in str(read_bench(job["id"]))
    assert KEY not in str(list(BenchJob.objects.values()))
    create_reward(team, actor, name="Judged", definition=RewardDefinition.model_validate(definition))
    JudgeEndpoint.objects.all().delete()
    refused = start_bench(422, definitions=[{"ref": "judged@1"}])
    assert refused["errors"] == [
        {"pointer": "/definitions/0/ref", "detail": "There is no judge endpoint 'strict' in this team."}
    ]
    worker = BenchWorker(job["id"])
    assert worker.take()["judges"] == {}, "what is gone is left out: its grader says so"


def test_only_the_token_of_the_job(start_bench: Callable[..., Any], api: Callable[..., APIClient]) -> None:
    one, two = start_bench()["id"], start_bench()["id"]
    assert BenchWorker(one, job_token(BenchJob, two)).take(403)["error"]["code"] == "foreign_token"
    assert BenchWorker(one, job_token(BenchJob, two)).renew(403)["error"]["code"] == "foreign_token"
    for token in ("", "bnc_wrong", "lnk_wrong"):
        BenchWorker(one, token).take(401)
        BenchWorker(one, token).answer(401, error="no")
    assert api("admin").get(f"/api/v1/link/bench/{one}").status_code == 401
    client = BenchWorker(one).client
    assert client.get(f"/api/v1/rewards/bench/{one}").status_code == 401
    assert set(BenchJob.objects.values_list("state", flat=True)) == {"queued"}


@pytest.mark.parametrize(
    "body",
    [
        {"results": [[bench_score(1.0)]]},
        {"results": GOOD * 2},
        {"results": [[bench_score(1.0), {**bench_score(1.0), "error": "both"}]]},
        {"results": [[bench_score(1.0), {**bench_score(None), "error": None}]]},
        {"results": GOOD, "error": "both"},
        {},
    ],
)
def test_an_answer_that_cannot_be_read_ends_the_job(
    start_bench: Callable[..., Any], read_bench: Callable[[str], Any], body: dict[str, Any]
) -> None:
    job = start_bench()
    worker = BenchWorker(job["id"])
    worker.take()
    worker.answer(422, **body)
    failed = read_bench(job["id"])
    assert (failed["state"], failed["results"]) == ("failed", None)
    assert failed["error"].startswith("The worker's answer cannot be read: ")


def test_a_worker_that_cannot(start_bench: Callable[..., Any], read_bench: Callable[[str], Any]) -> None:
    job = start_bench()
    worker = BenchWorker(job["id"])
    worker.take()
    assert worker.answer(error="There is no jail on the cluster.") == {"state": "failed"}
    failed = read_bench(job["id"])
    assert (failed["state"], failed["error"]) == ("failed", "There is no jail on the cluster.")
    assert worker.take(409)["error"]["code"] == "job_is_over"
    assert worker.answer(409, results=GOOD)["error"]["code"] == "job_is_over"


def test_lists_are_light_and_hide_single_answers(
    start_bench: Callable[..., Any], api: Callable[..., APIClient], other_team: Team
) -> None:
    first, second = start_bench()["id"], start_bench()["id"]
    hidden = start_bench()["id"]
    BenchJob.objects.filter(pk=hidden).update(hidden=True)
    listed = api("viewer").get("/api/v1/rewards/bench").json()["data"]
    assert [row["id"] for row in listed] == [second, first]
    assert not {"samples", "results"} & listed[0].keys()
    assert api("viewer", team=other_team).get("/api/v1/rewards/bench").json()["data"] == []


def test_too_many_at_once(start_bench: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dressage.bench.services.MAX_OPEN", 2)
    start_bench()
    job = start_bench()
    assert start_bench(429)["error"]["code"] == "too_many_bench_jobs"
    BenchWorker(job["id"]).answer(error="over")
    start_bench()
