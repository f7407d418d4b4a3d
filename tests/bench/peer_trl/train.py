"""The peer: TRL's GRPOTrainer on the demo task, with the policy, data, batch and hyperparameters of Dressage's demo.

Runs in an environment of its own (``setup.sh`` beside it). Writes one JSON line per step: step, seconds since the first
step began, mean reward, mean completion length.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import torch
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from trl import GRPOConfig, GRPOTrainer


class StepLog(TrainerCallback):
    """Collects what TRL logs, with a clock that starts at the first step; ends the training when its time is up."""

    def __init__(self, path: Path, max_seconds: float) -> None:
        self._file = path.open("w")
        self._max_seconds = max_seconds
        self._start: float | None = None

    def on_step_begin(self, *_: Any, **__: Any) -> None:
        if self._start is None:
            self._start = time.perf_counter()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self._start is not None and time.perf_counter() - self._start > self._max_seconds:
            control.should_training_stop = True

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **_: Any) -> None:
        if logs and "reward" in logs and self._start is not None:
            row = {
                "step": state.global_step,
                "seconds": time.perf_counter() - self._start,
                "reward": logs["reward"],
                "length": logs["completions/mean_length"],
            }
            print(json.dumps(row), file=self._file, flush=True)


def main() -> None:
    """Train and log."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policy", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--log", required=True, type=Path)
    parser.add_argument("--generation", choices=["transformers", "vllm"], required=True)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--prompts", type=int, default=32)
    parser.add_argument("--group-size", type=int, default=8)
    parser.add_argument("--max-tokens", type=int, default=32)
    parser.add_argument("--max-model-len", type=int, default=96)
    parser.add_argument("--learning-rate", type=float, default=3e-4)
    parser.add_argument("--max-seconds", type=float, default=float("inf"))
    parser.add_argument("--precision", choices=["float32", "bfloat16"], default="float32", help="on float32 weights")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    tokenizer = AutoTokenizer.from_pretrained(args.policy)
    end_of_thinking = tokenizer.convert_tokens_to_ids("</think>")

    def correct(completion_ids: list[list[int]], answer: list[str], **_: Any) -> list[float]:
        """1 for an answer (what follows the thinking) that equals the gold answer."""
        rewards = []
        for ids, gold in zip(completion_ids, answer, strict=True):
            start = len(ids) - ids[::-1].index(end_of_thinking) if end_of_thinking in ids else 0
            text = tokenizer.decode(ids[start:], skip_special_tokens=True).strip()
            rewards.append(float(text == gold))
        return rewards

    model = AutoModelForCausalLM.from_pretrained(args.policy, dtype=torch.float32)
    config = GRPOConfig(
        output_dir=str(args.log.with_suffix(".trl")),
        per_device_train_batch_size=args.prompts * args.group_size,
        num_generations=args.group_size,
        max_completion_length=args.max_tokens,
        temperature=1.0,
        learning_rate=args.learning_rate,
        lr_scheduler_type="constant",
        adam_beta1=0.9,
        adam_beta2=0.95,
        max_grad_norm=1.0,
        beta=0.0,
        epsilon=0.2,
        epsilon_high=0.28,
        loss_type="dapo",
        max_steps=args.steps,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        bf16=args.precision == "bfloat16",
        gradient_checkpointing=False,
        disable_tqdm=True,
        seed=args.seed,
        use_vllm=args.generation == "vllm",
        vllm_mode="colocate",
        vllm_max_model_length=args.max_model_len,
    )
    data = load_dataset("json", data_files=args.data, split="train")
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=correct,
        args=config,
        train_dataset=data,
        processing_class=tokenizer,
        callbacks=[StepLog(args.log, args.max_seconds)],
    )
    trainer.train()


if __name__ == "__main__":
    main()
