"""The peer's optimisation step: TRL's GRPOTrainer on given tokens, with nothing generated.

Runs in TRL's own environment (``setup.sh`` beside it). Prints a JSON list: processor seconds of each optimizer step.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from trl import GRPOConfig, GRPOTrainer


class Clock(TrainerCallback):
    """Processor time from the beginning to the end of each step."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self._start = 0.0

    def on_step_begin(self, *_: Any, **__: Any) -> None:
        self._start = time.process_time()

    def on_step_end(self, *_: Any, **__: Any) -> None:
        self.seconds.append(time.process_time() - self._start)


class GivenTokens(GRPOTrainer):
    """Learns from the same completions in every step, padded as TRL pads its own."""

    given: dict[str, torch.Tensor]

    def _generate_and_score_completions(self, inputs: Any) -> dict[str, torch.Tensor]:
        return dict(self.given)


def padded(rows: list[list[int]], side: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids and mask [B, L]."""
    longest = max(map(len, rows))
    ids, mask = (
        torch.zeros((len(rows), longest), dtype=torch.int64),
        torch.zeros((len(rows), longest), dtype=torch.int64),
    )
    for number, row in enumerate(rows):
        place = slice(0, len(row)) if side == "right" else slice(longest - len(row), longest)
        ids[number, place], mask[number, place] = torch.tensor(row), 1
    return ids, mask


def main() -> None:
    """Train and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policy", required=True)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--tokens", required=True, type=Path)
    parser.add_argument("--group-size", type=int, required=True)
    parser.add_argument("--rows", type=int, required=True, help="completions of one micro-batch")
    parser.add_argument("--steps", type=int, required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    tokens = json.loads(args.tokens.read_text())
    prompt_ids, prompt_mask = padded([one["prompt"] for one in tokens], "left")
    completion_ids, completion_mask = padded([one["completion"] for one in tokens], "right")
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        config = GRPOConfig(
            output_dir=folder,
            per_device_train_batch_size=args.rows,
            gradient_accumulation_steps=len(tokens) // args.rows,
            num_generations=args.group_size,
            max_completion_length=completion_ids.shape[1],
            learning_rate=1e-4,
            lr_scheduler_type="constant",
            adam_beta1=0.9,
            adam_beta2=0.95,
            max_grad_norm=1.0,
            beta=0.0,
            epsilon=0.2,
            epsilon_high=0.28,
            loss_type="dapo",
            max_steps=args.steps,
            save_strategy="no",
            report_to="none",
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            disable_tqdm=True,
        )
        trainer = GivenTokens(
            model=AutoModelForCausalLM.from_pretrained(args.policy, dtype=torch.float32),
            reward_funcs=lambda completions, **_: [0.0] * len(completions),
            args=config,
            train_dataset=Dataset.from_list([{"prompt": "1"}] * len(tokens)),
            processing_class=AutoTokenizer.from_pretrained(args.tokenizer),
            callbacks=[clock],
        )
        trainer.given = {
            "prompt_ids": prompt_ids,
            "prompt_mask": prompt_mask,
            "completion_ids": completion_ids,
            "completion_mask": completion_mask,
            "advantages": torch.tensor([one["advantage"] for one in tokens]),
            "num_items_in_batch": completion_mask.sum(),
        }
        trainer.train()
    print(json.dumps(clock.seconds))


if __name__ == "__main__":
    main()
