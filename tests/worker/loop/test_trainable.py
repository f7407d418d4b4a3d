"""A run's start and a rehearsal refuse a policy that a library cannot load, in the words of the platform."""

import json
from pathlib import Path

import pytest

from tests.trainer_core.specs import spec
from worker.errors import StartError
from worker.loop.startup import check_trainable


def folder_of(path: Path, name: str, model_type: str) -> Path:
    config = {"architectures": [name], "model_type": model_type, "max_position_embeddings": 4096}
    (path / "config.json").write_text(json.dumps(config))
    return path


def test_a_class_that_no_library_knows_is_refused_before_an_engine_starts(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "Qwen4ForCausalLM", "qwen4")
    with pytest.raises(StartError, match=r"cannot be trained: Qwen4ForCausalLM is unknown to both .* is Qwen3ForC"):
        check_trainable(folder, spec())


def test_a_class_that_both_know_and_nobody_has_tried_may_start(tmp_path: Path) -> None:
    check_trainable(folder_of(tmp_path, "Ernie4_5ForCausalLM", "ernie4_5"), spec())
