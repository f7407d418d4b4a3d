"""The worker's own half of a bench job against the platform's, over real HTTP: with a jail, and before a judge."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import openai
import pytest
from openai.types.fine_tuning.alpha import GraderRunResponse

from dressage.bench.documents import bench_document
from dressage.bench.models import BenchJob
from dressage.bench.samples import sample_document
from dressage.bench.services import create_bench_job
from dressage.cluster_jobs.life import job_token
from dressage.common.actors import Actor
from dressage.common.roles import Role
from dressage.compat.graders import running
from dressage.rewards.judges.services import create_judge_endpoint
from dressage.teams.models import Team
from tests.platform.tokens import token_of
from tests.support.about import INSTALLATION
from tests.support.installation import wait_until
from tests.support.judge_endpoint import JudgeServer
from trainer_core.rewards import RewardDefinition
from worker.jobs.bench.work import BenchWork
from worker.sandbox import capability

pytestmark = pytest.mark.django_db(transaction=True)

KEY = "sk-very-secret-0123456789"
TAGS = {"start": "<think>", "end": "</think>"}
MATH = {"name": "right", "grader": {"type": "math", "extraction": "boxed"}}
OWN = {"name": "own", "grader": {"type": "python", "source": "def grade(sample, item):\n    return item['points']"}}
RUBRIC = {
    "name": "style",
    "grader": {"type": "rubric", "items": [{"name": "calm", "description": "Is calm."}]},
}


@pytest.fixture
def judge(team: Team, actor: Actor) -> Iterator[JudgeServer]:
    """Finds every criterion met; the team's endpoint ``default``."""
    server = JudgeServer('{"verdicts": [{"criterion": 1, "reason": "", "met": true}]}')
    fields = {"base_url": server.url, "model": "m", "api_key": KEY, "price_prompt": 1.0, "price_completion": 2.0}
    create_judge_endpoint(team, actor, name="Default", slug=None, **fields)
    yield server
    server.close()


def definition(*components: dict[str, Any]) -> RewardDefinition:
    return RewardDefinition.model_validate({"components": components})


def test_a_job_in_the_jail_and_before_a_judge(live_server: Any, team: Team, actor: Actor, judge: JudgeServer) -> None:
    capability.require()
    half = {"prompt": "Half of one?", "answer": "0.5", "points": 0.25}
    samples = [
        sample_document(0, "\\boxed{\\frac{2}{4}}", half, None),
        sample_document(1, "\\boxed{3}", {"prompt": "Half of one?", "answer": "0.5"}, None),
    ]
    job = create_bench_job(
        team,
        actor,
        definitions=[("math", None, definition(MATH)), ("mixed", None, definition(MATH, OWN, RUBRIC))],
        source={"type": "pasted"},
        samples=samples,
        thinking=TAGS,
        timeout_s=30.0,
        probed=True,
    )
    BenchWork(job.id, live_server.url, job_token(BenchJob, job.id), fenced=lambda: None).run()
    job.refresh_from_db()
    assert (job.state, job.error, job.tries) == ("done", None, 1)
    document = bench_document(job)
    maths, mixed = document["results"]
    assert [score["reward"] for score in maths[:2]] == [1.0, 0.0]
    assert (mixed[0]["reward"], mixed[0]["parts"]) == (2.25, {"right": 1.0, "own": 0.25, "style": 1.0})
    assert (mixed[1]["reward"], mixed[1]["parts"]) == (None, {"right": 0.0, "style": 1.0})
    assert "KeyError: 'points'" in mixed[1]["error"]
    assert [flip["sample"] for flip in document["flips"]] == ["s1"]
    assert [flag["label"] for flag in document["flags"]].count("math") == 0, "an honest grader pays for no probe"
    assert {flag["probe"] for flag in document["flags"]} >= {"empty", "very_long"}, "this judge likes everything"
    assert judge.headers["Authorization"] == f"Bearer {KEY}"
    assert document["judge"]["calls"] - document["judge"]["cached"] == len(judge.requests) > 0
    assert document["judge"]["cost"] > 0
    assert KEY not in str(document)


@pytest.fixture
def run_grader(live_server: Any, team: Team, actor: Actor) -> Callable[[str, dict[str, Any]], GraderRunResponse]:
    """``run_grader(source, item)``: what an OpenAI client is answered while a worker does the job."""
    _, secret = token_of(team, Role.EDITOR)
    client = openai.OpenAI(base_url=f"{live_server.url}/api/v1", api_key=secret, max_retries=0)

    def work() -> None:
        from django.db import connection

        try:
            wait_until(lambda: BenchJob.objects.filter(state="queued").exists(), 30)
            job = BenchJob.objects.get(state="queued").id
        finally:
            connection.close()
        BenchWork(job, live_server.url, job_token(BenchJob, job), fenced=lambda: None).run()

    def run(source: str, item: dict[str, Any]) -> GraderRunResponse:
        thread = threading.Thread(target=work)
        thread.start()
        grader: Any = {"type": "python", "name": "own", "source": source, "timeout_s": 30}
        response = client.fine_tuning.alpha.graders.run(grader=grader, model_sample="x", item=item)
        thread.join(30)
        return response

    return run


@pytest.mark.expensive(2, "walks over many requests", about=INSTALLATION)
def test_an_openai_client_reaches_the_jail(run_grader: Callable[..., GraderRunResponse]) -> None:
    capability.require()
    for item, reward in (({"points": 0.75}, 0.75), ({}, None)):
        response = run_grader(OWN["grader"]["source"], item)  # type: ignore[index]
        assert response.reward == reward
        assert response.metadata.errors.python_grader_runtime_error is (reward is None)
    assert "KeyError: 'points'" in str(response.metadata.errors.python_grader_runtime_error_details)


def test_a_score_that_takes_too_long_is_named_so(
    run_grader: Callable[..., GraderRunResponse], monkeypatch: pytest.MonkeyPatch
) -> None:
    capability.require()
    monkeypatch.setattr(running, "SCORE_S", 2.0)
    response = run_grader("def grade(sample, item):\n    while True:\n        pass", {})
    assert (response.reward, response.metadata.errors.unresponsive_reward_error) == (None, True)
    assert response.metadata.errors.python_grader_runtime_error is False
