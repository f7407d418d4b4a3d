"""A step of supervised and of preference training against TRL's trainers: the same tokens, gradients and precision.

Both sides have one thread, float32, the policy of ``learner_step`` and the same rows. TRL's micro-batches have
eight rows, ours as many as fit into as many tokens.
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file

from tests.bench.learner_step import Policy, write_policy
from tests.bench.measured import in_turns
from tests.bench.peer_step import PEER
from tests.bench.report import Figure
from tests.support.installation import ROOT
from trainer_core.episodes import Group, Trajectory
from trainer_core.spec import RunSpec
from trainer_core.update.learner import Learner
from trainer_core.update.totals import Totals

ROWS, PROMPT, LONGEST, BUDGET, ROUNDS = 64, 24, 480, 4096, 5
PEER_ROWS = 8
"""Examples of one of TRL's micro-batches."""
OBJECTIVES: dict[str, dict[str, Any]] = {
    "sft": {"type": "sft", "max_tokens": 600},
    "sigmoid": {"type": "preference", "max_tokens": 600, "loss": {"type": "dpo", "beta": 0.1}},
    "ipo": {"type": "preference", "max_tokens": 600, "loss": {"type": "ipo", "beta": 0.1}},
}
"""Our objectives, by TRL's name of the loss."""
TITLES = {"sft": "SFT", "sigmoid": "DPO", "ipo": "IPO"}


def measure() -> list[Figure]:
    """Processor time of a step of each objective, its ratio to TRL's, and the difference of the gradients."""
    torch.set_num_threads(1)
    subprocess.run([str(PEER / "setup.sh")], check=True)
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_policy(folder, Policy())
        for lengths, tail in (("even lengths", False), ("long-tailed lengths", True)):
            for stage in ("sft", "sigmoid") if tail else ("sft", "sigmoid", "ipo"):
                figures += _compare(folder, stage, lengths, tail=tail)
    return figures


def _compare(folder: Path, stage: str, lengths: str, *, tail: bool) -> list[Figure]:
    groups, spec = make_groups(stage, tail=tail), spec_of(stage)
    learner = Learner(folder, spec)
    gradients = learner_gradients(learner, groups, spec)
    ours = in_turns({"ours": lambda: learner.update(groups, spec, 1)}, ROUNDS)["ours"]
    peer = _peer(folder, stage, groups)
    what = f"{TITLES[stage]}, {lengths}"
    if peer is None:
        return [Figure(f"{what}: our step", ours * 1000, "ms CPU")]
    seconds, theirs = peer
    return [
        Figure(f"{what}: our step", ours * 1000, "ms CPU"),
        Figure(f"{what}: TRL's step", seconds * 1000, "ms CPU"),
        Figure(f"{what}: our speed over TRL's", seconds / ours, "", "≥ 3" if tail else "≥ 2"),
        Figure(f"{what}: largest relative difference of a gradient", furthest(gradients, theirs), "", "≤ 1e-5"),
    ]


def spec_of(stage: str) -> RunSpec:
    """The spec of a step of one objective."""
    return RunSpec.model_validate(
        {
            "policy": {"base": "small"},
            "data": {"sources": [{"name": "a", "dataset": "a@1"}]},
            "objective": OBJECTIVES[stage],
            "optimizer": {"learning_rate": 1e-4, "max_grad_norm": 1e6},
            "parallelism": {"max_tokens_per_microbatch": BUDGET},
            "schedule": {"steps": 10, "prompts_per_step": ROWS},
        }
    )


def make_groups(stage: str, *, tail: bool) -> list[Group]:
    """Random rows with a completion, or with two: of equal lengths in the mean, or with a long tail."""
    rng = np.random.default_rng(0)
    sides = ("chosen", "rejected") if stage != "sft" else ("",)
    groups = []
    for row in range(ROWS):
        prompt = rng.integers(0, Policy().vocabulary, PROMPT).astype(np.int32)
        both = []
        for side in sides:
            length = min(LONGEST, int(16 + rng.exponential(48))) if tail else int(rng.integers(100, 200))
            length = LONGEST if tail and row % 16 == 0 else length
            tokens = rng.integers(0, Policy().vocabulary, length).astype(np.int32)
            zeros = np.zeros(length, np.int32)
            both.append(
                Trajectory(
                    trajectory_id=f"1-{row}/{row}-{side}",
                    prompt_ids=prompt,
                    token_ids=tokens,
                    behaviour_logprobs=zeros.astype(np.float32),
                    versions=zeros,
                    sampled=np.ones(length, np.bool_),
                    finish_reason="stop",
                    temperature=1.0,
                )
            )
        groups.append(Group(f"1-{row}", f"a:{row}", "a", "a@1", {}, "", 0, both))
    return groups


def learner_gradients(learner: Learner, groups: list[Group], spec: RunSpec) -> dict[str, torch.Tensor]:
    """The gradients of the first step, without an optimizer step."""
    model, totals = learner._parts.model, Totals()
    model.zero_grad()
    [part] = learner._examples.plan(groups, spec, totals)
    learner._examples.accumulate(spec, 1, part, totals)
    found = {name: one.grad.clone() for name, one in model.named_parameters() if one.grad is not None}
    model.zero_grad()
    return found


def furthest(ours: dict[str, torch.Tensor], theirs: dict[str, torch.Tensor]) -> float:
    """Largest difference of a gradient, over the largest value of the gradient of the same weight."""
    return max(float((ours[name] - one).abs().max() / one.abs().max()) for name, one in theirs.items())


def _peer(folder: Path, stage: str, groups: list[Group]) -> tuple[float, dict[str, torch.Tensor]] | None:
    """Median processor seconds of TRL's step after the first, and its gradients; None if TRL cannot run."""
    tokens, gradients = folder / "tokens.json", folder / "gradients.safetensors"
    names = ("completion", "rejected")
    tokens.write_text(
        json.dumps(
            [
                {
                    "prompt": group.trajectories[0].prompt_ids.tolist(),
                    **{name: t.token_ids.tolist() for name, t in zip(names, group.trajectories, strict=False)},
                }
                for group in groups
            ]
        )
    )
    arguments = {
        "stage": stage,
        "policy": folder,
        "tokenizer": ROOT / "demo" / "starter-policy",
        "tokens": tokens,
        "rows": PEER_ROWS,
        "steps": ROUNDS + 1,
        "gradients": gradients,
    }
    flags = [part for key, value in arguments.items() for part in (f"--{key}", str(value))]
    inherited = {name: value for name, value in os.environ.items() if name != "LOCAL_RANK"}
    environment = {**inherited, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    command = [str(ROOT / ".venv-trl" / "bin" / "python"), str(PEER / "stages.py"), *flags]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    if ended.returncode:
        print(f"  TRL failed: {ended.stderr.strip().splitlines()[-1]}", flush=True)
        return None
    taken = sorted(json.loads(ended.stdout.splitlines()[-1])[1:])
    return taken[len(taken) // 2], load_file(gradients)
