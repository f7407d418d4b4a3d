"""Bench jobs from the message to the result: a real Ray, a platform and a judge on the loopback."""

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.support.about import TRAINING
from tests.support.installation import wait_until
from tests.support.judge_endpoint import JudgeServer
from tests.support.odd_graders import KeyErrorGrader, replace
from tests.support.quiet_handler import QuietHandler
from trainer_core.link import version
from trainer_core.link.admission import proof
from trainer_core.link.bench import BenchSample, ThinkingTags
from trainer_core.link.jobs import BENCH
from trainer_core.rewards.graders import ExactGrader
from worker import tasks
from worker.cluster import actors as ray_cluster
from worker.jobs import link
from worker.jobs.bench.job import graded_sample
from worker.jobs.bench.work import BenchWork

CLUSTER_SECRET = "the secret that the tests' cluster shares with its platform"
EXACT = {"components": [{"name": "right", "grader": {"type": "exact"}}]}
JUDGED = {
    "components": [
        {"name": "right", "weight": 2.0, "grader": {"type": "exact"}},
        {"name": "style", "grader": {"type": "rubric", "items": [{"name": "calm", "description": "is calm"}]}},
    ]
}
FAILING = {"type": "python", "source": "def grade(sample, item): return 1/0"}
PYTHON = {"components": [{"name": "own", "grader": FAILING}]}
SAMPLES = [
    {"id": "a", "output_text": "<think>x</think>4", "item": {"prompt": "2+2=", "answer": "4"}, "probe": None},
    {"id": "b", "output_text": "5", "item": {"prompt": "2+2=", "answer": "4"}, "completion_tokens": 1},
    {"id": "c", "output_text": "6", "item": {"prompt": "2+2="}, "finish_reason": "length", "probe": "empty"},
]


class BenchPlatform:
    """Hands out one job and keeps what it is told."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.job, self.token = job, "bnc_secret"
        self.status = [200]
        """Of the next answers; the last stays."""
        self.fetched, self.renewed, self.results = 0, 0, []  # type: ignore[var-annotated]
        self.changed = threading.Condition()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def wait(self, condition: Any) -> None:
        with self.changed:
            assert self.changed.wait_for(condition, 60.0)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(platform: BenchPlatform) -> type[BaseHTTPRequestHandler]:
    class Handler(QuietHandler):
        def do_GET(self) -> None:
            with platform.changed:
                platform.fetched += 1
                self._answer(self._status(), platform.job)
                platform.changed.notify_all()

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or "{}")
            path = f"/api/v1/link/bench/{platform.job['id']}"
            if self.path == f"{path}/token":
                proved = self.headers["Authorization"] == f"Cluster {proof(CLUSTER_SECRET, platform.url, self.path)}"
                self._answer(200 if proved else 401, {"token": platform.token})
                return
            with platform.changed:
                if self.path == f"{path}/lease":
                    platform.renewed += 1
                    self._answer(self._status(), {"lease_s": platform.job["lease_s"]})
                    platform.changed.notify_all()
                    return
                assert self.path == f"{path}/result"
                # Kept before it is acknowledged: who reads the answer may look at once.
                if (status := self._status()) == 200:
                    platform.results.append(body)
                self._answer(status, {"state": "done"})
                platform.changed.notify_all()

        def _status(self) -> int:
            status = platform.status.pop(0) if len(platform.status) > 1 else platform.status[0]
            return status if self.headers["Authorization"] == f"Bearer {platform.token}" else 401

        def _answer(self, status: int, body: Any) -> None:
            data = json.dumps(body if status == 200 else {"detail": "no"}).encode()
            self.answer(status, data)

    return Handler


@pytest.fixture
def judge() -> Iterator[JudgeServer]:
    made = JudgeServer('{"verdicts": [{"criterion": 1, "reason": "", "met": true}]}')
    yield made
    made.close()


def job(job_id: str, *definitions: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": job_id,
        "definitions": [{"label": f"v{n}", "definition": one} for n, one in enumerate(definitions)],
        "samples": SAMPLES,
        "thinking": {"start": "<think>", "end": "</think>"},
        "judges": {},
        "reward_models": {},
        "timeout_s": 60.0,
        "lease_s": 60.0,
        **more,
    }


@pytest.fixture
def platform_of() -> Iterator[Any]:
    """Makes a platform for a job."""
    platforms = []

    def make(document: dict[str, Any]) -> BenchPlatform:
        platforms.append(BenchPlatform(document))
        return platforms[-1]

    yield make
    for platform in platforms:
        platform.close()


@pytest.fixture
def done(platform_of: Any) -> Any:
    """Works on a job in this process: the platform afterwards."""

    def work(document: dict[str, Any], *statuses: int) -> BenchPlatform:
        platform = platform_of(document)
        platform.status = list(statuses) or [200]
        BenchWork(document["id"], platform.url, platform.token, fenced=lambda: None).run()
        return platform

    return work


def test_two_definitions_side_by_side(done: Any, judge: JudgeServer) -> None:
    endpoint = {"base_url": judge.url, "model": "m", "api_key": "sk-1", "price_prompt": 1.0, "price_completion": 1.0}
    (result,) = done(job("two", EXACT, JUDGED, judges={"default": endpoint})).results
    rewards = [[score["reward"] for score in row] for row in result["results"]]
    assert rewards == [[1.0, 0.0, None], [3.0, 1.0, None]]
    assert result["results"][1][0]["parts"] == {"right": 1.0, "style": 1.0}
    assert result["results"][0][2]["error"] == "right: the row has no field 'answer' to compare with"
    assert all(score["seconds"] > 0 and score["forgiven"] == [] for row in result["results"] for score in row)
    spent = result["judge"]
    assert (spent["calls"], spent["cached"], spent["prompt_tokens"], spent["completion_tokens"]) == (3, 0, 300, 30)
    assert spent["cost"] == pytest.approx(330 / 1e6)
    assert spent["seconds_p95"] >= spent["seconds_p50"] > 0
    assert (spent["agreement_repeat"], spent["agreement_swap"]) == (None, None)


def test_the_lease_is_kept_while_a_judge_takes_its_time(platform_of: Any, judge: JudgeServer) -> None:
    platform = platform_of(job("slow", JUDGED, judges={"default": {"base_url": judge.url, "model": "m"}}, lease_s=0.3))
    verdict = judge.say

    def late(body: dict[str, Any]) -> Any:
        platform.wait(lambda: platform.renewed >= 3)
        return verdict

    judge.say = late
    BenchWork("slow", platform.url, platform.token, fenced=lambda: None).run()
    assert platform.fetched == 1
    assert [score["reward"] for score in platform.results[0]["results"][0]] == [3.0, 1.0, None]


@pytest.mark.expensive(2, "starts processes", about=TRAINING)
def test_a_judge_that_hangs_is_an_error_of_the_sample(done: Any, judge: JudgeServer) -> None:
    judge.hang = lambda body: True
    platform = done(job("hung", JUDGED, judges={"default": {"base_url": judge.url, "model": "m"}}, timeout_s=0.5))
    errors = [score["error"] for score in platform.results[0]["results"][0]]
    assert errors == ["the reward took longer than 0.5 s"] * 3


def test_work_that_nobody_waits_for_is_ended(platform_of: Any, judge: JudgeServer) -> None:
    judge.hang = lambda body: True
    endpoint = {"base_url": judge.url, "model": "m", "retries": 0}
    platform = platform_of(job("late", JUDGED, judges={"default": endpoint}, lease_s=0.3))
    platform.status = [200, 409]
    BenchWork("late", platform.url, platform.token, fenced=judge.close).run()  # cut off, the questions are errors
    assert platform.results == []


def test_untrusted_code_runs_in_the_jail_and_its_traceback_is_told(done: Any) -> None:
    (row,) = done(job("jailed", PYTHON)).results[0]["results"]
    assert all(score["reward"] is None and "ZeroDivisionError" in score["error"] for score in row)


def test_lengths_nobody_knows_are_errors(done: Any) -> None:
    graded = {"components": [{"name": "short", "grader": {"type": "length_penalty", "full": 10}}]}
    (row,) = done(job("length", graded)).results[0]["results"]
    assert [score["reward"] for score in row] == [None, pytest.approx(-0.1), None]
    assert row[0]["error"] == "short: the sample's number of tokens is not known"


@pytest.mark.expensive(2, "starts processes", about=TRAINING)
def test_a_grader_in_the_jail_is_told_no_length_that_nobody_knows(done: Any) -> None:
    source = "def grade(sample, item):\n    n = sample['completion_tokens']\n    return -1 if n is None else n"
    graded = {"components": [{"name": "own", "grader": {"type": "python", "source": source}}]}
    (row,) = done(job("untold", graded)).results[0]["results"]
    assert [score["reward"] for score in row] == [-1.0, 1.0, -1.0]


def test_a_platform_that_stumbles_gets_its_result(done: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "RETRY_S", 0.01)
    assert len(done(job("stumble", EXACT), 503, 200, 500, 429, 200).results) == 1


def test_the_end_of_a_long_traceback_is_told(done: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    replace(monkeypatch, ExactGrader, KeyErrorGrader(message="x" * 30_000 + "end"))
    (row,) = done(job("long", EXACT)).results[0]["results"]
    assert row[0]["error"].startswith("KeyError: 'xxx") and len(row[0]["error"]) == 10_000
    assert row[0]["traceback"].endswith("end'\n") and len(row[0]["traceback"]) == 10_000


def test_a_traceback_names_no_folder_of_the_machine(done: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    replace(monkeypatch, ExactGrader, KeyErrorGrader(message="verdict"))
    (row,) = done(job("trace", EXACT)).results[0]["results"]
    files = re.findall(r'File "(.*)", line', row[0]["traceback"])
    assert {"json/decoder.py", "trainer_core/rewards/graders/__init__.py", "tests/support/odd_graders.py"} <= set(files)
    assert not [file for file in files if file.startswith("/")]
    assert "return float(json.loads" in row[0]["traceback"]


@pytest.mark.parametrize("status", [401, 409])
def test_a_job_that_is_over_is_left_alone(done: Any, status: int) -> None:
    platform = done(job("over", EXACT), status)
    assert (platform.fetched, platform.results) == (1, [])


def test_the_answer_begins_where_harmony_says() -> None:
    text = "<|channel|>analysis<|message|>2+2<|end|><|start|>assistant<|channel|>final<|message|>4"
    tags = ThinkingTags(
        start="<|channel|>analysis<|message|>", end="<|end|>", answer_start="<|channel|>final<|message|>"
    )
    seen = graded_sample(BenchSample(id="a", output_text=text, item={}), tags)
    assert (seen.thinking_text, seen.answer_text, seen.output_text) == ("2+2", "4", text)


def test_a_bad_job_is_refused_with_its_place(done: Any) -> None:
    bad = {**job("bad", EXACT), "definitions": [{"label": "x", "definition": {"components": []}}]}
    (result,) = done(bad).results
    assert result["error"].startswith("The bench job is not valid here: ")
    assert result["error"].endswith("(at definitions.0.definition.components)")


@pytest.mark.expensive(2, "starts a bench worker's process")
def test_the_task_makes_one_worker_which_is_gone_with_its_job(
    platform_of: Any, judge: JudgeServer, cluster: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge.hang = lambda body: True
    document = job("once", JUDGED, judges={"default": {"base_url": judge.url, "model": "m"}}, timeout_s=2.0)
    platform = platform_of(document)
    monkeypatch.setenv("DRESSAGE_CLUSTER_SECRET", CLUSTER_SECRET)
    task = tasks.app.tasks[BENCH.task]
    assert task("once", platform.url)
    assert not task("once", platform.url)
    platform.wait(lambda: platform.results)
    errors = [score["error"] for score in platform.results[0]["results"][0]]
    assert errors == ["the reward took longer than 2 s"] * 3
    wait_until(lambda: ray_cluster.find(BENCH.actor("once")) is None, 30)


def test_judges_that_the_cluster_cannot_serve_are_named(done: Any, cluster: None) -> None:
    judges = {f"j{n}": {"model_dir": "/nowhere", "model": "m"} for n in range(9)}
    assert done(job("big", EXACT, judges=judges)).results == [
        {"error": "The bench job needs 9 CPUs for engines and learners; the cluster has 4."}
    ]


def test_a_platform_of_an_older_link_is_told_so(platform_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version, "LINK_VERSION", 2)
    monkeypatch.setattr(version, "SPOKEN", frozenset({2}))
    platform = platform_of(job("elder", EXACT))
    BenchWork("elder", platform.url, platform.token, fenced=lambda: None).run()
    sentence = "This cluster runs Dressage's link version 2, the platform runs 1: upgrade the platform."
    assert platform.results == [{"error": sentence}]
