"""Policies that cannot be trained as a spec asks are refused before a run exists, with what to do."""

import json
from collections.abc import Callable
from pathlib import Path

from rest_framework.test import APIClient

from dressage.runs.models import Run
from tests.platform.runs.fixtures import spec_document


def test_a_policy_that_cannot_train_is_refused_with_the_way_out(api: Callable[..., APIClient], nouns: Path) -> None:
    config = {"architectures": ["Gemma3ForConditionalGeneration"], "vision_config": {}}
    (nouns / "config.json").write_text(json.dumps(config))
    body = {"name": "n", "spec": spec_document(), "start": False}
    answer = api("operator").post("/api/v1/runs", body, format="json")
    assert answer.status_code == 422
    [error] = answer.json()["errors"]
    assert error["pointer"] == "/spec/policy/base"
    assert "save its text part as Gemma3ForCausalLM" in error["detail"]
    assert not Run.objects.exists()
    checked = api("operator").post("/api/v1/spec/validate", {"spec": spec_document()}, format="json").json()
    assert (checked["valid"], checked["errors"]) == (False, [error])


def test_a_spec_beyond_a_policys_positions_is_told_the_field(api: Callable[..., APIClient], nouns: Path) -> None:
    config = {"architectures": ["Qwen3ForCausalLM"], "max_position_embeddings": 64}
    (nouns / "config.json").write_text(json.dumps(config))
    answer = api("operator").post("/api/v1/spec/validate", {"spec": spec_document()}, format="json")
    [error] = answer.json()["errors"]
    assert error["pointer"] == "/spec/rollout/engine/max_model_len"
    assert error["detail"].endswith("set rollout.engine.max_model_len to 64 or less.")
    (nouns / "config.json").write_text(json.dumps({**config, "max_position_embeddings": 96}))
    answer = api("operator").post("/api/v1/spec/validate", {"spec": spec_document()}, format="json")
    assert answer.json()["errors"] == []
