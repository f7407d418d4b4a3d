"""``python -m tests.bench.skills.policy --out DIR``: make the second task's policy by the project's own warm-up."""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from functools import partial
from pathlib import Path
from statistics import fmean

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerBase, Qwen3Config, Qwen3ForCausalLM
from transformers.utils import logging

from tests.bench.skills.demonstrations import CAREFUL, CARELESS, draw_texts
from tests.bench.skills.rows import held_out_problems
from tests.bench.skills.sampler import Sampler
from tests.bench.skills.settings import LONGEST
from trainer_core.rewards.sample import split_thinking
from trainer_core.starter.model import MAX_POSITIONS, generation_config
from trainer_core.starter.tokenizer import THINK_END, THINK_START, build_tokenizer
from trainer_core.starter.warmup import Act, train_act

POLICY = Path(__file__).parent / "policy"
"""The policy that the bench trains, as the command has made it with seed 0."""
MEASURED, SAMPLES = 64, 4
"""Held-out problems of each sub-skill, and samples of each, that a new policy is measured on."""
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
    measured = measure(Sampler(model.config, weights_of(model)), tokenizer, seed)
    command = f"python -m tests.bench.skills.policy --out DIR --seed {seed}"
    (out / "warmup.json").write_text(json.dumps({"command": command, "seed": seed, "measured": measured}) + "\n")
    print(f"wrote {out} in {time.monotonic() - started:.0f} s")


def weights_of(model: Qwen3ForCausalLM) -> dict[str, NDArray[np.float32]]:
    """Weights under their Hugging Face names, the tied head once."""
    return {name: values.detach().numpy() for name, values in model.state_dict().items() if name != "lm_head.weight"}


def measure(sampler: Sampler, tokenizer: PreTrainedTokenizerBase, seed: int) -> dict[str, dict[str, float]]:
    """Share of right answers to held-out problems by sub-skill: of all samples, of those with working, and without."""
    problems = [problem for problem in held_out_problems(MEASURED) for _ in range(SAMPLES)]
    prompts = [tokenizer(problem.prompt)["input_ids"] for problem in problems]
    completions = sampler.sample(prompts, LONGEST, torch.Generator().manual_seed(seed))
    found: dict[str, dict[str, list[float]]] = {}
    for problem, one in zip(problems, completions, strict=True):
        text = tokenizer.decode(one.tokens, skip_special_tokens=True)
        thinking, answer = split_thinking(text, THINK_START, THINK_END)
        right = float(one.ended and answer == problem.answer)
        own = found.setdefault(problem.source, {"right": [], "thinking": [], "guessing": []})
        own["right"].append(right)
        own["guessing" if thinking is None else "thinking"].append(right)
    return {source: {name: fmean(values) for name, values in own.items()} for source, own in found.items()}


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
