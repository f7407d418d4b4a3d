"""Numbers of workers of each kind."""

from typing import Literal

from trainer_core.spec.base import SpecModel, field


class Parallelism(SpecModel):
    """Sizes of the worker groups."""

    rollout_workers: int = field(1, ge=1, le=1024)
    """Rollout engines."""
    least_rollout_workers: int | None = field(None, ge=1, le=1024)
    """Rollout engines that the run starts with; the others join when the cluster has room for them, now or when nodes
    are added. None waits for all."""
    learner_ranks: int = field(1, ge=1, le=1024)
    """DeepSpeed ranks: data-parallel groups times ``context_parallel_size``."""
    context_parallel_size: int = field(1, ge=1, le=1024, unit="ranks")
    """Learner ranks that split the tokens of each micro-batch, for sequences whose activations do not fit on one rank:
    every rank computes its own contiguous tokens, and before attention they exchange heads for tokens
    (DeepSpeed-Ulysses, arXiv 2309.14509). A divisor of ``learner_ranks`` and of the policy's attention heads."""
    learner_placement: Literal["pack", "spread"] = "pack"
    """Where learner ranks run: on as few of the cluster's nodes as possible, or on as many."""
    zero_stage: Literal[0, 1, 2, 3] = 0
    """DeepSpeed ZeRO stage: what is partitioned over the ranks (1 optimizer state, 2 gradients, 3 weights)."""
    reward_workers: int = field(1, ge=1, le=1024)
    """Processes that compute rewards."""
    max_tokens_per_microbatch: int = field(16_384, ge=64, unit="tokens")
    """Packed tokens per forward pass of a learner rank; a micro-batch split over several ranks has this many for each
    of them."""
    share_prompts: bool = True
    """Compute the prompt of a group, and each longer prefix that its samples share, once per micro-batch instead of
    once per sample. The same update, less work."""
    batch_invariant: bool = False
    """The learner's log-probabilities are bit-identical regardless of the rest of the batch, its order and the number
    of ranks: the order of every sum depends only on a token's own sequence. Slower. A policy with experts or in FP8,
    and a loss over whole distributions, then score every trajectory by itself."""
