"""Imports from a hub with its real client: what is fetched, gone on with, compared and registered; and what is not."""

import hashlib
import json
import os
import signal
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from dressage.common.actors import Actor
from dressage.imports import alone, progress, work
from dressage.imports.alone import alone_in
from dressage.policies.access.services import set_credentials
from dressage.policies.folders import own_root, require_still_open
from dressage.policies.imports import carry_out as module
from dressage.policies.imports.carry_out import carry_out
from dressage.policies.imports.services import cancel_import, retry_import
from dressage.policies.models import Policy, PolicyImport
from dressage.teams.models import AuditEntry, Team
from tests.platform.policies.imports.conftest import CONFIG, NAME, TOKENIZER, write_policy
from tests.support.hub_server import HubServer

Begin = Callable[..., PolicyImport]
SHARD = "model-2.safetensors"


def part_of(row: PolicyImport) -> Path:
    return own_root(row.team) / f"{row.policy_id}.part"


def test_a_whole_import(carried: Begin, hub: HubServer, team: Team, tmp_path: Path) -> None:
    row = carried()
    upstream = hub.repositories[NAME]
    assert (row.state, row.error) == ("ready", "")
    policy = Policy.objects.get(id=row.policy_id)
    folder = own_root(team) / policy.id
    fetched = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert fetched == {name: upstream.files[name] for name in fetched}
    assert set(upstream.files) - set(fetched) == {"modeling_own.py", "training_args.bin"}
    assert policy.origin == {"source": "hub", "location": NAME, "revision": "", "commit": upstream.commit}
    assert (policy.slug, policy.name, policy.path) == ("tiny", "Tiny", str(folder))
    assert (policy.parameters, policy.vocab_size) == (32 * 8 + 20_000 * 8, 32)
    assert row.commit == upstream.commit
    assert (row.files_done, row.bytes_done) == (row.files_total, row.bytes_total)
    assert row.bytes_total == sum(map(len, fetched.values()))
    require_still_open(policy)
    asked = [AuditEntry.objects.get(action=action).after for action in ("policy.import", "policy.register")]
    assert asked[0] == {"slug": "tiny", "source": "hub", "location": NAME, "revision": ""}
    assert asked[1]["origin"] == policy.origin
    assert not [one for one in hub.asked if one.path.endswith((".py", ".bin"))]


def test_the_facts_are_read_and_kept(carried: Begin, hub: HubServer) -> None:
    facts = Policy.objects.get(id=carried().policy_id).facts
    assert facts["licence"] == "apache-2.0"
    assert facts["numbers"] == {"float32": 256, "float16": 160_000}
    assert (facts["layers"], facts["hidden_size"], facts["tied_embeddings"]) == (2, 8, True)
    template = str(TOKENIZER["chat_template"])
    digest = hashlib.sha256(template.encode()).hexdigest()
    assert facts["chat_template"] == {"text": template, "sha256": digest, "prompts_answers": True}
    assert facts["special_tokens"] == {"bos": None, "eos": ["<end>"], "pad": "<pad>", "others": ["<tool>"]}


def test_a_branch_is_resolved_to_its_commit(carried: Begin, hub: HubServer) -> None:
    hub.repositories[NAME].revisions = ("main", "refs/pr/1")
    row = carried(revision="refs/pr/1")
    assert (row.state, row.commit) == ("ready", hub.repositories[NAME].commit)
    assert Policy.objects.get().origin["revision"] == "refs/pr/1"


def test_a_cut_in_the_middle_is_gone_on_with_where_it_was(carried: Begin, hub: HubServer) -> None:
    hub.faults.cuts[SHARD] = [100_000, 50_000]
    assert carried().state == "ready"
    ranges = [one.range for one in hub.asked if one.server == "cdn" and one.path.endswith(SHARD)]
    assert ranges == [None, "bytes=100000-", "bytes=150000-"]


def test_a_killed_worker_is_gone_on_with(begin: Begin, hub: HubServer) -> None:
    row = begin()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:  # what a kill leaves: half of a file, and nobody who could tidy up
        part = part_of(row)
        part.mkdir(parents=True)
        half = hub.repositories[NAME].files[SHARD][:200_000]
        (part / SHARD).write_bytes(half)
        descriptor = os.open(part, os.O_RDONLY)
        alone.fcntl.flock(descriptor, alone.fcntl.LOCK_EX)
        os.write(writer, b"!")
        signal.pause()
    os.read(reader, 1)
    long_ago = timezone.now() - timedelta(seconds=40)
    PolicyImport.objects.filter(pk=row.pk).update(state="downloading", attempt=1, heard_at=long_ago)
    carry_out(row.id)
    row.refresh_from_db()
    assert (row.state, row.attempt) == ("downloading", 1), "its worker lives: it has the folder"
    os.kill(child, 9)
    os.waitpid(child, 0)
    carry_out(row.id)
    row.refresh_from_db()
    assert (row.state, row.attempt) == ("ready", 2)
    assert [one.range for one in hub.asked if one.path.endswith(SHARD) and one.server == "cdn"] == ["bytes=200000-"]


def test_a_worker_that_was_just_heard_of_is_left_alone(begin: Begin, hub: HubServer) -> None:
    row = begin()
    PolicyImport.objects.filter(pk=row.pk).update(state="downloading", attempt=1, heard_at=timezone.now())
    carry_out(row.id)
    row.refresh_from_db()
    assert (row.state, row.attempt, hub.asked) == ("downloading", 1, [])


def test_killed_between_the_last_rename_and_the_commit(begin: Begin, hub: HubServer, team: Team) -> None:
    row = begin()
    target = own_root(team) / row.policy_id
    target.parent.mkdir(parents=True, exist_ok=True)
    files = hub.repositories[NAME].files
    target.mkdir()
    for name in ("model-1.safetensors", SHARD):
        (target / name).write_bytes(files[name])
    carry_out(row.id)
    row.refresh_from_db()
    assert row.state == "ready"
    assert not [one for one in hub.asked if one.server == "cdn"], "nothing was fetched twice"


def test_the_former_name_is_given_back_over_an_empty_folder(begin: Begin, hub: HubServer, team: Team) -> None:
    row = begin()
    target = own_root(team) / row.policy_id
    for folder in (target, part_of(row)):
        folder.mkdir(parents=True)
    (target / SHARD).write_bytes(hub.repositories[NAME].files[SHARD])
    carry_out(row.id)
    row.refresh_from_db()
    assert (row.state, row.error) == ("ready", "")
    assert not [one for one in hub.asked if one.server == "cdn" and one.path.endswith(SHARD)]


def test_a_policy_that_another_worker_registers_is_left_alone(begin: Begin, hub: HubServer, team: Team) -> None:
    row = begin()
    target = own_root(team) / row.policy_id
    target.mkdir(parents=True)
    with alone_in(target) as held:
        assert held
        carry_out(row.id)
    row.refresh_from_db()
    assert (row.state, row.attempt, hub.asked) == ("queued", 0, [])
    assert (target.is_dir(), part_of(row).exists()) == (True, False)


@pytest.mark.parametrize("made_anew", [True, False])
def test_a_folder_that_went_away_before_it_was_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made_anew: bool
) -> None:
    folder = tmp_path / "part"
    folder.mkdir()
    lock = alone.fcntl.flock

    def late(descriptor: int, operation: int) -> None:
        folder.rename(tmp_path / "policy")
        if made_anew:
            folder.mkdir()
        lock(descriptor, operation)

    with monkeypatch.context() as patch:
        patch.setattr(alone.fcntl, "flock", late)
        with alone_in(folder) as held:
            assert held is False
    with alone_in(tmp_path / "policy") as held, alone_in(tmp_path / "gone") as other:
        assert (held, other) == (True, False)


def test_ranges_that_are_not_honoured_begin_the_file_again(begin: Begin, hub: HubServer) -> None:
    row = begin()
    part_of(row).mkdir(parents=True)
    (part_of(row) / SHARD).write_bytes(b"x" * 1000)
    hub.faults.whole.add(SHARD)
    carry_out(row.id)
    row.refresh_from_db()
    assert row.state == "ready"


def test_another_content_is_thrown_away_and_fetched_again(carried: Begin, hub: HubServer, actor: Actor) -> None:
    content = hub.repositories[NAME].files[SHARD]
    hub.faults.changed[SHARD] = content[:-1] + bytes([content[-1] ^ 1])
    row = carried()
    assert row.state == "failed"
    assert row.error.startswith(f"{SHARD} does not match its checksum")
    assert (Policy.objects.count(), (part_of(row) / SHARD).exists()) == (0, False)
    assert (part_of(row) / "model-1.safetensors").is_file()
    hub.faults.changed.clear()
    hub.asked.clear()
    retry_import(row.team, actor, row)
    carry_out(row.id)
    row.refresh_from_db()
    assert row.state == "ready"
    assert [one.path.rpartition("/")[2] for one in hub.asked if one.server == "cdn"] == [SHARD]


def test_a_small_file_is_compared_as_well(carried: Begin, hub: HubServer) -> None:
    content = hub.repositories[NAME].files["tokenizer_config.json"]
    hub.faults.changed["tokenizer_config.json"] = content.replace(b"<end>", b"<END>")
    assert "tokenizer_config.json does not match its checksum" in carried().error


def test_the_token_goes_to_the_hub_alone(
    carried: Begin, hub: HubServer, team: Team, actor: Actor, caplog: pytest.LogCaptureFixture
) -> None:
    hub.repositories[NAME].private = True
    hub.repositories[NAME].readers = ("hf_secret",)
    set_credentials(team, actor, "hub", {"token": "hf_secret"})
    row = carried()
    assert row.state == "ready"
    assert {one.token for one in hub.asked if one.server == "hub"} == {"hf_secret"}
    assert {one.token for one in hub.asked if one.server == "cdn"} == {None}
    stored = json.dumps([*PolicyImport.objects.values(), *AuditEntry.objects.values()], default=str)
    assert "hf_secret" not in stored + caplog.text
    assert "signature=" not in caplog.text, "signed addresses open what they point to"


def test_what_the_environment_holds_is_never_sent(
    carried: Begin, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_of_the_operator")
    assert carried().state == "ready"
    assert {one.token for one in hub.asked} == {None}


def private(hub: HubServer, team: Team, actor: Actor) -> None:
    hub.repositories[NAME].private = True


def private_to_the_token(hub: HubServer, team: Team, actor: Actor) -> None:
    hub.repositories[NAME].private = True
    hub.repositories["other/one"] = type(hub.repositories[NAME])({}, readers=("hf_other",))
    set_credentials(team, actor, "hub", {"token": "hf_other"})


def gated(hub: HubServer, team: Team, actor: Actor) -> None:
    hub.repositories[NAME].gated = True


def gated_to_the_token(hub: HubServer, team: Team, actor: Actor) -> None:
    gated(hub, team, actor)
    hub.repositories["other/one"] = type(hub.repositories[NAME])({}, readers=("hf_other",))
    set_credentials(team, actor, "hub", {"token": "hf_other"})


def bad_token(hub: HubServer, team: Team, actor: Actor) -> None:
    set_credentials(team, actor, "hub", {"token": "hf_revoked"})


def absent(hub: HubServer, team: Team, actor: Actor) -> None:
    hub.repositories.clear()


def no_revision(hub: HubServer, team: Team, actor: Actor) -> None:
    hub.repositories[NAME].revisions = ("other",)


def without_sizes(hub: HubServer, team: Team, actor: Actor) -> None:
    hub.repositories[NAME].sizes = False


def _only(*names: str) -> Callable[[HubServer, Team, Actor], None]:
    def change(hub: HubServer, team: Team, actor: Actor) -> None:
        hub.repositories[NAME].files = {name: b"{}" for name in names}

    return change


def _config(**members: Any) -> Callable[[HubServer, Team, Actor], None]:
    def change(hub: HubServer, team: Team, actor: Actor) -> None:
        hub.repositories[NAME].files["config.json"] = json.dumps({**CONFIG, **members}).encode()

    return change


def bad_index(hub: HubServer, team: Team, actor: Actor) -> None:
    index = {"weight_map": {"a": "../../etc/passwd", "b": "model-1.safetensors"}}
    hub.repositories[NAME].files["model.safetensors.index.json"] = json.dumps(index).encode()


def private_redirect(hub: HubServer, team: Team, actor: Actor) -> None:
    hub.faults.redirect = "http://127.0.0.2:9/secret"


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (private, "that the public may see. Check the name; for a private one have an admin enter a token"),
        (private_to_the_token, "that the team's token may see. Check the name and the token's permissions."),
        (gated, "is gated. Accept its conditions at"),
        (gated_to_the_token, "is gated, and the team's token has no access yet. Accept its conditions at"),
        (bad_token, "refuses the team's token: it has expired or was revoked. An admin enters a new one."),
        (absent, "has no repository tiny/policy that the public may see."),
        (no_revision, "tiny/policy has no revision 'v1'. Name a branch, a tag or a whole commit hash"),
        (without_sizes, "does not report file sizes"),
        (_only("config.json", "pytorch_model.bin"), "Its weights are pickles (pytorch_model.bin)"),
        (_only("config.json", "model.gguf"), "It has GGUF files"),
        (_only("model-Q4.gguf"), "It has GGUF files"),
        (_only("adapter_config.json", "adapter_model.safetensors"), "It has only an adapter. Merge it"),
        (_only("model.safetensors"), "It has no config.json"),
        (_only("config.json"), "It has no safetensors weights."),
        (_config(auto_map={"AutoModel": "m.M"}), "config.json wants to run code from the folder (auto_map)"),
        (
            _config(quantization_config={"quant_method": "gptq"}),
            "Its weights are stored in gptq",
        ),
        (_config(quantization_config={"quant_method": "fp8"}), "FineGrainedFP8Config(dequantize=True)"),
        (_config(quantization_config={"quant_method": "mxfp4"}), "Mxfp4Config(dequantize=True)"),
        (_config(vision_config={"hidden_size": 8}), "processes images or sound, and only text is trained here"),
        (_config(is_encoder_decoder=True), "has an encoder, and only decoders are trained here"),
        (_config(architectures=["MambaForCausalLM"]), "has recurrent layers, which would mix packed sequences"),
        (_config(architectures=["MadeUpForCausalLM"]), "and code shipped with a model is never run. Otherwise choose"),
        (bad_index, "names '../../etc/passwd', which is missing"),
        (private_redirect, "redirects to 127.0.0.2, which is not on the public internet"),
    ],
)
def test_what_cannot_be_imported_says_what_to_do(
    begin: Begin,
    hub: HubServer,
    team: Team,
    actor: Actor,
    spoil: Callable[[HubServer, Team, Actor], None],
    words: str,
) -> None:
    spoil(hub, team, actor)
    row = begin(revision="v1" if spoil is no_revision else "")
    carry_out(row.id)
    row.refresh_from_db()
    assert row.state == "failed", row.error
    assert words in row.error
    assert (Policy.objects.count(), row.finished_at is None) == (0, False)
    large = [one for one in hub.asked if one.server == "cdn" and one.path.endswith(".safetensors")]
    assert not large, "refused before gigabytes were fetched"


def test_limits(carried: Begin, hub: HubServer, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.IMPORT_GIB = 1e-5
    assert "It has 0.0 GiB, and 1e-05 GiB are allowed." in carried(slug="a").error
    settings.IMPORT_GIB, settings.TEAM_IMPORTS_GIB = 1, 1e-5
    assert "of 1e-05 GiB (TEAM_POLICIES_GIB)" in carried(slug="b").error
    settings.TEAM_IMPORTS_GIB = None
    monkeypatch.setattr(work.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 1000})())
    assert "more on the platform's disk, which has 0.0 GiB free for it" in carried(slug="c").error
    assert not [one for one in hub.asked if one.server == "cdn"]


def test_what_is_on_its_way_counts_among_the_teams(
    begin: Begin, hub: HubServer, settings: Any, actor: Actor, team: Team
) -> None:
    settings.TEAM_IMPORTS_GIB = 0.001
    words = "and the team's imports use 0.0 GiB, including open ones, of 0.001 GiB"
    other, row = begin(slug="a"), begin(slug="b")
    PolicyImport.objects.filter(pk=other.pk).update(state="downloading", bytes_total=1_000_000)
    carry_out(row.id)
    row.refresh_from_db()
    assert (row.state, words in row.error, row.bytes_total) == ("failed", True, 0)

    PolicyImport.objects.filter(pk=other.pk).update(state="failed")
    part_of(other).mkdir()
    (part_of(other) / SHARD).write_bytes(bytes(1_000_000))
    retry_import(team, actor, row)
    carry_out(row.id)
    row.refresh_from_db()
    assert (row.state, words in row.error) == ("failed", True), "what a failed one has left counts"

    (part_of(other) / SHARD).write_bytes(bytes(1000))
    retry_import(team, actor, row)
    carry_out(row.id)
    row.refresh_from_db()
    assert (row.state, row.bytes_total > 320_000) == ("ready", True)


def test_a_size_of_before_does_not_count_when_it_is_tried_again(begin: Begin, team: Team, actor: Actor) -> None:
    row = begin()
    PolicyImport.objects.filter(pk=row.pk).update(state="failed", bytes_total=1_000_000)
    assert retry_import(team, actor, row).bytes_total == 0


def test_a_hub_that_is_away_is_waited_for(carried: Begin, hub: HubServer, settings: Any) -> None:
    there, settings.HUB_ENDPOINT = settings.HUB_ENDPOINT, "http://127.0.0.1:9"
    row = carried()
    assert (row.state, row.faults) == ("queued", 1)
    assert row.error.startswith("The connection to 127.0.0.1:9 failed (ConnectError).")
    settings.HUB_ENDPOINT = there
    carry_out(row.id)
    row.refresh_from_db()
    assert (row.state, row.error) == ("ready", "")


def test_after_many_faults_it_has_failed(carried: Begin, hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "MAX_FAULTS", 2)
    hub.faults.status["config.json"] = [503] * 4
    row = carried()
    assert (row.state, row.faults) == ("queued", 1)
    carry_out(row.id)
    row.refresh_from_db()
    assert row.state == "failed"
    assert "currently answers 503. It was tried 2 times. A retry continues from the data already fetched." in row.error


def test_a_cancelled_import_stops_and_leaves_nothing(
    begin: Begin, hub: HubServer, team: Team, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "EVERY_S", 0.0)
    row = begin()
    tick = progress.Progress.tick

    def cancelled_meanwhile(self: progress.Progress, *args: Any, **options: Any) -> None:
        if self.files == 2:
            cancel_import(team, actor, PolicyImport.objects.get(pk=row.pk))
        tick(self, *args, **options)

    monkeypatch.setattr(progress.Progress, "tick", cancelled_meanwhile)
    carry_out(row.id)
    row.refresh_from_db()
    assert (row.state, Policy.objects.count(), part_of(row).exists()) == ("cancelled", 0, False)


def test_a_worker_that_is_stopped_gives_it_back(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    row = begin()
    monkeypatch.setattr(progress, "is_stopping", lambda: True)
    carry_out(row.id)
    row.refresh_from_db()
    assert (row.state, row.error, row.faults) == ("queued", "", 0)


def test_a_slug_that_was_taken_meanwhile(begin: Begin, team: Team, actor: Actor, tmp_path: Path) -> None:
    row = begin()
    Policy.objects.create(
        team=team, slug="tiny", name="P", path="/p", architecture="A", parameters=1, vocab_size=1,
        max_position_embeddings=1, bytes=1, sha256="0", created_by="x",
    )  # fmt: skip
    carry_out(row.id)
    row.refresh_from_db()
    assert (row.state, row.error) == ("failed", "There is already a policy 'tiny'. Choose another slug.")
    assert not (own_root(team) / row.policy_id).exists()


def test_only_so_many_at_once(begin: Begin, monkeypatch: pytest.MonkeyPatch, hub: HubServer) -> None:
    for slug in ("a", "b"):
        PolicyImport.objects.filter(pk=begin(slug=slug).pk).update(state="downloading", heard_at=timezone.now())
    third = begin(slug="c")
    carry_out(third.id)
    third.refresh_from_db()
    assert (third.state, hub.asked) == ("queued", [])


def test_those_that_hang_have_their_places(begin: Begin, hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [begin(slug=slug) for slug in ("a", "b", "c")]
    begun: list[str] = []

    def hang(self: Any) -> None:
        begun.append(self._row.slug)
        PolicyImport.objects.update(heard_at=timezone.now() - timedelta(seconds=60))
        if len(begun) < len(rows):
            carry_out(rows[len(begun)].id)  # as another thread does it meanwhile

    with monkeypatch.context() as patch:
        patch.setattr(module._PolicyImportWork, "run", hang)
        carry_out(rows[0].id)
    assert begun == ["a", "b"], "two threads of four are left for runs"
    carry_out(rows[2].id)
    rows[2].refresh_from_db()
    assert rows[2].state == "ready"


def test_the_first_shard_of_two_repositories_is_chosen_by_the_index(carried: Begin, hub: HubServer) -> None:
    files = hub.repositories[NAME].files
    files["consolidated.safetensors"] = files["model-1.safetensors"]
    row = carried()
    assert row.state == "ready"
    assert not [one for one in hub.asked if "consolidated" in one.path]


def test_weights_without_an_index(carried: Begin, hub: HubServer, tmp_path: Path) -> None:
    folder = write_policy(tmp_path / "single")
    (folder / "model.safetensors.index.json").unlink()
    (folder / SHARD).unlink()
    (folder / "model-1.safetensors").rename(folder / "model.safetensors")
    hub.add(NAME, folder)
    assert carried().state == "ready"
