"""Arithmetic of a step: counted by hand, and for policies with experts."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from tests.trainer_core.batches import group, trajectory
from trainer_core.planning.active import active_parameters
from trainer_core.planning.compute import Peaks, learned_tokens, utilisation

CONFIG = {"num_hidden_layers": 1, "hidden_size": 4, "num_attention_heads": 2, "vocab_size": 10, "intermediate_size": 8}


def folder(path: Path, config: dict[str, Any], shapes: dict[str, tuple[int, ...]]) -> Path:
    (path / "config.json").write_text(json.dumps({**CONFIG, **config}))
    save_file({name: np.zeros(shape, np.float32) for name, shape in shapes.items()}, str(path / "model.safetensors"))
    return path


def test_a_dense_policy_uses_every_parameter(tmp_path: Path) -> None:
    shapes = {"model.embed_tokens.weight": (10, 4), "model.layers.0.mlp.up_proj.weight": (8, 4)}
    assert active_parameters(folder(tmp_path, {}, shapes)) == 40 + 32


@pytest.mark.parametrize(
    "experts",
    [
        {f"model.layers.0.mlp.experts.{index}.up_proj.weight": (8, 4) for index in range(4)},
        {"model.layers.0.mlp.experts.gate_up_proj": (4, 8, 4)},
    ],
    ids=["apart", "joint"],
)
def test_of_experts_those_count_that_a_token_is_sent_to(tmp_path: Path, experts: dict[str, tuple[int, ...]]) -> None:
    config = {"num_experts": 4, "num_experts_per_tok": 1}
    shapes = {"model.embed_tokens.weight": (10, 4), **experts}
    assert active_parameters(folder(tmp_path, config, shapes)) == 40 + 4 * 32 // 4


def test_a_folder_that_does_not_tell_counts_nothing(tmp_path: Path) -> None:
    assert active_parameters(tmp_path) == 0


def test_utilisation_is_the_time_at_the_peaks_over_the_time_taken() -> None:
    # 2 * 100 * 50 operations at 1e3/s take 10 s, 6 * 100 * 20 at 4e3/s 3 s.
    assert utilisation(100, 50, 20, Peaks(1e3, 4e3), 26.0) == pytest.approx(0.5)


@pytest.mark.parametrize(("share_prompts", "expected"), [(True, 2 * 3 + 4), (False, 2 * 3 + 2 * 4)])
def test_the_learner_computes_with_what_takes_part(share_prompts: bool, expected: int) -> None:
    def sample(excluded: str | None = None) -> Any:
        return trajectory(
            1.0,
            prompt_ids=np.arange(4, dtype=np.int32),
            token_ids=np.arange(3, dtype=np.int32),
            excluded=excluded,
        )

    taken, dropped = group([sample(), sample(), sample("too long")]), group([sample("no signal")])
    assert learned_tokens([taken, dropped], share_prompts) == expected
