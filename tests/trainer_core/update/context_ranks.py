"""One rank of four, in a process of its own, that shares the tokens of its micro-batches with others."""

import os
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.utils.logging import disable_progress_bar

from tests.trainer_core.update.making import VOCABULARY, make_groups, make_spec, make_trajectory
from trainer_core.episodes import Trajectory, Verdict
from trainer_core.update.auxiliary.critic import ValueHead
from trainer_core.update.collectives import ALONE, ContextGroup, share_context
from trainer_core.update.hybrid.balance import balancing_loss
from trainer_core.update.hybrid.routing import RouteWatch
from trainer_core.update.learner import Learner
from trainer_core.update.model.entropies import token_entropies
from trainer_core.update.model.policy import load_policy, logits, score
from trainer_core.update.optimization.engine import init_process_group
from trainer_core.update.packed.packing import Packing, TokenBatch, pack

RANKS = 4
DENSE: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "head_dim": 8,
    "max_position_embeddings": 2048,
    "pad_token_id": None,
    "bos_token_id": None,
    "eos_token_id": None,
}
MIXTURE = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}
POLICIES: dict[str, dict[str, Any]] = {
    "dense": {"model_type": "qwen3", "attention_bias": True},
    "grouped queries": {"model_type": "llama", "num_key_value_heads": 2},
    "keys that ranks cannot share alike": {
        "model_type": "llama",
        "num_attention_heads": 12,
        "hidden_size": 48,
        "num_key_value_heads": 3,
    },
    "windows and caps": {"model_type": "gemma2", "num_key_value_heads": 2, "sliding_window": 12},
    "sinks": {
        "model_type": "gpt_oss",
        "sliding_window": 16,
        "num_local_experts": 4,
        "num_experts_per_tok": 2,
        "num_key_value_heads": 2,
    },
    "latent": {
        "model_type": "deepseek_v3",
        "q_lora_rank": 12,
        "kv_lora_rank": 8,
        "qk_nope_head_dim": 8,
        "qk_rope_head_dim": 4,
        "v_head_dim": 6,
        "head_dim": 4,
        "n_routed_experts": 4,
        "num_experts_per_tok": 2,
        "n_group": 1,
        "topk_group": 1,
        "first_k_dense_replace": 1,
        "moe_intermediate_size": 16,
    },
    "mixture": {"model_type": "qwen3_moe", **MIXTURE},
}
LONG = {"dense", "windows and caps"}
"""Policies that also read a sequence of more than 1,024 tokens, whose attention has no mask."""
ROUNDED = {"windows and caps", "sinks", "latent", "mixture"}
"""Policies whose norms or routers compute in float32, whatever they are given."""
SMOOTH = {"learning_rate": 1e-3, "epsilon": 1e-3}
LENGTHS = {"prompts_per_step": 8, "steps": 10}
UPDATES: dict[str, dict[str, Any]] = {
    "critic, reference, several updates, ZeRO 3": {
        "advantage": {"type": "gae", "whiten": "batch"},
        "critic": {"type": "head"},
        "kl": {"coefficient": 0.1},
        "optimizer": {**SMOOTH, "ess_scaling": "sqrt"},
        "schedule": {**LENGTHS, "updates_per_step": 2, "epochs": 2},
        "parallelism": {"zero_stage": 3},
    },
    "critic of its own, entropy bonus, whole distributions, ZeRO 2": {
        "advantage": {"type": "gae"},
        "critic": {"type": "separate"},
        "entropy": {"type": "adaptive", "target": 4.0, "start": 0.01},
        "loss": {"type": "ppo_clip", "smoothing": {}},
        "optimizer": SMOOTH,
        "parallelism": {"zero_stage": 2},
    },
    "adapter, filter of tokens, checkpointing, ZeRO 1": {
        "policy": {"base": "tiny", "adapter": {"type": "lora", "rank": 4}, "gradient_checkpointing": True},
        "kl": {"coefficient": 0.1},
        "advantage": {"type": "vcpo"},
        "filters": [{"type": "high_entropy", "share": 0.5}],
        "optimizer": SMOOTH,
        "parallelism": {"zero_stage": 1},
    },
    "a mixture's balance and moved routing": {
        "policy": {"base": "tiny", "routing": {"balance": {"type": "auxiliary_loss", "coefficient": 0.1}}},
        "corrections": [{"type": "router_shift"}],
        "optimizer": SMOOTH,
        "schedule": {**LENGTHS, "updates_per_step": 2},
    },
}
SEQUENCES = [[3, 9, 27, 41], [5, 6, 7]]


def make_policy(folder: Path, sizes: dict[str, Any]) -> Path:
    torch.manual_seed(0)
    AutoModelForCausalLM.from_config(AutoConfig.for_model(**{**DENSE, **sizes})).save_pretrained(folder)
    return folder


def trajectories(*, long: bool) -> list[Trajectory]:
    """Samples of shared prompts, in a number of tokens that no number of ranks divides."""
    rng = np.random.default_rng(3)
    found = [one for group in make_groups(4, groups=2, samples=3, longest=24) for one in group.trajectories]
    lengths = [301, 1101] if long else [37]
    prompt = rng.integers(0, VOCABULARY, 6).astype(np.int32)
    return found + [make_trajectory(rng, prompt, length) for length in lengths]


def _loss(model: Any, head: ValueHead, batch: TokenBatch, mixes: bool) -> Tensor:
    """A number that hangs on all that a loss may ask: probabilities, entropies, values and routing."""
    generator = torch.Generator().manual_seed(7)
    weights = [torch.randn(len(batch.targets), generator=generator, dtype=torch.float64) for _ in range(3)]
    watch = RouteWatch() if mixes else None
    logprobs, _ = score(model, batch, watch)
    values = head.take(batch)
    spread = batch.whole(token_entropies(logits(model, batch), batch.own(batch.temperature)))
    total = (weights[0] * logprobs).sum() + (weights[1] * spread).sum() + (weights[2] * values.square()).sum()
    if watch is not None:
        scores = [torch.softmax(one, dim=-1) for one in watch.logits]
        chosen = watch.experts or [one.topk(2, dim=-1).indices for one in scores]
        total = total + balancing_loss(scores, chosen, batch.sequence)
    return total


def differences(folder: Path, name: str) -> dict[str, dict[str, float]]:
    """Largest distances of loss and gradients, in float64, from those of one rank, over the largest of the gradient.

    Of two ranks that share the tokens out, and of four.
    """
    model: Any = load_policy(folder).double()
    model.set_experts_implementation("eager")  # others do not take float64
    head = ValueHead(model)
    model.value_head.double()
    torch.nn.init.normal_(model.value_head.weight, generator=torch.Generator().manual_seed(1))
    read, mixes = trajectories(long=name in LONG), name in ("mixture", "latent", "sinks")

    def look(context: ContextGroup) -> tuple[Tensor, dict[str, Tensor]]:
        [batch] = pack(read, Packing(4096, context=context))
        model.zero_grad()
        loss = _loss(model, head, batch, mixes)
        loss.backward()
        gradients = {key: one.grad.clone() for key, one in model.named_parameters() if one.grad is not None}
        for gradient in gradients.values() if context.size > 1 else ():
            dist.all_reduce(gradient, group=context.group)
        return loss.detach(), gradients

    alone, expected = look(ALONE)
    found = {}
    for size in (2, 4):
        loss, gradients = look(share_context(size, torch.device("cpu")))
        assert gradients.keys() == expected.keys()
        told = {"loss": float((loss - alone).abs() / alone.abs())}
        for key, gradient in gradients.items():
            told[key] = float((gradient - expected[key]).abs().max() / expected[key].abs().max().clamp(min=1e-9))
        found[f"{name}, {size}"] = told
    return found


def spec_of(name: str, size: int) -> Any:
    parts = UPDATES[name]
    cut: dict[str, Any] = {"max_tokens_per_microbatch": 192 // min(size, 2)}
    if size > 1:
        cut |= {"learner_ranks": RANKS, "context_parallel_size": size}
    return make_spec(**{"schedule": LENGTHS, **parts, "parallelism": {**cut, **parts.get("parallelism", {})}})


def groups_of(step: int) -> list[Any]:
    groups = make_groups(step, groups=5)
    for index, trajectory in enumerate(one for group in groups for one in group.trajectories):
        trajectory.verdict = Verdict(float(index % 3 == 0))
    return groups


def learned(learner: Learner, name: str, size: int) -> dict[str, Any]:
    """Metrics of two steps, the scores and the weights after them, and what was written into the trajectories."""
    spec, metrics, written = spec_of(name, size), [], []
    for step in (1, 2):
        groups = groups_of(step)
        metrics.append(learner.update(groups, spec, step))
        written.append(
            {
                one.trajectory_id: one.learner_logprobs.tolist()
                for group in groups
                for one in group.trajectories
                if one.learner_logprobs is not None
            }
        )
    again = learner.rescore(groups_of(3)[0].trajectories[:2], {}, 0.9, 20)
    return {
        "metrics": metrics,
        "scores": learner.score(SEQUENCES),
        "weights": learner.weights(),
        "written": written,
        "rescored": {key: one.log_kept.tolist() for key, one in again.items()},
    }


def run(rank: int, meeting: str, folders: dict[str, Path], answers: "Queue[tuple[int, Any]]") -> None:
    """Join, compute everything, and answer with (rank, what was found, or the error's words)."""
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    torch.set_num_threads(1)
    disable_progress_bar()
    try:
        init_process_group(rank, RANKS, f"file://{meeting}", torch.device("cpu"))
        told: dict[str, Any] = {}
        for name in POLICIES:
            told |= differences(folders[name], name)
        for index, name in enumerate(UPDATES):
            size = 4 if index == 1 else 2
            policy = folders["mixture" if "mixture" in name else "grouped queries"]
            learner = Learner(policy, spec_of(name, size), rank=rank, world_size=RANKS)
            told[name] = learned(learner, name, size)
        answers.put((rank, told))
    except Exception as error:
        answers.put((rank, f"{type(error).__name__}: {error}"))
        raise
