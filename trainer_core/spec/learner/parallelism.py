"""Numbers of workers of each kind."""

from typing import Literal

from trainer_core.spec.base import SpecModel, field


class Parallelism(SpecModel):
    """Sizes of the worker groups."""

    rollout_workers: int = field(1, ge=1, le=1024)
    """Rollout engines."""
    least_rollout_workers: int | None = field(None, ge=1, le=1024)
    """Rollout engines that the run starts with; the others join as the cluster has room for them, now or when nodes are
    added. None waits for all."""
    learner_ranks: int = field(1, ge=1, le=1024)
    """DeepSpeed ranks: data-parallel groups times ``context_parallel_size``."""
    context_parallel_size: int = field(1, ge=1, le=1024, unit="ranks")
    """Learner ranks that share out the tokens of each micro-batch, for sequences whose activations one rank cannot
    hold: every rank computes its own run of tokens, and before attention they exchange heads for tokens
    (DeepSpeed-Ulysses, arXiv 2309.14509). A divisor of ``learner_ranks`` and of the policy's attention heads."""
    learner_placement: Literal["pack", "spread"] = "pack"
    """Where learner ranks compute: on as few of the cluster's nodes as can be, or over as many."""
    zero_stage: Literal[0, 1, 2, 3] = 0
    """DeepSpeed ZeRO stage: what is partitioned over the ranks (1 optimizer state, 2 gradients, 3 weights)."""
    reward_workers: int = field(1, ge=1, le=1024)
    """Processes that compute rewards."""
    max_tokens_per_microbatch: int = field(16_384, ge=64, unit="tokens")
    """Packed tokens per forward pass of a learner rank; a micro-batch that several ranks share out has as many times as
    many."""
    share_prompts: bool = True
    """Compute the prompt of a group, and each longer prefix that its samples share, once per micro-batch and not once
    per sample. The same update, less work."""
    batch_invariant: bool = False
    """The learner's log-probabilities are the same to the last bit whatever else is in the batch, in whatever order and
    over how many ranks: every sum is taken in an order that only a token's own sequence decides. Slower. A policy with
    experts or in FP8, and a loss over whole distributions, score every trajectory by itself for that."""
