"""Imports by the API: what is refused at once, what is told, and by whom an import is ended or tried again."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.common import sealing
from dressage.common.actors import Actor
from dressage.common.api.problems import Problem
from dressage.common.sealing import rotate
from dressage.imports.remote import ImportRefused
from dressage.jobs import messages
from dressage.jobs.local import LocalKind
from dressage.policies.access.selectors import hub_token
from dressage.policies.access.services import set_credentials
from dressage.policies.folders import own_root
from dressage.policies.imports.carry_out import carry_out
from dressage.policies.leftovers import SPARED_S, sweep
from dressage.policies.models import Policy, PolicyImport, SourceAccess
from dressage.policies.services import register_checkpoint, register_policy
from dressage.teams.models import AuditEntry, Team
from tests.support.hub_server import HubServer

Api = Callable[..., APIClient]
BODY = {"name": "Tiny", "source": "hub", "location": "tiny/policy"}


@pytest.fixture
def editor(api: Api, hub: HubServer) -> APIClient:
    return api("editor")


def start(client: APIClient, **fields: Any) -> Any:
    return client.post("/api/v1/policy-imports", {**BODY, **fields}, format="json")


def test_from_the_request_to_the_policy(editor: APIClient, hub: HubServer) -> None:
    started = start(editor)
    assert started.status_code == 201
    document = started.json()
    assert (document["state"], document["policy"], document["bytes_total"]) == ("queued", None, 0)
    carry_out(document["id"])
    ready = editor.get(f"/api/v1/policy-imports/{document['id']}").json()
    assert (ready["state"], ready["commit"]) == ("ready", hub.repositories["tiny/policy"].commit)
    assert ready["bytes_done"] == ready["bytes_total"] > 320_000
    policy = editor.get(f"/api/v1/policies/{ready['policy']}").json()
    assert policy["origin"]["commit"] == ready["commit"]
    assert editor.get("/api/v1/policy-imports").json()["data"] == [ready]
    facts = editor.get(f"/api/v1/policies/{ready['policy']}/facts").json()
    assert facts["contents"]["model_type"] == "qwen3"
    assert (facts["refusal"], facts["fault"], facts["remarks"]) == ("", "", [])
    assert [fit["part"] for fit in facts["fits"] if fit["works"]][:3] == ["Engine", "Packed learner", "LoRA"]
    assert {need["training"] for need in facts["needs"]} == {
        "all weights, bfloat16", "all weights, float32", "LoRA of rank 16, bfloat16",
    }  # fmt: skip
    assert all(need["learner_bytes"] > 0 and need["engine_bytes"] > 0 for need in facts["needs"])


def test_facts_of_a_policy_of_before_are_read_when_somebody_looks(editor: APIClient) -> None:
    carry_out(start(editor).json()["id"])
    policy = Policy.objects.get()
    kept = policy.facts
    Policy.objects.update(facts=None)
    facts = editor.get(f"/api/v1/policies/{policy.id}/facts").json()["contents"]
    # The hub's own word for the licence is not in the files.
    assert facts == {**kept, "licence": None}
    policy.refresh_from_db()
    assert policy.facts == facts


def test_a_class_that_was_never_tried_says_so(editor: APIClient, team: Team) -> None:
    policy = Policy.objects.create(
        team=team, slug="p", name="P", path="/gone", architecture="Ernie4_5ForCausalLM", parameters=1,
        vocab_size=1, max_position_embeddings=1, bytes=1, sha256="0", created_by="x",
    )  # fmt: skip
    facts = editor.get(f"/api/v1/policies/{policy.id}/facts").json()
    assert (facts["fits"], len(facts["remarks"]), facts["refusal"]) == ([], 1, "")
    assert facts["remarks"][0].startswith("Policies of this class are untested here")
    Policy.objects.update(architecture="MiniMaxForCausalLM")
    fits = editor.get(f"/api/v1/policies/{policy.id}/facts").json()["fits"]
    [note] = [fit["note"] for fit in fits if fit["part"] == "bfloat16" and not fit["works"]]
    assert note.startswith("Untested: try a dry run")
    Policy.objects.update(architecture="MambaForCausalLM")
    facts = editor.get(f"/api/v1/policies/{policy.id}/facts").json()
    assert facts["refusal"].startswith("MambaForCausalLM has recurrent layers")
    Policy.objects.update(architecture="OtherForCausalLM")
    facts = editor.get(f"/api/v1/policies/{policy.id}/facts").json()
    assert facts["refusal"].startswith("OtherForCausalLM is unknown to both transformers")
    assert (facts["fits"], facts["remarks"]) == ([], []), "nothing invites to try what is refused"


def test_facts_of_a_folder_that_is_gone(editor: APIClient, team: Team) -> None:
    gone = Policy.objects.create(
        team=team, slug="p", name="P", path=str(own_root(team) / "gone"), architecture="A", parameters=1,
        vocab_size=1, max_position_embeddings=1, bytes=1, sha256="0", created_by="x",
    )  # fmt: skip
    facts = editor.get(f"/api/v1/policies/{gone.id}/facts").json()
    assert (facts["contents"], facts["needs"]) == (None, [])
    assert facts["fault"] == "The policy's files cannot be read: There is no such folder."


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"location": "https://elsewhere.example/x/y"}, "/location"),
        ({"location": "../../etc"}, "/location"),
        ({"location": "a/b/c"}, "/location"),
        ({"location": "a--b/c"}, "/location"),
        ({"location": "a/b", "revision": "main?x=1"}, "/revision"),
        ({"source": "bucket", "location": "tiny/policy"}, "/location"),
        ({"source": "bucket", "location": "s3://arn:aws:s3:::x/y"}, "/location"),
        ({"source": "bucket", "location": "http://127.0.0.1/x"}, "/location"),
        ({"source": "bucket", "location": "s3://bucket/x", "revision": "main"}, "/revision"),
        ({"source": "folder"}, "/source"),
        ({"endpoint": "http://127.0.0.1"}, "/endpoint"),
        ({"slug": "é"}, "/slug"),
        ({"name": ""}, "/name"),
    ],
)
def test_bad_fields(editor: APIClient, hub: HubServer, fields: dict[str, str], pointer: str) -> None:
    response = start(editor, **fields)
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, pointer)
    assert (PolicyImport.objects.count(), AuditEntry.objects.count(), hub.asked) == (0, 0, [])


def test_a_slug_is_held_from_the_start(editor: APIClient) -> None:
    assert start(editor).status_code == 201
    response = start(editor)
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (409, "/slug")
    assert PolicyImport.objects.count() == 1


def test_the_slug_of_an_import_is_no_other_policys(
    editor: APIClient, team: Team, actor: Actor, tmp_path: Path, settings: Any
) -> None:
    settings.POLICY_ROOTS = [tmp_path]
    folder = tmp_path / "upstream"
    row = start(editor).json()
    for register in (
        lambda: register_policy(team, actor, "Tiny", folder),
        lambda: register_checkpoint(
            team, actor, "Tiny", slug=None, checkpoint="ckpt_x", folder=tmp_path / "gone", manifest_sha256=""
        ),
    ):
        with pytest.raises(Problem, match=r"There is already an import of a policy 'tiny'\. "):
            register()
    assert Policy.objects.count() == 0
    carry_out(row["id"])
    assert Policy.objects.get().id == editor.get(f"/api/v1/policy-imports/{row['id']}").json()["policy"]


def test_not_too_many_at_a_time(editor: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dressage.policies.imports.services.MAX_OPEN", 1)
    assert start(editor).status_code == 201
    response = start(editor, slug="other")
    assert (response.status_code, response.json()["error"]["code"]) == (429, "too_many_imports")
    assert PolicyImport.objects.count() == 1


def test_an_installation_without_a_network_says_so(editor: APIClient, settings: Any) -> None:
    settings.HUB_OFFLINE = True
    response = start(editor)
    assert (response.status_code, response.json()["error"]["code"]) == (422, "hub_is_offline")
    assert editor.get("/api/v1/policy-sources").json()["hub"]["available"] is False


def test_cancel_and_retry(
    editor: APIClient, hub: HubServer, team: Team, django_capture_on_commit_callbacks: Any
) -> None:
    row = start(editor).json()
    part = own_root(team) / f"{PolicyImport.objects.get().policy_id}.part"
    part.mkdir(parents=True)
    with django_capture_on_commit_callbacks(execute=True):
        cancelled = editor.post(f"/api/v1/policy-imports/{row['id']}/cancel")
    assert (cancelled.status_code, cancelled.json()["state"], part.exists()) == (200, "cancelled", False)
    again = editor.post(f"/api/v1/policy-imports/{row['id']}/cancel")
    assert (again.status_code, again.json()["error"]["code"]) == (409, "import_is_over")
    carry_out(row["id"])
    assert hub.asked == []
    assert editor.post(f"/api/v1/policy-imports/{row['id']}/retry").json()["state"] == "queued"
    carry_out(row["id"])
    assert editor.get(f"/api/v1/policy-imports/{row['id']}").json()["state"] == "ready"
    refused = editor.post(f"/api/v1/policy-imports/{row['id']}/retry")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "import_cannot_be_retried")
    actions = list(AuditEntry.objects.order_by("number").values_list("action", flat=True))
    assert actions == ["policy.import", "policy.import_cancel", "policy.import_retry", "policy.register"]


def test_a_failed_import_is_put_away(
    editor: APIClient, hub: HubServer, team: Team, django_capture_on_commit_callbacks: Any
) -> None:
    row = start(editor, revision="nonesuch").json()
    carry_out(row["id"])
    assert editor.get(f"/api/v1/policy-imports/{row['id']}").json()["state"] == "failed"
    part = own_root(team) / f"{PolicyImport.objects.get().policy_id}.part"
    part.mkdir(parents=True, exist_ok=True)
    with django_capture_on_commit_callbacks(execute=True):
        removed = editor.post(f"/api/v1/policy-imports/{row['id']}/cancel")
    assert (removed.status_code, removed.json()["state"], part.exists()) == (200, "cancelled", False)


def test_the_sweep_asks_again_where_nobody_works(
    editor: APIClient, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    sent: list[str] = []
    monkeypatch.setattr(messages, "_send", lambda task, queue, arguments: sent.append(arguments["import_id"]))
    row = start(editor).json()
    LocalKind(PolicyImport).sweep()
    PolicyImport.objects.update(rung_at="2026-01-01T00:00:00Z")
    with django_capture_on_commit_callbacks(execute=True):
        LocalKind(PolicyImport).sweep()
    assert sent == [row["id"]]
    PolicyImport.objects.update(rung_at="2026-01-01T00:00:00Z", state="downloading", heard_at="2026-01-01T00:00:00Z")
    with django_capture_on_commit_callbacks(execute=True):
        LocalKind(PolicyImport).sweep()
    assert sent == [row["id"]] * 2
    PolicyImport.objects.update(state="cancelled", rung_at="2026-01-01T00:00:00Z")
    with django_capture_on_commit_callbacks(execute=True):
        LocalKind(PolicyImport).sweep()
    assert sent == [row["id"]] * 2


def test_what_an_import_has_fetched_is_no_leftover(editor: APIClient, team: Team) -> None:
    start(editor)
    part = own_root(team) / f"{PolicyImport.objects.get().policy_id}.part"
    part.mkdir(parents=True)
    later = part.stat().st_mtime + SPARED_S + 60
    assert sweep(later) == []
    PolicyImport.objects.update(state="failed")
    assert sweep(later) == [part]


def test_a_token_is_stored_sealed_and_shown_to_nobody(api: Api, hub: HubServer, team: Team) -> None:
    admin = api("admin")
    stored = admin.put("/api/v1/policy-sources/hub", {"token": "hf_very_secret"}, format="json")
    assert (stored.status_code, stored.json()["has_credentials"]) == (200, True)
    assert stored.json()["set_by"] == admin.user.email
    assert hub_token(team) == "hf_very_secret"
    shown = [admin.get("/api/v1/policy-sources").content, stored.content, admin.get("/api/v1/audit").content]
    rows = json.dumps([*SourceAccess.objects.values(), *AuditEntry.objects.values()], default=str)
    assert "hf_very_secret" not in rows + b"".join(shown).decode()
    assert admin.delete("/api/v1/policy-sources/hub").status_code == 204
    assert (hub_token(team), SourceAccess.objects.count()) == (None, 0)
    assert admin.delete("/api/v1/policy-sources/hub").status_code == 404
    actions = list(AuditEntry.objects.order_by("number").values_list("action", flat=True))
    assert actions == ["policy_source.set_credentials", "policy_source.forget_credentials"]


@pytest.mark.parametrize("token", ["", "two words", "line\nbreak", "é", None])
def test_what_is_no_token(api: Api, token: Any) -> None:
    response = api("admin").put("/api/v1/policy-sources/hub", {"token": token}, format="json")
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, "/token")
    assert SourceAccess.objects.count() == 0


def test_a_token_of_one_team_is_not_another_s(team: Team, other_team: Team, actor: Actor) -> None:
    set_credentials(team, actor, "hub", {"token": "hf_ours"})
    assert (hub_token(team), hub_token(other_team)) == ("hf_ours", None)


def test_tokens_are_sealed_anew_with_the_rest(
    team: Team, actor: Actor, settings: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ENCRYPTION_KEY_FILE = tmp_path / "encryption-keys"
    set_credentials(team, actor, "hub", {"token": "hf_ours"})
    before = SourceAccess.objects.get().credentials_sealed
    assert rotate() == sealing.Resealed(1)
    assert SourceAccess.objects.get().credentials_sealed != before
    assert hub_token(team) == "hf_ours"
    settings.ENCRYPTION_KEY_FILE.write_text(sealing._new_key())
    with pytest.raises(ImportRefused, match="can no longer be read: an admin must enter them again"):
        hub_token(team)
    assert rotate().unreadable == (f"the credentials of the team {team.slug} for hub",)
