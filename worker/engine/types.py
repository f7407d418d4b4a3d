"""The adapter's vocabulary: what goes into the rollout engine and what comes out. Imports neither vLLM nor torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

FinishReason = Literal["stop", "length", "aborted"]


class EngineError(RuntimeError):
    """The engine cannot do what was asked; the message says why and what still holds."""


class WeightsRefusedError(EngineError):
    """A weight update was refused before anything changed: the old version goes on serving."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How one request is sampled.

    `max_tokens` bounds sampled and forced tokens together. `thinking_budget` is the largest number of tokens
    the policy may spend between the thinking markers (None: unlimited). `top_k` -1 means off. Temperature 0 is
    greedy. `seed` makes the request reproducible on its own, at a cost: seeded requests draw one by one.
    """

    temperature: float
    top_p: float = 1.0
    top_k: int = -1
    max_tokens: int = 256
    thinking_budget: int | None = None
    seed: int | None = None
    stop_token_ids: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.temperature < 0:
            raise ValueError(f"temperature must be >= 0, got {self.temperature}")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p must be in (0, 1], got {self.top_p}")
        if self.top_k == 0 or self.top_k < -1:
            raise ValueError(f"top_k must be -1 (off) or positive, got {self.top_k}")
        if self.max_tokens < 1:
            raise ValueError(f"max_tokens must be >= 1, got {self.max_tokens}")
        if self.thinking_budget is not None and self.thinking_budget < 0:
            raise ValueError(f"thinking_budget must be >= 0 or None, got {self.thinking_budget}")


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt to continue. `request_id` must be unique among the unfinished requests."""

    request_id: str
    prompt_ids: tuple[int, ...]
    sampling: Sampling


@dataclass(frozen=True, slots=True)
class Completion:
    """A finished or aborted request. The four token lists have the same length.

    `logprobs` are natural-log probabilities of each token under the distribution it was drawn from: after
    temperature, top-k and top-p, renormalised (0.0 for forced tokens; temperature 0 reports the untempered
    distribution). `versions` is the weight version that produced each token. `sampled` is False for tokens
    the engine forced. `thinking_tokens` counts the tokens between the markers, the markers excluded.
    """

    request_id: str
    prompt_ids: tuple[int, ...]
    token_ids: list[int]
    logprobs: list[float]
    versions: list[int]
    sampled: list[bool]
    finish_reason: FinishReason
    thinking_tokens: int
    budget_hit: bool
    started_at: float
    finished_at: float


@dataclass(frozen=True, slots=True)
class ThinkTokens:
    """The token sequences around a policy's thinking.

    Empty `start_ids` mean that every completion starts inside thinking. `forced_end_ids` are injected when the
    budget is spent; left empty they are `end_ids`.
    """

    start_ids: tuple[int, ...]
    end_ids: tuple[int, ...]
    forced_end_ids: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not self.end_ids:
            raise ValueError("end_ids must name at least one token: thinking that cannot end has no budget")
        if not self.forced_end_ids:
            object.__setattr__(self, "forced_end_ids", self.end_ids)


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """How the engine is built.

    `model_dir` is a Hugging Face directory (config.json and safetensors; no tokenizer needed). `kv_cache_gib` is
    explicit, so that start-up needs no profiling run. `max_num_seqs` is generous because a small policy's throughput
    grows with the number of running requests. `threads` is the engine's share of the CPU: one by default, because a
    second gains a small policy nothing and takes the learner's core. `stop_at_eos` adds the model's own
    end-of-sequence tokens to every request's stops. `prefix_caching` pays where prompts are longer than a KV block
    (128 tokens on CPU). `version` is the weight version of `model_dir`.
    """

    model_dir: str
    dtype: str = "float32"
    max_model_len: int = 1024
    max_num_seqs: int = 512
    max_num_batched_tokens: int = 8192
    kv_cache_gib: float = 0.5
    seed: int = 0
    enforce_eager: bool = True
    think: ThinkTokens | None = None
    threads: int = 1
    stop_at_eos: bool = True
    prefix_caching: bool = True
    version: int = 0
    extra: dict[str, object] = field(default_factory=dict)  # further vLLM engine arguments, for GPU machines


@dataclass(frozen=True, slots=True)
class EngineStats:
    """A snapshot of load and totals since start. `kv_usage` is a share in [0, 1]; `busy_s` is time inside `step`."""

    running: int
    waiting: int
    kv_usage: float
    preemptions: int
    generated_tokens: int
    prompt_tokens: int
    busy_s: float
