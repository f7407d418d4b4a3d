"""The peer's supervised and preference steps: TRL's SFTTrainer and DPOTrainer on given tokens.

Runs in TRL's own environment (``setup.sh`` beside it). Prints JSON: processor seconds of each optimizer step; with
``--gradients FILE`` it also writes the first step's gradients, before clipping, as safetensors.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer


class Watch(TrainerCallback):
    """Processor time from the beginning to the end of each step, and the first step's gradients."""

    def __init__(self, gradients: Path | None) -> None:
        self.seconds: list[float] = []
        self._start, self._gradients = 0.0, gradients

    def on_step_begin(self, *_: Any, **__: Any) -> None:
        self._start = time.process_time()

    def on_pre_optimizer_step(self, *_: Any, model: Any, **__: Any) -> None:
        if self._gradients is not None and not self.seconds:
            found = {name: one.grad.clone() for name, one in model.named_parameters() if one.grad is not None}
            save_file(found, self._gradients)

    def on_step_end(self, *_: Any, **__: Any) -> None:
        self.seconds.append(time.process_time() - self._start)


class GivenPairs(DPOTrainer):
    """Learns from pairs of tokens, which need no preparation."""

    def _prepare_dataset(self, dataset: Any, *_: Any, **__: Any) -> Any:
        return dataset


def main() -> None:
    """Train and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stage", choices=("sft", "sigmoid", "ipo"), required=True)
    parser.add_argument("--policy", required=True)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--tokens", required=True, type=Path)
    parser.add_argument("--rows", type=int, required=True, help="examples or pairs of one micro-batch")
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--gradients", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(1)
    rows = json.loads(args.tokens.read_text())
    watch = Watch(args.gradients)
    with tempfile.TemporaryDirectory() as folder:
        shared = {
            "output_dir": folder,
            "per_device_train_batch_size": args.rows,
            "gradient_accumulation_steps": len(rows) // args.rows,
            "learning_rate": 1e-4,
            "lr_scheduler_type": "constant",
            "max_grad_norm": 1e9,
            "max_steps": args.steps,
            "max_length": 4096,
            "save_strategy": "no",
            "report_to": "none",
            "use_cpu": True,
            "bf16": False,
            "gradient_checkpointing": False,
            "disable_tqdm": True,
        }
        common = {
            "model": AutoModelForCausalLM.from_pretrained(args.policy, dtype=torch.float32),
            "processing_class": AutoTokenizer.from_pretrained(args.tokenizer),
            "callbacks": [watch],
        }
        if args.stage == "sft":
            data = [
                {
                    "input_ids": row["prompt"] + row["completion"],
                    "labels": [-100] * len(row["prompt"]) + row["completion"],
                }
                for row in rows
            ]
            trainer: Any = SFTTrainer(args=SFTConfig(**shared), train_dataset=Dataset.from_list(data), **common)
        else:
            data = [
                {"prompt_ids": row["prompt"], "chosen_ids": row["completion"], "rejected_ids": row["rejected"]}
                for row in rows
            ]
            config = DPOConfig(**shared, beta=0.1, loss_type=args.stage)
            trainer = GivenPairs(args=config, train_dataset=Dataset.from_list(data), **common)
        trainer.train()
    print(json.dumps(watch.seconds))


if __name__ == "__main__":
    main()
