"""Weights of a team are its own: no path, link, id or reference leads from one team to what another has trained."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.apps import apps
from rest_framework.test import APIClient
from safetensors.numpy import save_file

from dressage.bench.models import BenchJob
from dressage.common.actors import Actor
from dressage.common.lengthy import FILES
from dressage.common.models import StoredResponse
from dressage.policies import leftovers, services
from dressage.policies.models import Policy
from dressage.rewards.judges.services import create_judge_endpoint
from dressage.runs.models import Checkpoint, Run
from dressage.teams.models import AuditEntry, Team, UserSession
from tests.platform.runs.fixtures import Worker, furnish, spec_document
from tests.support.about import PLATFORM

Launch = Callable[..., tuple[Run, Worker]]
Clients = Callable[..., APIClient]
CONFIG = {"architectures": ["Qwen3ForCausalLM"], "vocab_size": 32, "max_position_embeddings": 256}
SAMPLES = [{"output_text": "1", "item": {"prompt": "1+1=", "answer": "2"}}]
SCORED_BY = {"components": [{"name": "liked", "grader": {"type": "reward_model", "policy": "theirs"}}]}
REFUSED = "The policy 'theirs' is refused: "


def write_policy(folder: Path) -> None:
    """A complete, small Hugging Face folder."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "tokenizer.json").write_text("{}")
    save_file({"embed": np.arange(256, dtype=np.float32).reshape(32, 8)}, folder / "model.safetensors")


def write_manifest(folder: Path) -> str:
    """The manifest as a learner writes it; gives its hash."""
    files = {
        path.relative_to(folder).as_posix(): {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "bytes": 1}
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "manifest.json"
    }
    text = json.dumps({"format": 1, "files": files})
    (folder / "manifest.json").write_text(text)
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture(autouse=True)
def places(settings: Any, tmp_path: Path, run_root: Path) -> Path:
    """Gives the root that all teams share."""
    settings.TEAM_POLICY_ROOT, settings.DATASET_ROOT = tmp_path / "team-policies", tmp_path / "datasets"
    settings.POLICY_ROOTS = [tmp_path / "shared"]
    (tmp_path / "shared").mkdir()
    return tmp_path / "shared"


@pytest.fixture
def checkpoint(launch: Launch) -> Checkpoint:
    """A checkpoint of ``team``, complete, with its training state."""
    run, worker = launch()
    worker.steps(1, 2)
    folder = run.run_dir / "checkpoints" / "step-000002-a1"
    write_policy(folder)
    (folder / "training").mkdir()
    (folder / "training" / "state.json").write_text("{}")
    data = {"path": str(folder), "bytes": 1, "manifest_sha256": write_manifest(folder), "policy_version": 2}
    worker.sync({"kind": "checkpoint", "step": 2, "data": {**data, "reason": "schedule", "control_id": None}})
    return Checkpoint.objects.get()


@pytest.fixture
def attacker(api: Clients, other_team: Team, actor: Actor, tmp_path: Path) -> APIClient:
    """An admin of a team that has policy, dataset and reward of its own."""
    furnish(other_team, actor, tmp_path / "policy-of-rivals")
    return api("admin", team=other_team)


@pytest.fixture
def registered(checkpoint: Checkpoint, other_team: Team) -> Policy:
    """What the other team could register by path up to November 2026: the checkpoint of ``team``."""
    return own_row(other_team, checkpoint.folder)


def own_row(team: Team, folder: Path) -> Policy:
    return Policy.objects.create(
        team=team, slug="theirs", name="Theirs", path=str(folder), architecture="A", parameters=1, vocab_size=1,
        max_position_embeddings=96, bytes=1, sha256="0", created_by="x",
    )  # fmt: skip


def snapshot() -> tuple[Any, ...]:
    models = [
        model
        for label in ("runs", "policies", "rewards", "teams")
        for model in apps.get_app_config(label).get_models()
        if model is not UserSession  # the first request of a session notes it
    ]
    rows = [
        {name: value for name, value in row.items() if name not in ("last_login", "last_used_at")}
        for model in models
        for row in model._default_manager.order_by("pk").values()
    ]
    return rows, BenchJob.objects.count()


def by_path(folder: Path, places: Path) -> Path:
    return folder


def by_dots(folder: Path, places: Path) -> Path:
    return places / ".." / folder.relative_to(places.parent)


def by_link(folder: Path, places: Path) -> Path:
    (places / "link").symlink_to(folder)
    return places / "link"


def by_link_above(folder: Path, places: Path) -> Path:
    (places / "link").symlink_to(folder.parent)
    return places / "link" / folder.name


def by_linked_files(folder: Path, places: Path) -> Path:
    (places / "files").mkdir()
    for file in folder.iterdir():
        (places / "files" / file.name).symlink_to(file)
    return places / "files"


def by_hard_links(folder: Path, places: Path) -> Path:
    (places / "files").mkdir()
    for name in ("config.json", "tokenizer.json"):
        shutil.copy(folder / name, places / "files" / name)
    os.link(folder / "model.safetensors", places / "files" / "model.safetensors")
    return places / "files"


WAYS = [by_path, by_dots, by_link, by_link_above, by_linked_files, by_hard_links]


@pytest.mark.parametrize("way", WAYS)
def test_a_path_to_what_another_team_trained_is_refused(
    attacker: APIClient, checkpoint: Checkpoint, places: Path, way: Callable[[Path, Path], Path]
) -> None:
    path, before = way(checkpoint.folder, places), snapshot()
    answer = attacker.post("/api/v1/policies", {"name": "Theirs", "path": str(path)}, format="json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "unfit_policy")
    assert answer.json()["errors"][0]["pointer"] == "/path"
    assert str(places.parent) not in answer.content.decode()
    assert snapshot() == before


@pytest.mark.parametrize("way", WAYS)
def test_what_another_team_made_of_its_checkpoint_is_refused(
    api: Clients, attacker: APIClient, checkpoint: Checkpoint, places: Path, way: Callable[[Path, Path], Path]
) -> None:
    made = api("admin").post(f"/api/v1/checkpoints/{checkpoint.id}/policy", {"name": "Best"}, format="json").json()
    path, before = way(Path(made["path"]), places), snapshot()
    answer = attacker.post("/api/v1/policies", {"name": "Theirs", "path": str(path)}, format="json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "unfit_policy")
    assert snapshot() == before


def test_no_setting_opens_the_folder_of_runs(
    attacker: APIClient, checkpoint: Checkpoint, settings: Any, tmp_path: Path
) -> None:
    before = snapshot()
    for root in (settings.RUN_ROOT, checkpoint.run.run_dir, tmp_path, Path("/")):
        settings.POLICY_ROOTS = [root]
        answer = attacker.post("/api/v1/policies", {"name": "n", "path": str(checkpoint.folder)}, format="json")
        assert (answer.status_code, snapshot()) == (422, before), root


def test_not_even_ones_own_run_is_registered_by_path(api: Clients, checkpoint: Checkpoint) -> None:
    answer = api("editor").post("/api/v1/policies", {"name": "n", "path": str(checkpoint.folder)}, format="json")
    assert answer.status_code == 422
    assert "register a checkpoint by its id" in answer.json()["detail"]


def test_ids_of_another_teams_checkpoint_lead_nowhere(attacker: APIClient, checkpoint: Checkpoint) -> None:
    own = attacker.post("/api/v1/runs", {"name": "n", "spec": spec_document()}, format="json").json()["id"]
    before = snapshot()
    for path, body, status in (
        (f"checkpoints/{checkpoint.id}/policy", {"name": "Theirs"}, 404),
        (f"runs/{own}/fork", {"checkpoint": checkpoint.id}, 422),
        (f"runs/{checkpoint.run_id}/fork", {}, 404),
    ):
        assert attacker.post(f"/api/v1/{path}", body, format="json").status_code == status, path
    assert attacker.get(f"/api/v1/checkpoints/{checkpoint.id}/download").status_code == 404
    assert snapshot() == before


def test_a_policy_of_before_in_another_teams_run_is_refused_wherever_it_is_used(
    attacker: APIClient, registered: Policy, other_team: Team, actor: Actor
) -> None:
    def ask(path: str, body: Any) -> Any:
        return attacker.post(f"/api/v1/{path}", body, format="json")

    based = spec_document(policy={"base": "theirs"})
    taught = spec_document(distillation={"teacher": "theirs"})
    judge = {"name": "J", "policy": "theirs", "model": "m"}
    before = snapshot()
    for path, body, pointer in (
        ("runs", {"name": "n", "spec": based}, "/spec/policy/base"),
        ("runs", {"name": "n", "spec": based, "start": True}, "/spec/policy/base"),
        ("runs", {"name": "n", "spec": taught}, "/spec/distillation/teacher"),
        ("rewards", {"name": "n", "definition": SCORED_BY}, "/definition/components/0/grader/policy"),
        (
            "rewards/bench",
            {"definitions": [{"definition": SCORED_BY}], "samples": SAMPLES},
            "/definitions/0/definition/components/0/grader/policy",
        ),
        ("judge-endpoints", judge, "/policy"),
    ):
        answer = ask(path, body)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer), answer.content
        assert answer.json()["errors"][0]["detail"].startswith(REFUSED)
        assert registered.path not in answer.content.decode()
        assert snapshot() == before, path
    checked = ask("spec/validate", {"spec": based}).json()
    assert [(error["pointer"], checked["valid"]) for error in checked["errors"]] == [("/spec/policy/base", False)]
    assert snapshot() == before


def test_a_run_of_before_with_another_teams_weights_gets_no_bundle(
    registered: Policy, launch: Launch, other_team: Team, settings: Any
) -> None:
    """Registered and queued before the upgrade: the attempt is refused, and no path is told."""
    settings.MAX_ACTIVE_RUNS = 2
    Policy.objects.filter(pk=registered.pk).update(team=other_team, slug="small")
    thief, worker = launch("second")
    Run.objects.filter(pk=thief.pk).update(team=other_team)
    answer = worker.get("bundle", status=422)
    assert "'small' is refused" in answer.json()["detail"]
    assert registered.path not in answer.content.decode()


@pytest.mark.expensive(4, "walks over many requests", about=PLATFORM)
def test_workers_get_no_reward_model_or_judge_of_another_team(
    registered: Policy, other_team: Team, actor: Actor, settings: Any
) -> None:
    from dressage.common.api.problems import Problem
    from dressage.rewards import needs
    from trainer_core.rewards import RewardDefinition

    definition = RewardDefinition.model_validate(SCORED_BY)
    assert needs.for_workers(other_team, [definition]).reward_models == {}
    place = Path(registered.path)
    path = settings.POLICY_ROOTS[0] / "once-open"
    write_policy(path)
    Policy.objects.filter(pk=registered.pk).update(path=str(path))
    create_judge_endpoint(other_team, actor, name="J", slug="j", policy="theirs", model="m", base_url="", api_key="")
    assert needs.for_workers(other_team, [definition], ["j"]).reward_models == {"theirs": path}
    Policy.objects.filter(pk=registered.pk).update(path=str(place))
    with pytest.raises(Problem, match="is refused") as refused:
        needs.for_workers(other_team, [definition], ["j"])
    assert str(place) not in refused.value.detail


def test_a_folder_that_is_replaced_after_it_was_registered_is_refused(
    attacker: APIClient, checkpoint: Checkpoint, places: Path
) -> None:
    folder = places / "good"
    write_policy(folder)
    assert attacker.post("/api/v1/policies", {"name": "Theirs", "path": str(folder)}, format="json").status_code == 201
    body = {"name": "n", "spec": spec_document(policy={"base": "theirs"})}
    assert attacker.post("/api/v1/runs", body, format="json").status_code == 201
    kept = folder.rename(places / "kept")

    def whole() -> None:
        folder.symlink_to(checkpoint.folder)

    def one_file() -> None:
        shutil.copytree(kept, folder)
        (folder / "model.safetensors").unlink()
        (folder / "model.safetensors").symlink_to(checkpoint.folder / "model.safetensors")

    def one_name() -> None:
        shutil.copytree(kept, folder)
        (folder / "model.safetensors").unlink()
        os.link(checkpoint.folder / "model.safetensors", folder / "model.safetensors")

    for replace in (whole, one_file, one_name):
        replace()
        before = snapshot()
        answer = attacker.post("/api/v1/runs", body, format="json")
        assert (answer.status_code, snapshot()) == (422, before), replace
        assert answer.json()["detail"].startswith(REFUSED)
        folder.unlink() if folder.is_symlink() else shutil.rmtree(folder)
    kept.rename(folder)
    assert attacker.post("/api/v1/runs", body, format="json").status_code == 201


def test_an_own_checkpoint_becomes_a_policy_by_its_id(
    api: Clients, checkpoint: Checkpoint, team: Team, settings: Any
) -> None:
    key: dict[str, Any] = {"HTTP_IDEMPOTENCY_KEY": "k"}
    path, body = f"/api/v1/checkpoints/{checkpoint.id}/policy", {"name": "Best so far"}
    admin, editor = api("admin"), api("editor")
    assert api("viewer").post(path, body, format="json").status_code == 403
    made = admin.post(path, body, format="json", **key)
    assert (made.status_code, admin.post(path, body, format="json", **key).json()) == (201, made.json())
    policy = Policy.objects.get(slug="best-so-far")
    folder = settings.TEAM_POLICY_ROOT / team.id / policy.id
    assert (made.json()["checkpoint"], made.json()["path"], made.json()["parameters"]) == (
        checkpoint.id,
        str(folder),
        256,
    )
    assert sorted(file.name for file in folder.iterdir()) == ["config.json", "model.safetensors", "tokenizer.json"]
    assert AuditEntry.objects.latest("number").after["checkpoint"] == checkpoint.id
    # Its own copy: it outlives the checkpoint, and a change of the checkpoint's files does not reach it.
    kept = (folder / "model.safetensors").read_bytes()
    (checkpoint.folder / "model.safetensors").write_bytes(b"changed")
    shutil.rmtree(checkpoint.folder)
    assert (folder / "model.safetensors").read_bytes() == kept
    new_run = {"name": "next", "spec": spec_document(policy={"base": "best-so-far"})}
    assert editor.post("/api/v1/runs", new_run, format="json").status_code == 201
    assert admin.post(path, {"name": "Again"}, format="json").status_code == 410


def changed_weights(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:-1] + b"x")


def changed_manifest(folder: Path) -> None:
    (folder / "config.json").write_text("{}")
    write_manifest(folder)


def linked_weights(folder: Path) -> None:
    kept = folder.parent / "elsewhere.safetensors"
    (folder / "model.safetensors").rename(kept)
    (folder / "model.safetensors").symlink_to(kept)


def missing_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def pipe(folder: Path) -> None:
    (folder / "config.json").unlink()
    os.mkfifo(folder / "config.json")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (changed_weights, "model.safetensors was changed"),
        (changed_manifest, "its manifest differs from the recorded one"),
        (linked_weights, "model.safetensors is missing or a link"),
        (missing_weights, "model.safetensors is missing or a link"),
        (pipe, "config.json is not a file"),
    ],
)
def test_files_that_are_not_those_of_the_checkpoint_become_no_policy(
    api: Clients, checkpoint: Checkpoint, settings: Any, team: Team, spoil: Callable[[Path], None], words: str
) -> None:
    spoil(checkpoint.folder)
    client = api("editor")
    before = snapshot()
    answer = client.post(f"/api/v1/checkpoints/{checkpoint.id}/policy", {"name": "Best"}, format="json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "checkpoint_gone")
    assert words in answer.json()["detail"]
    assert str(checkpoint.folder.parent) not in answer.content.decode()
    assert snapshot() == before
    assert not list((settings.TEAM_POLICY_ROOT / team.id).glob("*"))


def test_the_copy_gets_its_name_when_the_row_is_written(
    api: Clients, checkpoint: Checkpoint, settings: Any, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until then, and so when the process is killed, it has one that the sweep knows."""
    root, path = settings.TEAM_POLICY_ROOT / team.id, f"/api/v1/checkpoints/{checkpoint.id}/policy"
    client = api("editor")
    before, record = snapshot(), services.record_audit
    seen: list[str] = []

    def fail(*arguments: Any, **options: Any) -> None:
        seen.extend(folder.name for folder in root.iterdir())
        raise RuntimeError("the database is away")

    monkeypatch.setattr(services, "record_audit", fail)
    with pytest.raises(RuntimeError):
        client.post(path, {"name": "Best"}, format="json")
    assert [(len(name), name.removesuffix(".part") == name[:26]) for name in seen] == [(31, True)]
    assert (snapshot(), list(root.iterdir())) == (before, [])
    monkeypatch.setattr(services, "record_audit", record)
    made = client.post(path, {"name": "Best"}, format="json")
    assert made.status_code == 201
    assert [folder.name for folder in root.iterdir()] == [made.json()["id"]]


def test_what_a_failing_request_leaves_is_swept(
    api: Clients, checkpoint: Checkpoint, settings: Any, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer is stored in the transaction of the row, after the copy has its name."""

    def fail(**fields: Any) -> None:
        raise RuntimeError("the database is away")

    client = api("editor")
    before = snapshot()
    with monkeypatch.context() as during:
        during.setattr(StoredResponse.objects, "create", fail)
        with pytest.raises(RuntimeError):
            client.post(
                f"/api/v1/checkpoints/{checkpoint.id}/policy",
                {"name": "Best"},
                format="json",
                headers={"Idempotency-Key": "k"},
            )
    assert snapshot() == before
    [left] = (settings.TEAM_POLICY_ROOT / team.id).iterdir()
    assert leftovers.sweep(left.stat().st_ctime + leftovers.SPARED_S + 1) == [left]
    assert list((settings.TEAM_POLICY_ROOT / team.id).iterdir()) == []


def test_a_checkpoint_folder_that_leads_to_another_team_is_gone(
    api: Clients, checkpoint: Checkpoint, other_team: Team, actor: Actor
) -> None:
    """Even a link in the run's own folder, with the manifest of the other's checkpoint, opens nothing."""
    foreign = Run.objects.create(
        team=other_team, name="n", spec={}, effective_spec={}, total_steps=1, created_by="x"
    )  # fmt: skip
    foreign.run_dir.mkdir(parents=True)
    (foreign.run_dir / "copy").symlink_to(checkpoint.folder)
    row = Checkpoint.objects.create(
        run=foreign, attempt=1, step=1, path="copy", bytes=1, manifest_sha256=checkpoint.manifest_sha256,
        reason="schedule", policy_version=1,
    )  # fmt: skip
    client = api("admin", team=other_team)
    assert client.post(f"/api/v1/checkpoints/{row.id}/policy", {"name": "n"}, format="json").status_code == 410
    assert client.get(f"/api/v1/checkpoints/{row.id}/download").status_code == 410
    assert not Policy.objects.for_team(other_team).exists()


def test_paths_are_shown_to_admins_alone(api: Clients, places: Path, team: Team) -> None:
    write_policy(places / "good")
    body = {"name": "Good", "path": str(places / "good")}
    assert "path" not in api("editor").post("/api/v1/policies", body, format="json").json()
    policy = Policy.objects.get()
    for role in ("viewer", "editor", "operator", "admin"):
        client, shown = api(role), role == "admin"
        for path in ("policies", f"policies/{policy.id}"):
            text = client.get(f"/api/v1/{path}").content.decode()
            assert (str(places) in text) is shown, (role, path)
    # The answer to an admin's request is not told again to others who know its key.
    admin, editor = api("admin"), api("editor")
    body = {"name": "More", "path": str(places / "good")}
    key: dict[str, Any] = {"HTTP_IDEMPOTENCY_KEY": "k"}
    first = admin.post("/api/v1/policies", body, format="json", **key)
    assert admin.post("/api/v1/policies", body, format="json", **key).json() == first.json()
    answer = editor.post("/api/v1/policies", body, format="json", **key)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "idempotency_key_reused")


def test_a_folder_that_is_gone_is_told_without_its_path(api: Clients, nouns: Path) -> None:
    (nouns / "config.json").unlink()
    body = {"name": "n", "spec": spec_document(), "start": True}
    answer = api("operator").post("/api/v1/runs", body, format="json")
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/spec/policy/base")
    assert str(nouns) not in answer.content.decode()


def test_the_upgrade_ties_policies_of_before_to_runs_of_their_own_team(
    api: Clients, checkpoint: Checkpoint, team: Team, registered: Policy
) -> None:
    own = own_row(team, checkpoint.folder)
    elsewhere = Policy.objects.get(team=team, slug="small")
    import_module("dressage.policies.migrations.0002_own_runs_only").tie_to_runs(apps, None)
    for policy in (own, registered, elsewhere):
        policy.refresh_from_db()
    assert (own.run, own.checkpoint) == (checkpoint.run_id, checkpoint.id)
    assert [(policy.run, policy.checkpoint) for policy in (registered, elsewhere)] == [(None, None), (None, None)]
    body = {"name": "n", "spec": spec_document(policy={"base": "theirs"}), "start": True}
    assert api("operator").post("/api/v1/runs", body, format="json").status_code == 201


def test_few_checkpoints_are_copied_at_once(checkpoint: Checkpoint, api: Clients, team: Team) -> None:
    editor, before = api("editor"), snapshot()
    path, body = f"/api/v1/checkpoints/{checkpoint.id}/policy", {"name": "Ours"}
    with FILES.place(team.id), FILES.place(team.id):
        refused = editor.post(path, body, format="json")
    assert (refused.status_code, refused["Retry-After"]) == (429, "10")
    with FILES.place("a"), FILES.place("a"), FILES.place("b"), FILES.place("b"):
        assert editor.post(path, body, format="json").status_code == 503
    assert snapshot() == before
    assert editor.post(path, body, format="json").status_code == 201
