"""Plans for clusters over REST: sizes, prices, lengths of runs, what does not fit, and whose policies are read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.policies.models import Policy
from dressage.runs.models import Run
from dressage.teams.models import Team
from tests.platform.runs.fixtures import Worker, spec_document
from tests.platform.runs.test_plan_api import report
from tests.trainer_core.planning.test_compute import folder

URL = "/api/v1/spec/plan/clusters"


@pytest.fixture
def tiny(team: Team, nouns: Path) -> Policy:
    """The policy of the specs, with weights."""
    policy = Policy.objects.get(team=team, slug="small")
    folder(Path(policy.path), {}, {"model.embed_tokens.weight": (10, 4), "model.layers.0.mlp.up_proj.weight": (8, 4)})
    return policy


def ask(client: APIClient, status: int = 200, **body: Any) -> Any:
    answer = client.post(URL, {"spec": spec_document(), **body}, format="json")
    assert answer.status_code == status, answer.content
    return answer.json()


def test_three_sizes_are_estimated_unless_others_are_named(api: Callable[..., APIClient], tiny: Policy) -> None:
    viewer = api("viewer")
    found = ask(viewer, price=2.5)
    assert [one["gpus"] for one in found["estimates"]] == [8, 64, 1024]
    assert (found["gpu"], found["prompt_tokens"]) == ("H100", 512.0)
    assert found["tokens_source"] == "an assumption: no run with this policy has reported its own"
    for one in found["estimates"]:
        assert one["refusal"] is None
        assert sum(one["shares"].values()) == pytest.approx(1.0)
        assert one["cost"] == pytest.approx(2.5 * one["gpu_hours"])
        used = one["gpus"] - one["unused_gpus"]
        assert one["rollout_gpus"] + one["learner_gpus"] == used
        assert one["gpu_hours"] == pytest.approx(used * one["step_seconds"] * 1000 / 3600)
    [other] = ask(viewer, gpus=[16], gpu="H200")["estimates"]
    assert (other["gpus"], other["cost"]) == (16, None)


def test_a_run_of_the_policy_tells_the_lengths(
    api: Callable[..., APIClient], tiny: Policy, launch: Callable[..., tuple[Run, Worker]]
) -> None:
    _, worker = launch("shown")
    report(worker)
    viewer = api("viewer")
    found = ask(viewer)
    assert found["tokens_source"] == "the run 'shown'"
    assert found["prompt_tokens"] != 512.0
    given = ask(viewer, prompt_tokens=7, median_tokens=3)
    assert (given["tokens_source"], given["prompt_tokens"]) == ("the request", 7.0)


def test_what_does_not_fit_is_told_in_the_answer(api: Callable[..., APIClient], tiny: Policy) -> None:
    [one] = ask(api("viewer"), gpus=[1])["estimates"]
    assert one["refusal"] == "one rollout engine needs 1 GPU and one copy of the learner 1 GPU; there are 1."
    assert one["step_seconds"] is None and one["shares"] is None


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"gpus": [12]}, "/gpus"),
        ({"gpus": []}, "/gpus"),
        ({"gpus": [0]}, "/gpus/0"),
        ({"gpu": "abacus"}, "/gpu"),
        ({"price": -1}, "/price"),
        ({"spec": spec_document(policy={"base": "nobody"})}, "/spec/policy/base"),
    ],
)
def test_faults_are_pointed_at(api: Callable[..., APIClient], tiny: Policy, body: dict[str, Any], pointer: str) -> None:
    answer = ask(api("viewer"), 422, **body)
    assert [fault["pointer"] for fault in answer["errors"]] == [pointer]


def test_another_teams_policy_is_not_read(api: Callable[..., APIClient], tiny: Policy, other_team: Team) -> None:
    answer = ask(api("operator", team=other_team), 422)
    assert answer["errors"][0]["detail"] == (
        "The size of the policy 'small' is unknown: There is no policy 'small' in this team."
    )
