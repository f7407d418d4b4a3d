"""Making a hybrid starter policy: its experts learn, and its files are what every loader reads."""

import random
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from tests.support.about import LEARNING
from trainer_core.starter.hybrid import build_hybrid
from trainer_core.starter.make import make_starter
from trainer_core.starter.plans import full_plan, quick
from trainer_core.starter.tokenizer import build_tokenizer
from trainer_core.starter.warmup import train_act
from trainer_core.update.hybrid.lightning import is_constant
from trainer_core.update.model.policy import load_policy


@pytest.mark.expensive(3, "computes many cases", about=LEARNING)
def test_the_warm_up_trains_every_expert() -> None:
    tokenizer = build_tokenizer(2048)
    model = build_hybrid(tokenizer, seed=3)
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    losses = train_act(model, tokenizer, quick(full_plan()).think, random.Random(0))
    assert min(losses[-4:]) < losses[0] - 0.5
    for name, parameter in model.named_parameters():
        moved = (parameter.detach() - before[name]).abs().flatten(1 if parameter.ndim == 3 else 0).amax(-1)
        assert bool((moved > 0).all()), name


@pytest.mark.expensive(7, "computes many cases", about=LEARNING)
def test_the_folder_holds_weights_alone(tmp_path: Path) -> None:
    folder = tmp_path / "policy"
    lines: list[str] = []
    make_starter(folder, quick(full_plan()), 0, "a test", lines.append, hybrid=True)
    assert lines[-1].startswith(f"wrote {folder}")
    assert not [name for name in load_file(folder / "model.safetensors") if is_constant(name)]
    assert "hybrid MiniMax-architecture language model" in (folder / "README.md").read_text()
    theirs, ours = AutoModelForCausalLM.from_pretrained(folder).eval(), load_policy(folder)
    assert theirs.config.layer_types == ["linear_attention"] * 7 + ["full_attention"]
    ids = AutoTokenizer.from_pretrained(folder)("12+34=", return_tensors="pt")["input_ids"]
    with torch.no_grad():
        logits = theirs(ids).logits
    assert bool(torch.isfinite(logits).all()) and ours.num_parameters() == theirs.num_parameters()
    for mine, stock in zip(ours.model.layers, theirs.model.layers, strict=True):
        if mine.block_type == "linear_attention":
            torch.testing.assert_close(mine.self_attn.slope_rate, stock.self_attn.slope_rate)
