"""How trajectories are generated."""

from typing import Annotated, Literal

from pydantic import Field

from trainer_core.spec.base import SpecModel, field


class SyncMode(SpecModel):
    """Generate, then learn: every token comes from the current weights (staleness 0)."""

    type: Literal["sync"] = "sync"


class AsyncMode(SpecModel):
    """One-step overlap: the next batch is generated while the learner works on the last one."""

    type: Literal["async"] = "async"
    max_staleness: Literal[1] = field(1, unit="versions")
    """Largest distance between the weights that generated a token and the weights that are updated with it."""


RolloutMode = Annotated[SyncMode | AsyncMode, Field(discriminator="type")]


class Engine(SpecModel):
    """The vLLM engine of each rollout worker."""

    dtype: Literal["float32", "bfloat16", "float16"] = "float32"
    """Number type of weights and activations in the engine."""
    max_model_len: int = field(512, ge=8, le=1_048_576, unit="tokens")
    """Longest prompt plus completion."""
    max_num_seqs: int = field(256, ge=1, le=4096, unit="sequences")
    """Sequences that run at the same time in one engine."""
    kv_cache_gib: float = field(0.5, gt=0.0, le=1024.0, unit="GiB")
    """Memory of the key-value cache on a CPU worker."""
    probe_tolerance: float = field(0.05, gt=0.0, le=5.0, unit="nats")
    """Largest accepted difference between engine and learner log-probabilities after a weight update."""


class Rollout(SpecModel):
    """Sampling of prompt groups."""

    group_size: int = field(8, ge=1, le=1024, unit="samples")
    """Samples per prompt."""
    temperature: float = field(1.0, gt=0.0, le=5.0, steer="group_dispatch")
    """Sampling temperature; the learner scores tokens at the same temperature."""
    top_p: float = field(1.0, gt=0.0, le=1.0)
    """Nucleus sampling. Below 1 the behaviour policy is truncated and the importance ratios are biased."""
    top_k: int = field(0, ge=0)
    """Keep only the k likeliest tokens; 0 keeps all. Above 0 the behaviour policy is truncated."""
    max_tokens: int = field(128, ge=1, le=1_048_576, unit="tokens", steer="group_dispatch")
    """Longest completion, thinking included."""
    mode: RolloutMode = SyncMode()
    """How generation and learning interleave."""
    engine: Engine = Engine()
    """Engine settings."""
