"""Make a starter policy: build it, warm it up, measure it and write it."""

import random
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from trainer_core.starter.folder import write_folder
from trainer_core.starter.hybrid import build_hybrid
from trainer_core.starter.measure import draw_problems, measure
from trainer_core.starter.model import MAX_POSITIONS, build_model
from trainer_core.starter.plans import WarmupPlan
from trainer_core.starter.problems import Operation
from trainer_core.starter.tokenizer import build_tokenizer
from trainer_core.starter.warmup import Act, train_act

BASE: dict[Operation, float] = {"+": 1.0, "-": 1.0}
"""Data source on which the policy is measured: the demo's base source."""


def make_starter(
    out: Path, plan: WarmupPlan, seed: int, command: str, say: Callable[[str], None], *, hybrid: bool = False
) -> dict[str, Any]:
    """Make a starter policy in the folder ``out``. The same plan and seed give the same policy on the same machine.

    Args:
        out: must not exist yet.
        plan: the warm-up.
        seed: the seed of weights, problems and sampling.
        command: the command that reproduces the folder, for its model card.
        say: called with the progress, one line at a time.
        hybrid: whether its layers include lightning attention and experts (MiniMax-M1) and not only softmax attention
            (Qwen3).

    Returns:
        What is written to ``warmup.json``.

    Raises:
        FileExistsError: ``out`` exists (checked before the warm-up).
    """
    if out.exists():
        raise FileExistsError(f"{out} exists; choose another folder or remove it first")
    started = time.monotonic()
    tokenizer = build_tokenizer(MAX_POSITIONS)
    model = build_hybrid(tokenizer, seed) if hybrid else build_model(tokenizer, seed)
    rng = random.Random(seed)
    problems = draw_problems(plan.measured_problems, BASE, seed + 1)
    record: dict[str, Any] = {
        "command": command,
        "seed": seed,
        "long_tail": plan.long_tail,
        "teacher": plan.teacher,
        "problems": len(problems),
    }

    def act(name: str, stretch: Act) -> None:
        losses = train_act(
            model,
            tokenizer,
            stretch,
            rng,
            lambda step, loss: say(f"{name}: step {step}/{stretch.steps}, loss {loss:.3f}") if step % 50 == 0 else None,
        )
        outcome = asdict(measure(model, tokenizer, problems, seed, plan.max_new_tokens))
        record[f"{name}_loss"] = {"first": losses[0], "last": losses[-1]}
        record[f"after_{name}"] = outcome
        say(f"{name}: accuracy {outcome['accuracy']:.2f}, thinks in {outcome['thinking_share']:.0%} of its samples")

    act("thinking", plan.think)
    act("blending", plan.blend)
    write_folder(out, model, tokenizer, record)
    say(f"wrote {out} in {time.monotonic() - started:.0f} s")
    return record
