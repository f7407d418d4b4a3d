"""The learner's step: packed against padded, with and without shared prompts, and what DeepSpeed adds.

The padded step is what a trainer without packing does: micro-batches of the same budget, each a rectangle as long as
its longest sequence, in the order in which samples come.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, Qwen3Config, Qwen3ForCausalLM

from tests.bench.measured import in_turns
from tests.bench.peer_step import trl_seconds
from tests.bench.report import Figure
from trainer_core.episodes import Credit, Group, Trajectory, Verdict
from trainer_core.spec import RunSpec
from trainer_core.update.learner import Learner
from trainer_core.update.model.logprobs import token_logprobs
from trainer_core.update.model.policy import load_policy, score
from trainer_core.update.objective.policy_objective import denominators, loss_share
from trainer_core.update.optimization.optimizer import ClippedAdamW
from trainer_core.update.packed.packing import Packing, pack
from trainer_core.update.totals import Totals

GROUPS, SAMPLES, PROMPT, LONGEST, BUDGET = 12, 8, 40, 480, 4096
ROUNDS = 5
RATE, NORM = 1e-4, 1.0


@dataclass(frozen=True, slots=True)
class Policy:
    """Shape of the policy that learns."""

    hidden: int = 128
    layers: int = 4
    heads: int = 4
    vocabulary: int = 64


def measure() -> list[Figure]:
    """Processor time of a step, and ratios."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_policy(folder, Policy())
        groups = groups_of(0, Policy().vocabulary)
        plain = [t for group in groups for t in group.trajectories]
        cut = {"max_tokens_per_microbatch": BUDGET}
        specs = {
            "packed": spec_of(cut),
            "packed, prompts not shared": spec_of({**cut, "share_prompts": False}),
            "batch-invariant": spec_of({**cut, "batch_invariant": True}),
        }
        learners = {title: Learner(folder, spec) for title, spec in specs.items()}

        def step(title: str) -> Any:
            return lambda: learners[title].update(groups, specs[title], 1)

        steps = {title: step(title) for title in specs}
        steps["padded"] = _padded_step(folder, plain, specs["packed"])
        steps["bare torch, packed"] = _bare_step(folder, plain, specs["packed"])
        times = in_turns(steps, ROUNDS)
        peer = trl_seconds(folder, plain, SAMPLES, SAMPLES, ROUNDS)
    tokens = sum(t.length for t in plain)
    figures = [Figure(f"{title}: a step of {tokens:,} tokens", times[title] * 1000, "ms CPU") for title in times]
    packed = times["packed"]
    trl = (
        []
        if peer is None
        else [
            Figure("TRL 1.16's GRPOTrainer: the same tokens", peer * 1000, "ms CPU"),
            Figure("speed of the packed step over TRL's", peer / packed, "", "≥ 2"),
        ]
    )
    return [
        *figures,
        Figure("speed of the packed step over the padded", times["padded"] / packed, "", "≥ 1.8"),
        *trl,
        Figure("speed with shared prompts over without", times["packed, prompts not shared"] / packed),
        Figure(
            "DeepSpeed's and the learner's overhead over bare torch",
            packed / times["bare torch, packed"] - 1,
            "",
            "≤ 0.1",
        ),
        Figure("batch-invariant over default", times["batch-invariant"] / packed),
    ]


def write_policy(folder: Path, policy: Policy) -> None:
    """Write a Qwen3 policy with random weights."""
    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=policy.vocabulary,
        tie_word_embeddings=True,
        hidden_size=policy.hidden,
        intermediate_size=3 * policy.hidden,
        head_dim=policy.hidden // policy.heads,
        max_position_embeddings=1024,
        num_hidden_layers=policy.layers,
        num_attention_heads=policy.heads,
        num_key_value_heads=policy.heads // 2,
    )
    Qwen3ForCausalLM(config).save_pretrained(folder)


def spec_of(parallelism: dict[str, Any], **others: Any) -> RunSpec:
    """The spec of the step, cut as asked."""
    return RunSpec.model_validate(
        {
            "policy": {"base": "small"},
            "data": {"sources": [{"name": "a", "dataset": "a@1"}]},
            "reward": {"definition": "r@1"},
            "rollout": {"group_size": SAMPLES, "max_tokens": LONGEST, "engine": {"max_model_len": 600}},
            "schedule": {"steps": 10, "prompts_per_step": GROUPS},
            "optimizer": {"learning_rate": RATE},
            "corrections": [],
            "parallelism": parallelism,
            **others,
        }
    )


def groups_of(seed: int, vocabulary: int) -> list[Group]:
    """Lengths are lognormal with σ = 1 and a median of 60 tokens."""
    rng = np.random.default_rng(seed)
    groups = []
    for index in range(GROUPS):
        prompt = rng.integers(0, vocabulary, PROMPT).astype(np.int32)
        lengths = np.clip(rng.lognormal(np.log(60), 1.0, SAMPLES), 2, LONGEST).astype(int)
        made = [_trajectory(rng, prompt, int(length), vocabulary, f"{index}-{n}") for n, length in enumerate(lengths)]
        groups.append(Group(str(index), f"a:{index}", "a", "a@1", {}, "", 0, made))
    return groups


def _trajectory(rng: np.random.Generator, prompt: Any, length: int, vocabulary: int, name: str) -> Trajectory:
    return Trajectory(
        trajectory_id=name,
        prompt_ids=prompt,
        token_ids=rng.integers(0, vocabulary, length).astype(np.int32),
        behaviour_logprobs=rng.normal(-4.2, 0.1, length).astype(np.float32),
        versions=np.zeros(length, dtype=np.int32),
        sampled=np.ones(length, dtype=np.bool_),
        finish_reason="stop",
        temperature=1.0,
        verdict=Verdict(reward=0.0),
        credit=Credit(advantage=float(rng.normal())),
    )


def _padded_step(folder: Path, trajectories: list[Trajectory], spec: RunSpec) -> Any:
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).train()
    optimizer = ClippedAdamW(model, spec.optimizer)
    optimizer.max_grad_norm = NORM
    whole = denominators(trajectories)
    width = max(len(t.prompt_ids) + t.length for t in trajectories)
    rows = max(1, BUDGET // width)
    cut = [trajectories[low : low + rows] for low in range(0, len(trajectories), rows)]

    def step() -> None:
        for part in cut:
            (batch,) = pack(part, Packing(1 << 20, share_prompts=False))
            # The packing tells which tokens count; the logits are those of the rectangle.
            ids, mask = _rectangle(part)
            logits = model(input_ids=ids, attention_mask=mask, use_cache=False).logits
            starts = torch.tensor([len(t.prompt_ids) for t in part])
            chosen = logits[batch.sequence, starts[batch.sequence] + batch.offset - 1]
            logprobs, _ = token_logprobs(chosen, batch.targets, batch.temperature)
            loss_share(spec, batch, logprobs, logprobs.detach(), None, whole, Totals()).backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def _rectangle(part: list[Trajectory]) -> tuple[Tensor, Tensor]:
    """Input ids and mask [B, L] of whole sequences, padded behind."""
    longest = max(len(t.prompt_ids) + t.length for t in part)
    ids, mask = torch.zeros((len(part), longest), dtype=torch.int64), torch.zeros((len(part), longest))
    for row, trajectory in enumerate(part):
        whole = np.concatenate([trajectory.prompt_ids, trajectory.token_ids])
        ids[row, : len(whole)], mask[row, : len(whole)] = torch.from_numpy(whole.astype(np.int64)), 1.0
    return ids, mask


def _bare_step(folder: Path, trajectories: list[Trajectory], spec: RunSpec) -> Any:
    """The same micro-batches, loss and optimizer with nothing around them."""
    model = load_policy(folder).train()
    optimizer = ClippedAdamW(model, spec.optimizer)
    optimizer.max_grad_norm = NORM
    whole = denominators(trajectories)

    def step() -> None:
        for batch in pack(trajectories, BUDGET):
            logprobs, _ = score(model, batch)
            loss_share(spec, batch, logprobs, logprobs.detach(), None, whole, Totals()).backward()
        optimizer.step()
        optimizer.zero_grad()

    return step
