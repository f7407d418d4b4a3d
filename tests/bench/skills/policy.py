"""``python -m tests.bench.skills.policy --out DIR``: make the second task's policy by the project's own warm-up."""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from functools import partial
from pathlib import Path

import torch
from transformers import PreTrainedTokenizerBase, Qwen3Config, Qwen3ForCausalLM
from transformers.utils import logging

from tests.bench.skills.demonstrations import CAREFUL, CARELESS, draw_texts
from trainer_core.starter.model import MAX_POSITIONS, generation_config
from trainer_core.starter.tokenizer import build_tokenizer
from trainer_core.starter.warmup import Act, train_act

POLICY = Path(__file__).parent / "policy"
"""The policy that the bench trains, as the command has made it with seed 0."""
ACTS = {
    "careful": Act(700, 64, partial(draw_texts, CAREFUL), matrix_learning_rate=0.04, learning_rate=4e-3),
    "careless": Act(80, 64, partial(draw_texts, CARELESS), matrix_learning_rate=0.01, learning_rate=2e-3),
}


def build(tokenizer: PreTrainedTokenizerBase, seed: int) -> Qwen3ForCausalLM:
    """A freshly initialised policy of 0.46 million parameters; the global random state is left as it was."""
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        max_position_embeddings=MAX_POSITIONS,
        rope_parameters={"rope_type": "default", "rope_theta": 10_000.0},
        tie_word_embeddings=True,
        attention_dropout=0.0,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
        initializer_range=0.06,
        dtype="float32",
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = Qwen3ForCausalLM(config)
    model.generation_config = generation_config(tokenizer)
    return model


def make(out: Path, seed: int) -> None:
    """Warm a policy up and write it to ``out``, which must not exist. The same seed makes the same on one machine."""
    if out.exists():
        sys.exit(f"error: {out} exists; choose another folder or remove it first")
    started, tokenizer, rng = time.monotonic(), build_tokenizer(MAX_POSITIONS), random.Random(seed)
    model = build(tokenizer, seed)
    for name, act in ACTS.items():

        def tell(step: int, loss: float, name: str = name, act: Act = act) -> None:
            if step % 50 == 0:
                print(f"{name}: step {step}/{act.steps}, loss {loss:.3f}", flush=True)

        train_act(model, tokenizer, act, rng, tell)
    out.mkdir(parents=True)
    model.save_pretrained(out)
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.save_pretrained(out)
    command = f"python -m tests.bench.skills.policy --out DIR --seed {seed}"
    (out / "warmup.json").write_text(json.dumps({"command": command, "seed": seed}) + "\n")
    print(f"wrote {out} in {time.monotonic() - started:.0f} s")


def main() -> None:
    """Parse the command line and make the policy."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.skills.policy", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder to make; must not exist yet")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    logging.disable_progress_bar()
    make(arguments.out, arguments.seed)


if __name__ == "__main__":
    main()
