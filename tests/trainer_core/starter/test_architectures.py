"""Tiny policies of every architecture: small, loadable, with tokenizers that encode any text and settings that bite."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel

from trainer_core.starter.architectures import ARCHITECTURES, WINDOW, make_tiny

TEXT = "Tom has 48 apples.\nÜber 'naïve' <think> 数学 🙂"


def loaded(folder: Path) -> PreTrainedModel:
    model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(folder)
    return model.eval()


@torch.no_grad()
def logits(model: PreTrainedModel, ids: list[int]) -> torch.Tensor:
    found: torch.Tensor = model(torch.tensor([ids])).logits[0].float()
    return found


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_tiny_policy_of_each_architecture_is_read_by_transformers(name: str, tmp_path: Path) -> None:
    folder = make_tiny(name, tmp_path / name)
    model, tokenizer = loaded(folder), AutoTokenizer.from_pretrained(folder)
    config = json.loads((folder / "config.json").read_text())
    assert config["architectures"] == [ARCHITECTURES[name].model]
    assert model.num_parameters() < 1_000_000
    assert len(tokenizer) == config["vocab_size"]
    assert tokenizer.decode(tokenizer.encode(TEXT), skip_special_tokens=True) == TEXT
    chat = tokenizer.apply_chat_template(
        [{"role": "user", "content": "1+1="}], tokenize=False, add_generation_prompt=True
    )
    assert "1+1=" in chat
    assert len(tokenizer.encode(chat, add_special_tokens=False)) < len(chat) / 2, "control tokens are single tokens"
    assert 0.3 < logits(model, list(range(40, 80))).std() < 3
    moved = [parameter for parameter in model.parameters() if parameter.ndim == 1]
    assert all(parameter.unique().numel() > 1 for parameter in moved)


@pytest.mark.parametrize("name", ["mistral", "gemma2", "olmo3", "gpt_oss"])
def test_a_sliding_window_is_felt_by_sequences_that_are_longer(name: str, tmp_path: Path) -> None:
    folder = make_tiny(name, tmp_path / name)
    model, ids = loaded(folder), list(range(40, 40 + 2 * WINDOW))
    narrow = logits(model, ids)
    config = json.loads((folder / "config.json").read_text()) | {"sliding_window": 4 * WINDOW}
    (folder / "config.json").write_text(json.dumps(config))
    difference = (narrow - logits(loaded(folder), ids)).abs().amax(-1)
    assert difference[:WINDOW].max() < 1e-5
    assert difference[WINDOW:].max() > 1e-2


@pytest.mark.parametrize("name", ["qwen3", "gemma2", "gemma3", "granite"])
def test_sharpening_scales_all_logits(name: str, tmp_path: Path) -> None:
    soft = logits(loaded(make_tiny(name, tmp_path / "soft")), [70, 80, 90])
    sharp = logits(loaded(make_tiny(name, tmp_path / "sharp", sharpen=10)), [70, 80, 90])
    assert torch.allclose(sharp, 10 * soft, rtol=1e-4, atol=1e-3)


def test_heads_seeds_and_number_types(tmp_path: Path) -> None:
    tied = loaded(make_tiny("llama3", tmp_path / "tied", tied=True, dtype="bfloat16"))
    assert tied.dtype == torch.bfloat16
    assert tied.lm_head.weight is tied.model.embed_tokens.weight
    untied = loaded(make_tiny("llama3", tmp_path / "untied", tied=False))
    again = loaded(make_tiny("llama3", tmp_path / "again", tied=False))
    other = loaded(make_tiny("llama3", tmp_path / "other", tied=False, seed=1))
    assert not torch.equal(untied.lm_head.weight, untied.model.embed_tokens.weight)
    assert torch.equal(untied.lm_head.weight, again.lm_head.weight)
    assert not torch.equal(untied.lm_head.weight, other.lm_head.weight)


def test_refusals_say_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unknown architecture 'bert'; known: llama3"):
        make_tiny("bert", tmp_path / "none")
    with pytest.raises(ValueError, match="policies of gemma2 have tied heads, not untied"):
        make_tiny("gemma2", tmp_path / "none", tied=False)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(FileExistsError, match="not empty"):
        make_tiny("qwen3", tmp_path / "full")
    assert not (tmp_path / "none").exists()
