"""Runs that learn from the rows of datasets have neither rewards nor engines, wherever they are read or written."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from rest_framework.test import APIClient

from dressage.clusters.sizes import ClusterSize, too_large
from dressage.common.actors import Actor
from dressage.datasets.services import create_dataset
from dressage.runs.models import Run
from dressage.runs.needs.choice import reservation_of
from dressage.runs.sweep import reconcile
from dressage.runs.watch.judge_usage import run_that_asks
from dressage.teams.models import Team
from tests.platform.runs.fixtures import Worker, spec_document
from tests.trainer_core.planning.rates_for_planning import BY_HAND
from trainer_core.link.bundle import Bundle
from trainer_core.link.cluster import ClusterReport, GpuKind
from trainer_core.spec import RunSpec

SFT: dict[str, Any] = {
    "policy": {"base": "small"},
    "data": {"sources": [{"name": "add", "dataset": "worked@1"}]},
    "objective": {"type": "sft", "max_tokens": 96, "noise": 5.0},
    "evaluation": {"every_steps": 10, "sources": [{"name": "held", "dataset": "worked-eval@1"}]},
    "schedule": {"steps": 40, "prompts_per_step": 2},
}
PREFERENCE: dict[str, Any] = {
    **SFT,
    "data": {"sources": [{"name": "add", "dataset": "pairs@1"}]},
    "objective": {"type": "preference", "max_tokens": 96, "loss": {"type": "dpo", "beta": 0.2}},
    "evaluation": {"sources": []},
}
KINDS = pytest.mark.parametrize("document", [SFT, PREFERENCE], ids=["sft", "preference"])
Api = Callable[..., APIClient]


@pytest.fixture
def rows(nouns: Path, team: Team, actor: Actor) -> None:
    """The datasets that the specs name, beside what other runs need."""
    worked = b'{"prompt": "1+1=", "completion": "2"}\n{"prompt": "1+2=", "completion": "3"}\n'
    held = b'{"prompt": "2+2=", "completion": "4"}\n'
    pairs = b'{"prompt": "1+1=", "chosen": "2", "rejected": "3"}\n{"prompt": "1+2=", "chosen": "3", "rejected": "2"}\n'
    for name, lines in (("Worked", worked), ("Worked eval", held), ("Pairs", pairs)):
        create_dataset(team, actor, name=name, file=BytesIO(lines), size=len(lines))


def create(api: Api, document: dict[str, Any], status: int = 201, **more: Any) -> Any:
    body = {"name": "learns", "spec": document, **more}
    answer = api("operator").post("/api/v1/runs", body, format="json")
    assert answer.status_code == status, answer.content
    return answer.json()


def begin(api: Api, document: dict[str, Any]) -> tuple[Run, Worker]:
    """A run that trains, and its worker."""
    return started(api, create(api, document)["id"])


def started(api: Api, run_id: str) -> tuple[Run, Worker]:
    """A draft that trains now, and its worker."""
    assert api("operator").post(f"/api/v1/runs/{run_id}/start", {}, format="json").status_code == 202
    reconcile.sweep()
    run = Run.objects.get(pk=run_id)
    worker = Worker(run.id, run.attempt)
    worker.state("running")
    return run, worker


@KINDS
def test_a_run_that_learns_from_rows_is_created_and_shown(api: Api, rows: None, document: dict[str, Any]) -> None:
    made = create(api, document)
    assert made["objective"] == document["objective"]["type"]
    for spec in (made["spec"], made["effective_spec"]):
        assert not {"reward", "rollout", "loss", "kl", "filters"} & spec.keys()
        assert RunSpec.model_validate(spec) == RunSpec.model_validate(document)
    [listed] = api("viewer").get("/api/v1/runs").json()["data"]
    assert (listed["id"], listed["objective"]) == (made["id"], document["objective"]["type"])
    assert (listed["summary"]["loss"], listed["summary"]["eval_loss"]) == (None, None)


def test_a_run_from_before_objectives_has_rewards(api: Api, make_run: Callable[..., Run]) -> None:
    run = make_run()
    old = {name: part for name, part in run.spec.items() if name != "objective"}
    Run.objects.filter(pk=run.pk).update(spec=old, effective_spec=old)
    assert api("viewer").get(f"/api/v1/runs/{run.id}").json()["objective"] == "rl"


@KINDS
def test_a_valid_spec_is_explained_without_rewards(api: Api, rows: None, document: dict[str, Any]) -> None:
    answer = api("viewer").post("/api/v1/spec/validate", {"spec": document}, format="json").json()
    assert (answer["valid"], answer["errors"]) == (True, [])
    assert answer["resolved"].keys() == set(RunSpec.model_validate(document).members)


@KINDS
@pytest.mark.parametrize("section", ["reward", "rollout", "filters", "kl"])
def test_sections_of_rewards_are_refused(api: Api, rows: None, document: dict[str, Any], section: str) -> None:
    given = spec_document(filters=[], kl={"coefficient": 0.1})[section]
    told = create(api, {**document, section: given}, 422)
    assert told["errors"][0]["pointer"] == f"/spec/{section}"
    assert told["errors"][0]["detail"].endswith(f"samples no completions: remove {section}")
    assert Run.objects.count() == 0


def test_a_run_with_rewards_still_needs_one(api: Api, rows: None) -> None:
    document = spec_document()
    del document["reward"]
    assert create(api, document, 422)["errors"] == [{"pointer": "/spec/reward", "detail": "Field required"}]


@KINDS
def test_the_worker_gets_rows_and_no_reward(api: Api, rows: None, document: dict[str, Any]) -> None:
    _, worker = begin(api, document)
    bundle = Bundle.model_validate(worker.get("bundle").json())
    named = [source["dataset"] for part in ("data", "evaluation") for source in document[part]["sources"]]
    assert bundle.datasets.keys() == set(named)
    assert (bundle.reward, bundle.judges, bundle.shadow, bundle.reference) == (None, {}, {}, None)
    assert bundle.spec == RunSpec.model_validate(document)
    for ref in named:
        assert worker.get(f"datasets/{ref}")["Content-Type"] == "application/vnd.apache.parquet"
    worker.get("datasets/sums@1", status=404)


@KINDS
def test_it_reports_losses_and_no_rewards(api: Api, rows: None, document: dict[str, Any]) -> None:
    run, worker = begin(api, document)
    name = "sft/loss" if document["objective"]["type"] == "sft" else "preference/loss"
    ledger = {"handed_out": 2, "trained": 1, "rejected": {}, "dropped": {"overlong": 1}, "pending": 0, "earlier": 0}
    data = {"metrics": {name: 1.25, "actor/grad_norm": 1.0}, "tokens_total": 20, "seconds": 2.0, "ledger": ledger}
    held = {"eval/held/loss": 1.5, "eval/held/loss/first": 1.0, "eval/other/loss": 2.5}
    worker.sync({"kind": "step", "step": 1, "data": data}, {"kind": "eval", "step": 1, "data": {"metrics": held}})
    shown = api("viewer").get(f"/api/v1/runs/{run.id}").json()
    summary = shown["summary"]
    assert (summary["loss"], summary["eval_loss"], summary["reward"], summary["eval"]) == (1.25, 2.0, None, None)
    assert shown["ledger"] == {"step": 1, **ledger}
    assert api("viewer").get(f"/api/v1/runs/{run.id}/incidents").json()["data"] == []


@KINDS
def test_it_is_steered_forked_and_rewound(api: Api, rows: None, document: dict[str, Any]) -> None:
    run, worker = begin(api, document)
    client, url = api("operator"), f"/api/v1/runs/{run.id}"
    targets = {one["path"]: one["value"] for one in client.get(f"{url}/targets").json()["data"]}
    own = "objective.noise" if document["objective"]["type"] == "sft" else "objective.loss.beta"
    assert {own, "optimizer.learning_rate", "guards"} <= targets.keys()
    assert not {path.split(".")[0] for path in targets} & {"reward", "rollout", "loss", "kl"}

    def stage(revision: int, target: str, value: Any, status: int) -> Any:
        body = {"target": target, "value": value}
        answer = client.post(f"{url}/controls", body, format="json", headers={"If-Match": f'"{revision}"'})
        assert answer.status_code == status, answer.content
        return answer.json()

    control = stage(0, own, 7.0, 202)
    assert stage(1, "reward.definition", "exact@1", 422)["errors"][0]["pointer"] == "/target"
    assert stage(1, own, -1.0, 422)["errors"][0]["pointer"] == "/value"
    assert stage(1, "guards", [{"metric": "critic/score/mean", "min": 0.1}], 422)["errors"][0]["pointer"] == "/value"
    worker.step(1)
    worker.checkpoint(1)
    worker.sync(applied=[{"control_id": control["id"], "state": "applied", "step": 2, "policy_version": 1}])
    forked = client.post(f"{url}/fork", {}, format="json").json()
    assert (forked["objective"], forked["parent"]["step"]) == (document["objective"]["type"], 1)
    assert value_at(forked["spec"], own) == 7.0
    rewound = client.post(f"{url}/controls/{control['id']}/rewind", {}, format="json").json()
    assert (rewound["spec"], rewound["parent"]["continues"]) == (run.spec, True)


@pytest.mark.parametrize(("parent", "child"), [(SFT, PREFERENCE), (SFT, spec_document()), (spec_document(), SFT)])
def test_a_fork_keeps_the_objective(api: Api, rows: None, parent: dict[str, Any], child: dict[str, Any]) -> None:
    run, worker = begin(api, parent)
    worker.step(1)
    worker.checkpoint(1)
    [saved] = api("viewer").get(f"/api/v1/runs/{run.id}/checkpoints").json()["data"]
    other = create(api, child)
    for url, spec in ((f"/api/v1/runs/{run.id}/fork", child), (f"/api/v1/runs/{other['id']}/fork", child)):
        body = {"spec": spec, "checkpoint": saved["id"]}
        answer = api("editor").post(url, body, format="json")
        assert answer.status_code == 422
        [fault] = answer.json()["errors"]
        assert fault["pointer"] == "/spec/objective"
        assert "make a policy from the checkpoint" in fault["detail"]
    assert Run.objects.count() == 2


def test_the_reference_of_a_preference_run_is_the_policy_it_starts_from(api: Api, rows: None) -> None:
    """A fork loads it as its policy. A run that continues the fork has it as a reference, and so has one with IPO."""
    run, worker = begin(api, PREFERENCE)
    worker.step(1)
    worker.checkpoint(1)
    worker.state("succeeded")
    forked = api("operator").post(f"/api/v1/runs/{run.id}/fork", {}, format="json").json()
    child, at_work = started(api, forked["id"])
    assert Bundle.model_validate(at_work.get("bundle").json()).reference is None
    at_work.step(1)
    at_work.checkpoint(1)
    own = dict(target="objective.loss.beta", value=0.5)
    staged = (
        api("operator")
        .post(f"/api/v1/runs/{child.id}/controls", own, format="json", headers={"If-Match": '"0"'})
        .json()
    )
    at_work.sync(applied=[{"control_id": staged["id"], "state": "applied", "step": 2, "policy_version": 1}])
    url = f"/api/v1/runs/{child.id}/controls/{staged['id']}/rewind"
    rewound = api("operator").post(url, {}, format="json").json()
    at_work.state("succeeded")
    _, last = started(api, rewound["id"])
    bundle = Bundle.model_validate(last.get("bundle").json())
    assert bundle.reference is not None
    assert bundle.reference.path == child.origin_path
    assert bundle.policy.path != child.origin_path


def test_losses_without_a_reference_get_none(api: Api, rows: None) -> None:
    for loss in ("simpo", "orpo"):
        document = {**PREFERENCE, "objective": {**PREFERENCE["objective"], "loss": {"type": loss}}}
        _, worker = begin(api, document)
        assert Bundle.model_validate(worker.get("bundle").json()).reference is None
        worker.state("succeeded")


@KINDS
def test_jobs_and_previews_of_samples_refuse_it(api: Api, rows: None, document: dict[str, Any]) -> None:
    client, plan = api("operator"), {"budget": 100, "first": 2}
    for path, more in (
        ("rehearsals", {"prompts": 1, "samples": 2}),
        ("profiles", {"plan": plan}),
        ("profiles/cost", {"plan": plan}),
        ("goldilocks", {"plan": plan}),
    ):
        answer = client.post(f"/api/v1/{path}", {"spec": document, **more}, format="json")
        assert answer.status_code == 422, (path, answer.content)
        [fault] = answer.json()["errors"]
        assert (fault["pointer"], answer.json()["error"]["code"]) == ("/spec/objective", "no_samples"), path
    run, _ = begin(api, document)
    for path, changes in (
        ("batch/preview", [{"target": "rollout.group_size", "value": 4}]),
        ("curriculum/preview", [{"target": "optimizer.learning_rate", "value": 0.1}]),
    ):
        answer = client.post(f"/api/v1/runs/{run.id}/{path}", {"changes": changes}, format="json")
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "no_samples"), answer.content
    shown = client.get(f"/api/v1/runs/{run.id}/curriculum").json()
    assert (shown["group_size"], shown["pass_rates"]) == (1, None)
    assert "none has a pass rate" in shown["why"]


@KINDS
def test_it_needs_no_engine(api: Api, rows: None, document: dict[str, Any], settings: Any) -> None:
    """A learner with two ranks fits on two GPUs; with rewards, the run would need a third for its engine."""
    ranks = {"parallelism": {"learner_ranks": 2}}
    rewards = spec_document(**ranks)
    assert reservation_of(rewards).gpus == 3
    demand = reservation_of(RunSpec.model_validate({**document, **ranks}).model_dump(mode="json"))
    assert (demand.gpus, demand.least_gpus, demand.cpus) == (2, 2, 1.0)
    assert [shape.count for shape in demand.shapes(8)] == [0, 2]
    assert demand.gpus_held(8) == 2.0
    report = ClusterReport(cpus=8.0, gpus=(GpuKind(kind="H100", total=1.0, free=1.0),), nodes=1)
    size = ClusterSize("a", 1, report=report)
    told = too_large(demand, [size])
    assert told == (
        "The run needs 1 CPUs and 2 GPUs for its learner ranks; the cluster 'a' has 8 CPUs and 1 GPUs. Use fewer of "
        "them (parallelism.learner_ranks). If it can grow, the operator must set this with 'manage.py clusters'."
    )


def test_a_queued_run_waits_for_its_ranks_alone(api: Api, rows: None, settings: Any) -> None:
    settings.MAX_ACTIVE_RUNS = 1
    begin(api, SFT)
    waits = create(api, SFT, start=True)
    assert waits["waiting"]["reason"] == "places_taken"
    reconcile.sweep()
    assert Run.objects.get(pk=waits["id"]).state == "queued"


GUARDS: list[tuple[dict[str, Any], str, bool]] = [
    (SFT, "sft/loss", True),
    (SFT, "eval/held/loss", True),
    (SFT, "eval/held/loss/last", True),
    (SFT, "eval/held/loss/fifth", False),
    (SFT, "eval/add/loss", False),
    (SFT, "actor/grad_norm", True),
    (SFT, "critic/score/mean", False),
    (SFT, "actor/entropy", False),
    (SFT, "preference/margin", False),
    (PREFERENCE, "preference/margin", True),
    (PREFERENCE, "sft/loss", False),
    (PREFERENCE, "reward/error_share", False),
    (spec_document(), "sft/loss", False),
    (spec_document(), "actor/entropy", True),
]


@pytest.mark.parametrize(("document", "metric", "fits"), GUARDS)
def test_guards_watch_what_the_objective_reports(document: dict[str, Any], metric: str, fits: bool) -> None:
    guarded = {**document, "guards": [{"metric": metric, "max": 1.0}]}
    if fits:
        assert RunSpec.model_validate(guarded).guards[0].metric == metric
        return
    with pytest.raises(ValidationError, match="never reported"):
        RunSpec.model_validate(guarded)


def test_a_guard_that_compares_rewards_is_refused() -> None:
    guards = [{"type": "held_out_falls", "metric": "sft/loss"}]
    with pytest.raises(ValidationError, match="held_out_falls compares rewards"):
        RunSpec.model_validate({**SFT, "guards": guards})


def test_a_judge_is_not_used_by_a_run_without_rewards(api: Api, rows: None, team: Team) -> None:
    create(api, SFT, start=True)
    assert run_that_asks(team, "critic") is None


def test_what_goes_wrong_is_told_without_rewards(api: Api, rows: None) -> None:
    run, worker = begin(api, SFT)
    losses = {"sft/loss": 0.5, "actor/grad_norm": 0.0, "actor/loss": 0.5}
    data = {"metrics": losses, "tokens_total": 20, "seconds": 2.0}
    told = [
        ("no update", "actor/grad_norm", "None of the 5 steps has updated the policy: its gradient was zero."),
        ("overfits", "eval/held/loss", "eval/held/loss rose from its best of 1 to 2."),
        ("gradient spike", "actor/grad_norm", "It is ten times its mean."),
    ]
    alerts = [
        {
            "kind": "alert",
            "step": 1,
            "data": {
                "level": "warn", "title": name, "message": message, "metric": metric, "value": 0.0,
                "guard": {"guard": name, "state": "acts", "since": 1, "severity": "warn", "action": "alert"},
            },
        }
        for name, metric, message in told
    ]  # fmt: skip
    worker.sync({"kind": "step", "step": 1, "data": data}, *alerts)
    found = api("viewer").get(f"/api/v1/runs/{run.id}/incidents").json()["data"]
    assert {one["kind"] for one in found} == {"no_signal", "held_out", "gradient"}
    for one in found:
        text = str([one["title"], one["cause"], one["advice"]])
        assert not [word for word in ("reward", "group", "sample", "engine", "mismatch") if word in text.lower()], text
    shown = api("viewer").get(f"/api/v1/runs/{run.id}").json()
    assert sorted(shown["summary"]["concerns"]) == sorted(message for _, _, message in told[:2])


def value_at(document: dict[str, Any], path: str) -> Any:
    for part in path.split("."):
        document = document[part]
    return document


@KINDS
def test_its_plan_has_no_engines(api: Api, rows: None, document: dict[str, Any]) -> None:
    body = {"spec": document, "gpus": 2, "rates": BY_HAND}
    found = api("viewer").post("/api/v1/spec/plan", body, format="json").json()
    assert [(mode["rollout_gpus"], mode["learner_gpus"]) for mode in found["modes"]] == [(0, 2)]
    answer = api("viewer").post("/api/v1/spec/plan/clusters", {"spec": document}, format="json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "no_samples")
    unknown = api("viewer").post("/api/v1/spec/plan", {"spec": document, "gpus": 2}, format="json")
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (422, "no_rates")


@KINDS
def test_it_goes_on_after_a_lost_attempt_and_has_no_noise_to_measure(
    api: Api, rows: None, document: dict[str, Any]
) -> None:
    run, worker = begin(api, document)
    worker.step(1)
    worker.checkpoint(1)
    worker.state("failed", "a node was lost")
    refused = api("operator").post(f"/api/v1/runs/{run.id}/measure-noise", {}, format="json")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "no_samples")
    assert api("operator").post(f"/api/v1/runs/{run.id}/resume", {}, format="json").status_code == 202
    reconcile.sweep()
    again = Worker(run.id, 2)
    bundle = Bundle.model_validate(again.get("bundle").json())
    assert (bundle.attempt, bundle.reward) == (2, None)
    assert bundle.resume is not None
    assert bundle.resume.step == 1
