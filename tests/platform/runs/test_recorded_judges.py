"""A reward version keeps its judges: whatever becomes of an endpoint, no run is scored by another model unawares."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.bench.models import BenchJob
from dressage.policies.models import Policy
from dressage.rewards.models import JudgeEndpoint, RewardVersion
from dressage.runs.models import Checkpoint, Control, Run
from dressage.runs.sweep.reconcile import sweep
from dressage.teams.models import Team
from tests.platform.runs.fixtures import Worker, expire_lease, spec_document

Launch = Callable[..., tuple[Run, Worker]]
Clients = Callable[..., APIClient]
KEY = "sk-very-secret-0123456789"
ITEMS = [{"name": "clear", "description": "Is clear."}]
FIRST = {"base_url": "http://localhost:1/v1", "policy": "", "model": "large"}
JUDGED = {"reward": {"definition": "quality@1"}}
NOW_SMALL = (
    "quality@1: The judge endpoint 'strict' was the model 'large' at http://localhost:1/v1 when this version was made, "
    "and is now the model 'small' at http://localhost:1/v1. Create a new version of the reward, or change the endpoint "
    "back."
)


def rubric(endpoint: str = "strict") -> dict[str, Any]:
    return {"components": [{"name": "quality", "grader": {"type": "rubric", "endpoint": endpoint, "items": ITEMS}}]}


def address(judge: str) -> str:
    return f"/api/v1/judge-endpoints/{judge}"


@pytest.fixture
def admin(api: Clients, nouns: Any) -> APIClient:
    return api("admin")


@pytest.fixture
def judge(admin: APIClient) -> str:
    """The endpoint ``strict`` without a key, which ``quality@1`` names."""
    made = make_judge(admin)
    answer = admin.post("/api/v1/rewards", {"name": "Quality", "definition": rubric()}, format="json")
    assert answer.status_code == 201, answer.content
    return made


def make_judge(client: APIClient, **fields: Any) -> str:
    body = {"name": "Strict", "base_url": FIRST["base_url"], "model": "large", **fields}
    made = client.post("/api/v1/judge-endpoints", body, format="json")
    assert made.status_code == 201, made.content
    return str(made.json()["id"])


def patch(client: APIClient, judge: str, **fields: Any) -> None:
    answer = client.patch(address(judge), fields, format="json")
    assert answer.status_code == 200, answer.content


def new_run(client: APIClient, reward: str = "quality@1", **parts: Any) -> Any:
    spec = spec_document(reward={"definition": reward, **parts})
    return client.post("/api/v1/runs", {"name": "n", "spec": spec}, format="json")


def next_bundle(run: Run) -> Any:
    """The bundle of a new attempt, after the worker was lost."""
    expire_lease(run)
    sweep()
    run.refresh_from_db()
    assert run.state == "starting"
    return Worker(run.id, run.attempt).get("bundle").json()


def patched(client: APIClient, judge: str) -> None:
    patch(client, judge, model="small")


def made_again(client: APIClient, judge: str) -> None:
    assert client.delete(address(judge)).status_code == 204
    make_judge(client, model="small")


CHANGES = [patched, made_again]


def test_a_version_shows_what_its_judges_were(admin: APIClient, judge: str) -> None:
    patch(admin, judge, model="small")
    [quality] = [one for one in admin.get("/api/v1/rewards").json()["data"] if one["slug"] == "quality"]
    assert quality["latest_version"]["judges"] == {"strict": FIRST}
    again = admin.post(f"/api/v1/rewards/{quality['id']}/versions", {"definition": rubric()}, format="json").json()
    assert again["judges"] == {"strict": {**FIRST, "model": "small"}}
    [exact] = [one for one in admin.get("/api/v1/rewards").json()["data"] if one["slug"] == "exact"]
    assert exact["latest_version"]["judges"] == {}


@pytest.mark.parametrize("change", CHANGES)
def test_a_new_run_is_refused_and_a_new_version_trains(
    admin: APIClient, judge: str, change: Callable[[APIClient, str], None]
) -> None:
    change(admin, judge)
    refused = new_run(admin)
    assert refused.status_code == 422
    assert refused.json()["errors"] == [{"pointer": "/spec/reward/definition", "detail": NOW_SMALL}]
    assert Run.objects.count() == 0
    shadow = new_run(admin, "exact@1", shadow=["quality@1"])
    assert shadow.json()["errors"] == [{"pointer": "/spec/reward/shadow/0", "detail": NOW_SMALL}]
    quality = RewardVersion.objects.get(reward__slug="quality").reward_id
    admin.post(f"/api/v1/rewards/{quality}/versions", {"definition": rubric()}, format="json")
    assert new_run(admin, "quality@2").status_code == 201


@pytest.mark.parametrize(
    ("fields", "now"),
    [
        ({"base_url": "http://localhost:2/v1"}, "the model 'large' at http://localhost:2/v1"),
        ({"base_url": None, "policy": "small"}, "the model 'large' served from the policy 'small'"),
    ],
)
def test_another_address_is_another_judge(admin: APIClient, judge: str, fields: dict[str, Any], now: str) -> None:
    patch(admin, judge, **fields)
    refused = new_run(admin)
    assert (refused.status_code, f"and is now {now}. " in refused.json()["detail"]) == (422, True)
    patch(admin, judge, base_url=FIRST["base_url"], policy=None)
    assert new_run(admin).status_code == 201


@pytest.mark.parametrize(
    "fields", [{"name": "Other"}, {"api_key": KEY}, {"max_in_flight": 2, "timeout_s": 5.0}, {"price_prompt": 1.0}]
)
def test_keys_limits_and_prices_may_change(admin: APIClient, judge: str, fields: dict[str, Any]) -> None:
    patch(admin, judge, **fields)
    assert new_run(admin).status_code == 201


@pytest.mark.parametrize("change", CHANGES)
def test_other_new_uses_are_refused(
    admin: APIClient, judge: str, change: Callable[[APIClient, str], None], launch: Launch
) -> None:
    run, worker = launch()
    draft = new_run(admin).json()["id"]
    Run.objects.filter(pk=draft).update(state="cancelled")  # so that the endpoint may be deleted
    change(admin, judge)
    Run.objects.filter(pk=draft).update(state="draft")
    assert admin.post(f"/api/v1/runs/{draft}/start").json()["detail"] == NOW_SMALL
    validated = admin.post("/api/v1/spec/validate", {"spec": spec_document(**JUDGED)}, format="json").json()
    assert [fault["detail"] for fault in validated["errors"]] == [NOW_SMALL]
    samples = [{"output_text": "1", "item": {"prompt": "1+1=", "answer": "2"}}]
    bench = {"definitions": [{"ref": "quality@1"}], "samples": samples}
    benched = admin.post("/api/v1/rewards/bench", bench, format="json")
    assert (benched.status_code, BenchJob.objects.count()) == (422, 0)
    assert benched.json()["errors"] == [
        {"pointer": "/definitions/0/ref", "detail": NOW_SMALL.removeprefix("quality@1: ")}
    ]
    for target, value in (("reward.shadow", ["quality@1"]), ("reward.definition", "quality@1")):
        body = {"target": target, "value": value}
        staged = admin.post(f"/api/v1/runs/{run.id}/controls", body, format="json", headers={"If-Match": "0"})
        assert (staged.status_code, staged.json()["detail"]) == (422, NOW_SMALL)
    assert (Control.objects.count(), worker.sync()["commands"]) == (0, [])


@pytest.mark.parametrize("checkpoints", [False, True])
def test_a_run_keeps_the_judge_it_began_with(admin: APIClient, judge: str, launch: Launch, checkpoints: bool) -> None:
    run, worker = launch(**JUDGED)
    before = worker.get("bundle").json()["judges"]["strict"]
    if checkpoints:
        worker.steps(1, 2)
        worker.checkpoint(2)
    patch(admin, judge, base_url="http://localhost:2/v1", model="small", api_key=KEY, timeout_s=5.0)
    after = next_bundle(run)["judges"]["strict"]
    assert (after["base_url"], after["model"]) == (before["base_url"], before["model"]) == (
        FIRST["base_url"], FIRST["model"],
    )  # fmt: skip
    assert after.get("api_key") is None, "a key goes to no other address than its own"
    assert after["timeout_s"] == 5.0
    assert JudgeEndpoint.objects.get().model == "small"


def test_another_model_at_the_same_address_keeps_the_key(admin: APIClient, judge: str, launch: Launch) -> None:
    run, _ = launch(**JUDGED)
    patch(admin, judge, model="small", api_key=KEY)
    after = next_bundle(run)["judges"]["strict"]
    assert (after["model"], after["api_key"]) == ("large", KEY)


def test_a_run_resumes_and_is_steered_after_the_change(admin: APIClient, judge: str, launch: Launch) -> None:
    run, worker = launch(**JUDGED)
    patch(admin, judge, model="small")
    body = {"target": "reward.shadow", "value": ["exact@1"]}
    staged = admin.post(f"/api/v1/runs/{run.id}/controls", body, format="json", headers={"If-Match": "0"})
    assert staged.status_code == 202, staged.content
    worker.state("failed", "out of memory")
    assert admin.post(f"/api/v1/runs/{run.id}/resume").status_code == 202
    sweep()
    assert Worker(run.id, 2).get("bundle").json()["judges"]["strict"]["model"] == "large"


def test_a_run_has_one_judge_of_each_name(admin: APIClient, judge: str, launch: Launch) -> None:
    run, _ = launch(**JUDGED)
    patch(admin, judge, model="small")
    quality = RewardVersion.objects.get(reward__slug="quality").reward_id
    admin.post(f"/api/v1/rewards/{quality}/versions", {"definition": rubric()}, format="json")
    body = {"target": "reward.shadow", "value": ["quality@2"]}
    refused = admin.post(f"/api/v1/runs/{run.id}/controls", body, format="json", headers={"If-Match": "0"})
    assert refused.status_code == 422
    assert "quality@2 means the model 'small' at" in refused.json()["detail"]
    assert "quality@1 means the model 'large' at" in refused.json()["detail"]
    assert Control.objects.count() == 0


def test_a_rewind_keeps_the_judge_and_a_fork_is_refused(admin: APIClient, judge: str, launch: Launch) -> None:
    run, worker = launch(**JUDGED)
    worker.steps(1, 2)
    worker.checkpoint(2)
    body = {"target": "thinking.budget", "value": 10}
    control = admin.post(f"/api/v1/runs/{run.id}/controls", body, format="json", headers={"If-Match": "0"}).json()
    worker.sync(applied=[{"control_id": control["id"], "state": "applied", "step": 3}])
    patch(admin, judge, model="small")
    rewound = admin.post(f"/api/v1/runs/{run.id}/controls/{control['id']}/rewind")
    assert rewound.status_code == 201, rewound.content
    forked = admin.post(f"/api/v1/runs/{run.id}/fork", {"checkpoint": Checkpoint.objects.get().id}, format="json")
    assert (forked.status_code, forked.json()["detail"]) == (422, NOW_SMALL)
    assert Run.objects.count() == 2


def test_a_keyed_address_that_a_run_asks_stays(admin: APIClient, judge: str, launch: Launch) -> None:
    """The run would lose the key of its own address, which the new one replaces."""
    patch(admin, judge, api_key=KEY)
    run, _ = launch(**JUDGED)
    moved = {"base_url": "http://localhost:2/v1", "api_key": KEY + "2"}
    refused = admin.patch(address(judge), moved, format="json")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "judge_in_use")
    assert repr(run.name) in refused.json()["detail"]
    assert JudgeEndpoint.objects.get().base_url == FIRST["base_url"]
    patch(admin, judge, api_key=KEY + "3")
    assert next_bundle(run)["judges"]["strict"]["api_key"] == KEY + "3"
    Worker(run.id, run.attempt).state("succeeded", "all steps are done")
    patch(admin, judge, **moved)


@pytest.fixture
def unrecorded(judge: str) -> RewardVersion:
    """``quality@1`` as an earlier release made it."""
    RewardVersion.objects.update(judges=None)
    found = RewardVersion.objects.get(reward__slug="quality")
    assert RewardVersion.objects.filter(judges__isnull=True).count() == 2
    return found


def test_an_earlier_version_is_recorded_at_its_next_use(
    admin: APIClient, unrecorded: RewardVersion, launch: Launch
) -> None:
    shown = admin.get(f"/api/v1/rewards/{unrecorded.reward_id}").json()["latest_version"]
    assert shown["judges"] is None
    assert new_run(admin).status_code == 201
    unrecorded.refresh_from_db()
    assert unrecorded.judges == {"strict": FIRST}


def test_an_earlier_run_records_its_judges_when_it_goes_on(unrecorded: RewardVersion, launch: Launch) -> None:
    run, _ = launch(**JUDGED)
    RewardVersion.objects.update(judges=None)
    next_bundle(run)
    unrecorded.refresh_from_db()
    assert unrecorded.judges == {"strict": FIRST}


@pytest.mark.parametrize("change", CHANGES)
def test_an_earlier_version_is_recorded_before_its_endpoint_changes(
    admin: APIClient, unrecorded: RewardVersion, judge: str, change: Callable[[APIClient, str], None]
) -> None:
    change(admin, judge)
    unrecorded.refresh_from_db()
    assert unrecorded.judges == {"strict": FIRST}
    assert RewardVersion.objects.get(reward__slug="exact").judges is None
    assert new_run(admin).json()["detail"] == NOW_SMALL


def test_a_version_of_another_team_is_not_recorded(
    unrecorded: RewardVersion, judge: str, api: Clients, other_team: Team
) -> None:
    other = api("admin", team=other_team)
    theirs = make_judge(other, model="theirs")
    patch(other, theirs, model="changed")
    unrecorded.refresh_from_db()
    assert unrecorded.judges is None


def test_a_served_judge_is_recorded_by_its_policy(admin: APIClient, team: Team) -> None:
    assert Policy.objects.get(team=team).slug == "small"
    made = make_judge(admin, base_url=None, policy="small")
    admin.post("/api/v1/rewards", {"name": "Quality", "definition": rubric()}, format="json")
    recorded = RewardVersion.objects.get(reward__slug="quality").judges
    assert recorded == {"strict": {"base_url": "", "policy": "small", "model": "large"}}
    patch(admin, made, base_url="http://localhost:1/v1", policy=None)
    assert "was the model 'large' served from the policy 'small'" in new_run(admin).json()["detail"]
