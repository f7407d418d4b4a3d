"""A hub on the loopback with one small policy, and a team whose folder lies in a folder of the test's own."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from dressage.common.actors import Actor
from dressage.imports.hub import _guard_once
from dressage.policies.imports.carry_out import carry_out
from dressage.policies.imports.services import start_import
from dressage.policies.models import PolicyImport
from dressage.teams.models import Team
from tests.support.hub_server import Faults, HubServer

CONFIG = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "vocab_size": 32,
    "max_position_embeddings": 256,
    "num_hidden_layers": 2,
    "hidden_size": 8,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "intermediate_size": 16,
    "tie_word_embeddings": True,
}
TOKENIZER = {
    "chat_template": "{% for m in messages %}{{ m.content }}{% endfor %}{% if add_generation_prompt %}>{% endif %}",
    "eos_token": {"content": "<end>"},
    "pad_token": "<pad>",
    "additional_special_tokens": ["<tool>"],
}
NAME = "tiny/policy"


def write_policy(folder: Path, **config: Any) -> Path:
    """A complete policy in two shards; other members of its configuration may be given."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({**CONFIG, **config}))
    (folder / "tokenizer.json").write_text("{}")
    (folder / "tokenizer_config.json").write_text(json.dumps(TOKENIZER))
    (folder / "modeling_own.py").write_text("raise SystemExit('code of the repository was run')")
    (folder / "training_args.bin").write_bytes(b"\x80\x04K\x01.")
    random = np.random.default_rng(0)
    shards = {
        "model-1.safetensors": {"model.embed_tokens.weight": random.normal(size=(32, 8)).astype(np.float32)},
        "model-2.safetensors": {"model.layers.0.self_attn.q_proj.weight": np.ones((20_000, 8), np.float16)},
    }
    for name, tensors in shards.items():
        save_file(tensors, folder / name)
    index = {"weight_map": {tensor: name for name, tensors in shards.items() for tensor in tensors}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder


@pytest.fixture
def hub(hub_server: HubServer, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HubServer:
    """The hub with the policy ``tiny/policy``, as it is without faults."""
    hub_server.repositories.clear()
    hub_server.asked.clear()
    hub_server.faults = Faults()
    hub_server.holding.clear()
    hub_server.add(NAME, write_policy(tmp_path / "upstream"))
    settings.HUB_ENDPOINT = hub_server.url
    settings.TEAM_POLICY_ROOT = tmp_path / "team-policies"
    monkeypatch.setattr("dressage.imports.hub_connections.PIECE_BYTES", 10_000)
    _guard_once.cache_clear()
    # The client waits a second before it goes on after a cut.
    monkeypatch.setattr("huggingface_hub.file_download.time.sleep", lambda seconds: None)
    return hub_server


@pytest.fixture
def begin(hub: HubServer, team: Team, actor: Actor) -> Callable[..., PolicyImport]:
    """``begin(location=…, revision=…)``: an import that waits for a worker."""

    def make(**fields: Any) -> PolicyImport:
        return start_import(team, actor, **{"name": "Tiny", "slug": None, "source": "hub", "location": NAME, **fields})

    return make


@pytest.fixture
def carried(begin: Callable[..., PolicyImport]) -> Callable[..., PolicyImport]:
    """``carried(…)``: an import that a worker has had once."""

    def make(**fields: Any) -> PolicyImport:
        row = begin(**fields)
        carry_out(row.id)
        row.refresh_from_db()
        return row

    return make
