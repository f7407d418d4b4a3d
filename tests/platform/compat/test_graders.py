"""OpenAI's graders, called by an unmodified ``openai`` client over HTTP; the test plays the cluster."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx
import openai
import pytest
from openai.types.fine_tuning.alpha import GraderRunResponse

from dressage.bench.models import BenchJob
from dressage.cluster_jobs.life import job_token
from dressage.common.actors import Actor
from dressage.common.lengthy import FILES
from dressage.common.roles import Role
from dressage.compat.graders import running
from dressage.gateway.handler import THREADS
from dressage.rewards import grading
from dressage.rewards.judges.services import create_judge_endpoint
from dressage.teams.models import Team
from tests.platform.tokens import token_of
from tests.support.installation import wait_until
from trainer_core.rewards.graders.model.judge import JudgeError, read_json

pytestmark = pytest.mark.django_db(transaction=True)

CHECK: Any = {
    "type": "string_check", "name": "same", "operation": "eq",
    "input": "{{sample.output_text}}", "reference": "{{item.answer}}",
}  # fmt: skip
PYTHON: Any = {
    "type": "python",
    "name": "mine",
    "image_tag": "2025-05-08",
    "source": "def grade(sample, item): return 1",
}
SCORE: Any = {
    "type": "score_model", "name": "judge", "model": "gpt-large", "range": [0, 10],
    "input": [{"role": "user", "content": "Rate {{sample.output_text}}."}],
}  # fmt: skip
ERRORS = {
    "formula_parse_error", "invalid_variable_error", "api_model_grader_parse_error", "api_model_grader_refusal_error",
    "api_model_grader_server_error", "other_error", "python_grader_runtime_error", "python_grader_server_error",
    "sample_parse_error", "truncated_observation_error", "unresponsive_reward_error",
}  # fmt: skip


@pytest.fixture
def client(live_server: Any, team: Team, actor: Actor) -> openai.OpenAI:
    _, secret = token_of(team, Role.EDITOR)
    return openai.OpenAI(base_url=f"{live_server.url}/api/v1", api_key=secret, max_retries=0)


@contextmanager
def cluster(url: str, answer: Callable[[dict[str, Any]], dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """A worker that takes one job over HTTP and answers it; gives the jobs' documents."""
    taken: list[dict[str, Any]] = []

    def work() -> None:
        from django.db import connection

        try:
            wait_until(lambda: BenchJob.objects.filter(state="queued").exists(), 30)
            job = BenchJob.objects.get(state="queued").id
        finally:
            connection.close()
        headers = {"Authorization": f"Bearer {job_token(BenchJob, job)}"}
        link = f"{url}/api/v1/link/bench/{job}"
        taken.append(httpx.get(link, headers=headers).raise_for_status().json())
        httpx.post(f"{link}/result", headers=headers, json=answer(taken[0])).raise_for_status()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield taken
    finally:
        thread.join(timeout=30)


def graded(**parts: float) -> dict[str, Any]:
    """The result of one sample by one definition, whose parts succeeded."""
    scores = {"reward": sum(parts.values()), "parts": parts, "error": None, "seconds": 0.25}
    return {"results": [[scores]], "judge": None}


def failed(error: str, **parts: float) -> dict[str, Any]:
    return {"results": [[{"reward": None, "parts": parts, "error": error, "seconds": 0.25}]], "judge": None}


def flags(response: GraderRunResponse) -> set[str]:
    """Names of the errors that are set."""
    return {name for name in ERRORS if getattr(response.metadata.errors, name)}


def test_validate(client: openai.OpenAI) -> None:
    assert client.fine_tuning.alpha.graders.validate(grader=CHECK).grader.to_dict() == CHECK
    assert client.fine_tuning.alpha.graders.validate(grader=PYTHON).grader.to_dict() == PYTHON
    multi: Any = {"type": "multi", "name": "m", "graders": CHECK, "calculate_output": "2 * same"}
    assert client.fine_tuning.alpha.graders.validate(grader=multi).grader.to_dict() == multi


@pytest.mark.parametrize(
    ("grader", "param"),
    [
        ({**CHECK, "operation": "near"}, "grader.operation"),
        ({**CHECK, "input": "{{item}}"}, "grader.input"),
        ({**PYTHON, "source": "def grade(:"}, "grader.source"),
        ({"type": "odd"}, "grader"),
        ({"type": "multi", "name": "m", "graders": {"a": CHECK}, "calculate_output": "b"}, "grader"),
        (
            {"type": "multi", "name": "m", "graders": {"a": {"type": "odd"}}, "calculate_output": "a"},
            "grader.graders.a",
        ),
        (SCORE, "grader.endpoint"),
    ],
)
def test_faults_are_named_in_openai_s_words(client: openai.OpenAI, grader: Any, param: str) -> None:
    for call in (
        lambda: client.fine_tuning.alpha.graders.validate(grader=grader),
        lambda: client.fine_tuning.alpha.graders.run(grader=grader, model_sample="x"),
    ):
        with pytest.raises(openai.UnprocessableEntityError) as caught:
            call()
        assert (caught.value.param, caught.value.type) == (param, "invalid_request_error")
    assert BenchJob.objects.count() == 0


def test_pure_graders_run_at_once(client: openai.OpenAI) -> None:
    run = client.fine_tuning.alpha.graders.run
    response = run(grader=CHECK, model_sample="4", item={"answer": "4"})
    assert (response.reward, response.sub_rewards, flags(response)) == (1.0, {}, set())
    assert (response.metadata.name, response.metadata.type) == ("same", "string_check")
    assert response.metadata.scores == {"same": 1.0}
    assert (response.metadata.token_usage, response.metadata.sampled_model_name) == (None, None)
    assert response.api_model_grader_token_usage_per_model == {}
    assert run(grader=CHECK, model_sample="5", item={"answer": "4"}).reward == 0.0
    similar: Any = {**CHECK, "type": "text_similarity", "evaluation_metric": "rouge_l"}
    del similar["operation"]
    multi: Any = {
        "type": "multi", "name": "both", "graders": {"Exact": CHECK, "close": similar},
        "calculate_output": "Exact + 0.5 * close",
    }  # fmt: skip
    response = run(grader=multi, model_sample="a b", item={"answer": "a b"})
    assert (response.reward, response.sub_rewards) == (1.5, {"Exact": 1.0, "close": 1.0})
    assert BenchJob.objects.count() == 0


def test_a_reward_that_cannot_be_computed_is_null(client: openai.OpenAI) -> None:
    run = client.fine_tuning.alpha.graders.run
    response = run(grader=CHECK, model_sample="4", item={})
    assert response.reward is None
    assert flags(response) == {"invalid_variable_error"}
    multi: Any = {"type": "multi", "name": "m", "graders": {"a": CHECK}, "calculate_output": "1 / a"}
    response = run(grader=multi, model_sample="5", item={"answer": "4"})
    assert (response.reward, response.sub_rewards, flags(response)) == (None, {"a": 0.0}, {"other_error"})
    reads: Any = {**CHECK, "input": "{{sample.output_json.a}}"}
    response = run(grader=reads, model_sample="no json", item={"answer": "4"})
    assert (response.reward, flags(response)) == (0.0, {"sample_parse_error"})


def test_code_runs_on_the_cluster(client: openai.OpenAI, live_server: Any) -> None:
    with cluster(live_server.url, lambda _: graded(g0=0.5)) as taken:
        response = client.fine_tuning.alpha.graders.run(grader=PYTHON, model_sample="x", item={"a": 1})
    assert (response.reward, response.metadata.scores, flags(response)) == (0.5, {"mine": 0.5}, set())
    assert response.metadata.execution_time == 0.25
    [document] = taken
    assert document["samples"][0] == {
        "id": "s0", "output_text": "x", "item": {"a": 1}, "completion_tokens": None, "finish_reason": "stop",
        "probe": None,
    }  # fmt: skip
    assert BenchJob.objects.get().hidden


def test_the_parts_of_a_multi_are_kept_apart(client: openai.OpenAI, live_server: Any) -> None:
    multi: Any = {
        "type": "multi", "name": "m", "graders": {"Mine": PYTHON, "same": CHECK}, "calculate_output": "max(Mine, same)"
    }  # fmt: skip
    with cluster(live_server.url, lambda _: graded(g0=0.25, g1=1.0)):
        response = client.fine_tuning.alpha.graders.run(grader=multi, model_sample="x", item={"answer": "x"})
    assert (response.reward, response.sub_rewards) == (1.0, {"Mine": 0.25, "same": 1.0})
    with cluster(live_server.url, lambda _: failed("g0: the grader returned no number\nTraceback: …", g1=1.0)):
        response = client.fine_tuning.alpha.graders.run(grader=multi, model_sample="x", item={"answer": "x"})
    assert (response.reward, response.sub_rewards) == (None, {"same": 1.0})
    assert flags(response) == {"python_grader_runtime_error"}
    details = response.metadata.errors.python_grader_runtime_error_details
    assert details is not None
    assert details.endswith("Traceback: …")


def test_a_score_that_takes_too_long(client: openai.OpenAI, live_server: Any) -> None:
    with cluster(live_server.url, lambda _: failed("the reward took longer than 45 s")):
        response = client.fine_tuning.alpha.graders.run(grader=PYTHON, model_sample="x")
    assert (response.reward, flags(response)) == (None, {"unresponsive_reward_error"})


def test_judges(client: openai.OpenAI, live_server: Any, team: Team, actor: Actor) -> None:
    create_judge_endpoint(team, actor, name="Default", slug="default", base_url="http://j/v1", model="judge-8b")
    judge = {"calls": 1, "prompt_tokens": 20, "completion_tokens": 4}
    with cluster(live_server.url, lambda _: {**graded(g0=7.0), "judge": judge}) as taken:
        response = client.fine_tuning.alpha.graders.run(grader=SCORE, model_sample="x")
    assert taken[0]["judges"]["default"]["base_url"] == "http://j/v1"
    assert (response.reward, response.metadata.token_usage) == (7.0, 24)
    assert response.metadata.sampled_model_name == "judge-8b"
    assert response.api_model_grader_token_usage_per_model == {
        "judge-8b": {"prompt_tokens": 20, "completion_tokens": 4, "total_tokens": 24, "cached_tokens": 0}
    }
    with cluster(live_server.url, lambda _: failed("g0: the judge did not answer")):
        response = client.fine_tuning.alpha.graders.run(grader=SCORE, model_sample="x")
    assert (response.reward, flags(response)) == (None, {"api_model_grader_server_error"})
    assert response.metadata.errors.api_model_grader_server_error_details == "the judge did not answer"
    with pytest.raises(JudgeError) as unreadable:
        read_json("4", {"type": "string"})
    with cluster(live_server.url, lambda _: failed(f"g0: {unreadable.value}")):
        response = client.fine_tuning.alpha.graders.run(grader=SCORE, model_sample="x")
    assert (response.reward, flags(response)) == (None, {"api_model_grader_parse_error"})


def test_a_cluster_that_does_not_answer(client: openai.OpenAI, live_server: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(running, "WAIT_S", 0.2)
    response = client.fine_tuning.alpha.graders.run(grader=PYTHON, model_sample="x")
    assert (response.reward, flags(response)) == (None, {"unresponsive_reward_error"})
    assert BenchJob.objects.get().error == "No request waits for the answer any more."
    monkeypatch.setattr(running, "WAIT_S", 60.0)
    with cluster(live_server.url, lambda _: {"error": "There is no jail."}):
        response = client.fine_tuning.alpha.graders.run(grader=PYTHON, model_sample="x")
    assert (response.reward, flags(response)) == (None, {"other_error"})
    assert response.metadata.errors.to_dict()["other_error_details"] == "There is no jail."


def test_callers_who_wait_leave_threads_for_others(client: openai.OpenAI) -> None:
    # Of all teams together; the rest of the threads is for requests that wait for nothing.
    waiting = running.WAITING.places + grading.MOST_WAITING + grading.PROCESSES
    assert waiting + FILES.places <= THREADS - 8
    with ExitStack() as places:
        for number in range(running.WAITING.places):
            places.enter_context(running.WAITING.place(f"team {number}"))
        with pytest.raises(openai.InternalServerError, match="8 graders that need the cluster") as refused:
            client.fine_tuning.alpha.graders.run(grader=PYTHON, model_sample="x")
        assert (refused.value.status_code, refused.value.code) == (503, "graders_busy")
        assert refused.value.response.headers["Retry-After"] == "5"
        assert not BenchJob.objects.exists()
    with running.WAITING.place("team 1"):
        pass


def test_graders_that_look_at_the_length(client: openai.OpenAI) -> None:
    grader: Any = {"type": "length_penalty", "free": 4, "full": 8}
    client.fine_tuning.alpha.graders.validate(grader=grader)
    with pytest.raises(openai.UnprocessableEntityError, match="number of tokens"):
        client.fine_tuning.alpha.graders.run(grader=grader, model_sample="x")


def test_who_may(live_server: Any, team: Team, actor: Actor) -> None:
    _, secret = token_of(team, Role.VIEWER)
    viewer = openai.OpenAI(base_url=f"{live_server.url}/api/v1", api_key=secret, max_retries=0)
    viewer.fine_tuning.alpha.graders.validate(grader=CHECK)
    with pytest.raises(openai.PermissionDeniedError):
        viewer.fine_tuning.alpha.graders.run(grader=CHECK, model_sample="x")
    stranger = openai.OpenAI(base_url=f"{live_server.url}/api/v1", api_key="drs_wrong", max_retries=0)
    with pytest.raises(openai.AuthenticationError):
        stranger.fine_tuning.alpha.graders.validate(grader=CHECK)


@pytest.mark.parametrize("path", ["validate", "run"])
def test_a_formula_that_is_nested_too_deeply_is_refused(api: Callable[..., Any], path: str) -> None:
    grader = {"type": "multi", "name": "deep", "graders": {"a": CHECK}, "calculate_output": "-" * 1900 + "a"}
    body = {"grader": grader, **({"model_sample": "x", "item": {"answer": "x"}} if path == "run" else {})}
    response = api("editor").post(f"/api/v1/fine_tuning/alpha/graders/{path}", body, format="json")
    told = "the formula is nested more than 300 levels deep: write it with fewer operators"
    assert (response.status_code, response.json()["errors"]) == (422, [{"pointer": "/grader", "detail": told}])
