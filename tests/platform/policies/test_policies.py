"""Registering base policies: facts are read without running anything, and unfit folders are refused."""

import errno
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rest_framework.test import APIClient
from safetensors.numpy import save_file

from dressage.common.actors import Actor
from dressage.policies.folders import ClosedFolder, require_still_open
from dressage.policies.models import Policy
from dressage.policies.services import register_policy
from dressage.teams.models import AuditEntry, Team
from tests.support.about import PLATFORM

CONFIG = {"architectures": ["Qwen3ForCausalLM"], "vocab_size": 32, "max_position_embeddings": 256}


@pytest.fixture
def root(settings: Any, tmp_path: Path) -> Path:
    folder = tmp_path / "policies"
    folder.mkdir()
    settings.POLICY_ROOTS = [folder]
    return folder


@pytest.fixture
def folder(root: Path) -> Path:
    """A complete, small policy: 32·8 + 8 numbers."""
    path = root / "starter"
    path.mkdir()
    (path / "config.json").write_text(json.dumps(CONFIG))
    (path / "tokenizer.json").write_text("{}")
    tensors = {"embed": np.zeros((32, 8), np.float32), "norm": np.ones(8, np.float16)}
    save_file(tensors, path / "model.safetensors")
    return path


@pytest.fixture
def editor(api: Callable[..., APIClient]) -> APIClient:
    """Someone who may register; an admin, since the path is shown to no other."""
    return api("admin")


def register(client: APIClient, path: Path | str, **fields: str) -> Any:
    return client.post("/api/v1/policies", {"name": "Starter", "path": str(path), **fields}, format="json")


def test_register(editor: APIClient, folder: Path) -> None:
    response = register(editor, folder)
    assert response.status_code == 201
    document = response.json()
    assert {key: document[key] for key in document if key not in ("id", "sha256", "created_at")} == {
        "slug": "starter",
        "name": "Starter",
        "path": str(folder),
        "checkpoint": None,
        "origin": None,
        "architecture": "Qwen3ForCausalLM",
        "parameters": 264,
        "vocab_size": 32,
        "max_position_embeddings": 256,
        "bytes": (folder / "model.safetensors").stat().st_size,
        "created_by": editor.user.email,
    }
    assert editor.get(f"/api/v1/policies/{document['id']}").json() == document
    assert editor.get("/api/v1/policies").json()["data"] == [document]
    assert AuditEntry.objects.get().after == {"slug": "starter", "path": str(folder), "sha256": document["sha256"]}


def test_the_hash_is_of_the_content(team: Team, actor: Actor, folder: Path) -> None:
    first = register_policy(team, actor, "One", folder)
    assert register_policy(team, actor, "Two", folder).sha256 == first.sha256
    save_file({"embed": np.ones((32, 8), np.float32)}, folder / "model.safetensors")
    assert register_policy(team, actor, "Three", folder).sha256 != first.sha256


def test_shards(editor: APIClient, folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    save_file({"a": np.zeros((3, 5), np.float32)}, folder / "model-1.safetensors")
    save_file({"b": np.zeros(7, np.float32)}, folder / "model-2.safetensors")
    save_file({"c": np.zeros(100, np.float32)}, folder / "unused.safetensors")
    index = {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    assert register(editor, folder).json()["parameters"] == 22
    (folder / "model-2.safetensors").unlink()
    response = register(editor, folder, slug="again")
    assert "names model-2.safetensors, which is not in the folder" in response.json()["detail"]


def date_that_is_none(folder: Path) -> None:
    (folder / "README.md").write_text("---\ndate: 2024-02-30\nlicense: mit\n---\n")


def deep_card(folder: Path) -> None:
    (folder / "README.md").write_text(f"---\nx: {'[' * 50_000}\n---\n")


def wrong_tag(folder: Path) -> None:
    (folder / "README.md").write_text("---\nx: !!bool perhaps\n---\n")


def folders_of_those_names(folder: Path) -> None:
    for name in ("README.md", "LICENSE", "LICENCES"):
        (folder / name).mkdir()


@pytest.mark.expensive(6, "copies files of a policy", about=PLATFORM)
@pytest.mark.parametrize("spoil", [date_that_is_none, deep_card, wrong_tag, folders_of_those_names])
def test_a_card_that_cannot_be_read_is_no_licence(
    editor: APIClient, folder: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(folder)
    response = register(editor, folder)
    assert response.status_code == 201, response.content
    assert Policy.objects.get().facts["licence"] is None
    (folder / "LICENSE.txt").write_text("\nMIT License\n\nCopyright\n")
    register(editor, folder, slug="again")
    assert Policy.objects.get(slug="again").facts["licence"] == "MIT License"


def pickles(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def no_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def damaged(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1])


def not_weights(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"\x80\x04K\x01.")


def own_code(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps({**CONFIG, "auto_map": {"AutoModel": "m.Model"}}))


def own_tokenizer_code(folder: Path) -> None:
    (folder / "tokenizer_config.json").write_text('{"auto_map": {"AutoTokenizer": ["t.T", null]}}')


def no_config(folder: Path) -> None:
    (folder / "config.json").unlink()


def broken_config(folder: Path) -> None:
    (folder / "config.json").write_text("{")


def deep_config(folder: Path) -> None:
    (folder / "config.json").write_text("[" * 100_000)


def list_config(folder: Path) -> None:
    (folder / "config.json").write_text("[]")


def no_vocabulary(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps({**CONFIG, "vocab_size": "many"}))


def no_architecture(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps({**CONFIG, "architectures": []}))


def unknown_class(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps({**CONFIG, "architectures": ["Qwen4ForCausalLM"]}))


def recurrent_class(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps({**CONFIG, "architectures": ["MambaForCausalLM"]}))


def no_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()


def weights_elsewhere(folder: Path) -> None:
    outside = folder.parent.parent / "outside.safetensors"
    (folder / "model.safetensors").rename(outside)
    (folder / "model.safetensors").symlink_to(outside)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (pickles, "The weights are pickles (pytorch_model.bin)"),
        (no_weights, "The folder has no safetensors weights."),
        (damaged, "model.safetensors is damaged"),
        (not_weights, "model.safetensors is damaged"),
        (own_code, "config.json wants to run code"),
        (own_tokenizer_code, "tokenizer_config.json wants to run code"),
        (no_config, "The folder has no config.json."),
        (broken_config, "config.json is not valid JSON."),
        (deep_config, "config.json is not valid JSON."),
        (list_config, "config.json is not a JSON object."),
        (no_vocabulary, "config.json has no usable vocab_size."),
        (no_architecture, "config.json names no architecture."),
        (unknown_class, "The closest that learner and engine know is Qwen3ForCausalLM: if its weights are the same"),
        (recurrent_class, "has recurrent layers, which would mix packed sequences"),
        (no_tokenizer, "The folder has no tokenizer"),
        (weights_elsewhere, "model.safetensors leads to a file outside this team's folders"),
    ],
)
def test_unfit_folders(editor: APIClient, folder: Path, spoil: Callable[[Path], None], words: str) -> None:
    spoil(folder)
    response = register(editor, folder)
    assert (response.status_code, response.json()["error"]["code"]) == (422, "unfit_policy")
    assert response.json()["errors"][0]["pointer"] == "/path"
    assert words in response.json()["detail"]
    assert (Policy.objects.count(), AuditEntry.objects.count()) == (0, 0)


def test_places_outside_the_roots(editor: APIClient, folder: Path, root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "policies-of-others"
    folder.rename(outside)
    (root / "link").symlink_to(outside)
    for path in (outside, root / "link", root / ".." / outside.name, "/etc", "starter", root / "a\nb", "~"):
        response = register(editor, path)
        assert response.status_code == 422, path
    assert "There is no such folder." in register(editor, root / "nothing").json()["detail"]
    assert Policy.objects.count() == 0


def test_a_folder_that_cannot_be_read_is_told_without_its_path(
    editor: APIClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert register(editor, folder, slug="before").status_code == 201
    policy, before = Policy.objects.select_related("team").get(), AuditEntry.objects.count()
    listing = Path.iterdir

    def locked(path: Path) -> Iterator[Path]:
        if path == folder:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return listing(path)

    monkeypatch.setattr(Path, "iterdir", locked)
    response = register(editor, folder)
    assert (response.status_code, response.json()["error"]["code"]) == (422, "unfit_policy")
    assert response.json()["errors"][0] == {
        "pointer": "/path",
        "detail": "its folder cannot be read (Permission denied)",
    }
    assert str(folder) not in response.content.decode()
    assert (Policy.objects.count(), AuditEntry.objects.count()) == (1, before)
    with pytest.raises(ClosedFolder, match=r"^its folder cannot be read \(Permission denied\)$"):
        require_still_open(policy)


def test_a_link_inside_the_roots_is_followed(editor: APIClient, folder: Path, root: Path) -> None:
    (root / "link").symlink_to(folder)
    assert register(editor, root / "link").json()["path"] == str(folder)


def test_a_snapshot_of_a_cache_stays_usable_when_its_root_is_taken_off(
    editor: APIClient, folder: Path, root: Path, settings: Any
) -> None:
    repository = root / "models--small"
    blobs, snapshot = repository / "blobs", repository / "snapshots" / "1f"
    blobs.mkdir(parents=True)
    snapshot.mkdir(parents=True)
    for number, file in enumerate(sorted(folder.iterdir())):
        file.rename(blobs / str(number))
        (snapshot / file.name).symlink_to(f"../../blobs/{number}")
    assert register(editor, snapshot).status_code == 201
    policy = Policy.objects.select_related("team").get()
    settings.POLICY_ROOTS = []
    require_still_open(policy)
    (snapshot / "config.json").unlink()
    (snapshot / "config.json").symlink_to(folder)
    with pytest.raises(ClosedFolder, match=r"^config\.json leads to a file outside this team's folders$"):
        require_still_open(policy)


def test_safetensors_beside_pickles_are_fine(editor: APIClient, folder: Path) -> None:
    (folder / "training_args.bin").write_bytes(b"\x80\x04K\x01.")
    assert register(editor, folder).status_code == 201


def test_a_taken_slug(editor: APIClient, folder: Path) -> None:
    register(editor, folder)
    response = register(editor, folder)
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (409, "/slug")
    assert Policy.objects.count() == 1


@pytest.mark.parametrize(
    ("fields", "pointer"), [({"name": ""}, "/name"), ({"path": ""}, "/path"), ({"slug": "é"}, "/slug")]
)
def test_bad_fields(editor: APIClient, folder: Path, fields: dict[str, str], pointer: str) -> None:
    body = {"name": "Starter", "path": str(folder), **fields}
    response = editor.post("/api/v1/policies", body, format="json")
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, pointer)
