"""Plans over REST: rates that are given, rates that a run has shown, and whose runs may be asked."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.runs.models import Run
from dressage.teams.models import Team
from tests.platform.runs.fixtures import Worker, spec_document, step_event
from tests.support.about import PLATFORM
from tests.trainer_core.planning.rates_for_planning import BY_HAND
from tests.trainer_core.planning.test_from_run import steps

Launch = Callable[..., tuple[Run, Worker]]
URL = "/api/v1/spec/plan"
RATES: dict[str, Any] = {**BY_HAND, "lengths": {"type": "empirical", "tokens": [20]}}


def ask(client: APIClient, status: int = 200, **body: Any) -> Any:
    answer = client.post(URL, {"spec": spec_document(), "gpus": 4, **body}, format="json")
    assert answer.status_code == status, answer.content
    return answer.json()


def report(worker: Worker, first: int = 1, last: int = 12) -> None:
    """Steps with all the metrics that a plan needs."""
    worker.sync(*(step_event(number, **metrics) for number, metrics in enumerate(steps(last), 1) if number >= first))


def test_rates_that_are_given(api: Callable[..., APIClient]) -> None:
    found = ask(api("viewer"), rates=RATES, price=2.5)
    assert [mode["mode"] for mode in found["modes"]] == ["sync", "streamed", "async", "in_flight"]
    assert (found["gpus"], found["source"], found["run"]) == (4, "made up for a test", None)
    assert found["mean_tokens"] == pytest.approx(20.0)
    current = found["current"]
    assert current["mode"] == "sync"
    assert current["cost"] == pytest.approx(2.5 * current["gpu_hours"])
    assert current["total_seconds"] == pytest.approx(spec_document()["schedule"]["steps"] * current["step_seconds"])


@pytest.mark.expensive(2, "walks over many requests", about=PLATFORM)
def test_the_newest_run_of_the_policy_tells_its_rates(api: Callable[..., APIClient], launch: Launch) -> None:
    older, worker = launch("older")
    report(worker)
    worker.state("succeeded")
    newer, worker = launch("newer")
    report(worker, last=3)  # too few to tell
    viewer = api("viewer")
    assert ask(viewer)["run"] == older.id
    report(worker, first=4)
    found = ask(viewer)
    assert (found["run"], found["source"]) == (newer.id, "the run 'newer'")
    assert ask(viewer, run=older.id)["run"] == older.id


def test_what_a_later_attempt_has_replaced_does_not_count(api: Callable[..., APIClient], launch: Launch) -> None:
    run, worker = launch()
    report(worker)
    run.attempts.create(number=2, resume_step=3, token_sha256="x", created_at=run.created_at)
    answer = ask(api("viewer"), 422, run=run.id)
    assert "there are 3" in answer["detail"]


def test_without_rates_there_is_no_plan(api: Callable[..., APIClient], make_run: Callable[..., Run]) -> None:
    run = make_run()
    viewer = api("viewer")
    answer = ask(viewer, 422)
    assert answer["error"]["code"] == "no_rates"
    assert answer["detail"].startswith("No run of this team with the policy 'small'")
    answer = ask(viewer, 422, run=run.id)
    assert (answer["error"]["code"], answer["errors"][0]["pointer"]) == ("no_rates", "/run")
    assert "there are 0" in answer["detail"]


def test_other_teams_runs_are_not_asked(api: Callable[..., APIClient], launch: Launch, other_team: Team) -> None:
    run, worker = launch()
    report(worker)
    stranger = api("operator", team=other_team)
    assert ask(stranger, 422)["error"]["code"] == "no_rates"
    assert ask(stranger, 404, run=run.id)["error"]["code"] == "not_found"


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"gpus": 1}, "/gpus"),
        ({"gpus": 0}, "/gpus"),
        ({"rates": {**RATES, "prompt_tokens": 1e6}}, "/spec/rollout/max_tokens"),
        ({"rates": {**RATES, "learner": {"tokens_per_s": -1}}}, "/rates/learner/tokens_per_s"),
        ({"run": "run_x"}, "/run"),
        ({"spec": spec_document(rollout={"max_tokens": 200})}, "/spec/rollout/max_tokens"),
        ({"price": -1}, "/price"),
    ],
)
def test_faults_are_pointed_at(api: Callable[..., APIClient], body: dict[str, Any], pointer: str) -> None:
    answer = ask(api("viewer"), 422, **{"rates": RATES, **body})
    assert [fault["pointer"] for fault in answer["errors"]] == [pointer]


def test_nobody_plans_without_a_session(db: None, nouns: Path) -> None:
    assert APIClient().post(URL, {}, format="json").status_code == 401
