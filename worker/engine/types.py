"""The adapter's types: the inputs and outputs of the rollout engine. Imports neither vLLM nor torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FinishReason = Literal["stop", "length", "aborted", "repetition", "pruned"]
KvOnUpdate = Literal["keep", "recompute"]
"""Effect of a weight update on the cached keys and values of running requests."""


class EngineError(RuntimeError):
    """The engine cannot do what was requested. The message says why and what is still valid."""


class WeightsRefusedError(EngineError):
    """A weight update was refused before anything changed: the old version keeps serving."""


@dataclass(frozen=True, slots=True)
class ProbabilityRun:
    """Stop after `tokens` consecutive sampled tokens that each have a probability above `probability`.

    Source: MiniMax-M1 (arXiv 2506.13585), which ends generation at 3000 tokens in a row above 0.99.
    """

    tokens: int = 3000
    probability: float = 0.99

    def __post_init__(self) -> None:
        if self.tokens < 1:
            raise ValueError(f"tokens of a probability run must be >= 1, got {self.tokens}")
        if not 0 < self.probability < 1:
            raise ValueError(f"probability of a run must be in (0, 1), got {self.probability}")


@dataclass(frozen=True, slots=True)
class NgramLoop:
    """Stop when the last `size` x `repeats` tokens repeat with a period of at most `size` tokens.

    An n-gram of `size` tokens must occur `repeats` times in a row, a shorter one correspondingly more often, so that a
    few equal digits are not a loop. Fewer than 3 repeats are refused: ordinary text repeats things once.
    """

    size: int
    repeats: int

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"size of an n-gram loop must be >= 1, got {self.size}")
        if self.repeats < 3:
            raise ValueError(f"repeats of an n-gram loop must be >= 3, got {self.repeats}")


@dataclass(frozen=True, slots=True)
class Prune:
    """Once all samples of a group have ended or have `after` tokens, finish only the share `keep` of them.

    Ended samples are kept, then those with the highest mean log-probability of their first `after` tokens; the others
    end with finish reason "pruned". Applies to requests that name their group.
    """

    after: int
    keep: float

    def __post_init__(self) -> None:
        if self.after < 1:
            raise ValueError(f"after must be >= 1 token, got {self.after}")
        if not 0 < self.keep < 1:
            raise ValueError(f"keep must be in (0, 1), got {self.keep}")


@dataclass(frozen=True, slots=True)
class SampleGroup:
    """The group whose samples are compared with each other. `name` must be unique among the unfinished groups."""

    name: str
    size: int


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling of one request.

    `max_tokens` bounds sampled and forced tokens together. `thinking_budget` is the largest number of tokens
    the policy may spend between the thinking markers (None: unlimited). `top_k` -1 means off. Temperature 0 is
    greedy. `seed` makes the request reproducible on its own, at a cost: seeded requests draw one by one.
    `probability_run` and `ngram_loop` end degenerate completions early, with finish reason "repetition"; `prune` ends
    the weakest samples of a group, with "pruned". `forced_end_ids`, if not empty, replace those of the engine's
    `ThinkTokens`. `top_logprobs` is the number of most likely tokens returned at every step. `stop_strings` end the
    completion like those of `EngineConfig`, in addition to them.
    """

    temperature: float
    top_p: float = 1.0
    top_k: int = -1
    max_tokens: int = 256
    thinking_budget: int | None = None
    seed: int | None = None
    stop_token_ids: tuple[int, ...] = ()
    forced_end_ids: tuple[int, ...] = ()
    probability_run: ProbabilityRun | None = None
    ngram_loop: NgramLoop | None = None
    prune: Prune | None = None
    top_logprobs: int = 0
    stop_strings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.temperature <= 2:  # vLLM refuses hotter sampling
            raise ValueError(f"temperature must be in [0, 2], got {self.temperature}")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p must be in (0, 1], got {self.top_p}")
        if self.top_k == 0 or self.top_k < -1:
            raise ValueError(f"top_k must be -1 (off) or positive, got {self.top_k}")
        if self.max_tokens < 1:
            raise ValueError(f"max_tokens must be >= 1, got {self.max_tokens}")
        if self.top_logprobs < 0:
            raise ValueError(f"top_logprobs must be >= 0, got {self.top_logprobs}")
        if "" in self.stop_strings:
            raise ValueError("a stop string needs at least one character")
        if self.thinking_budget is not None and self.thinking_budget < 0:
            raise ValueError(f"thinking_budget must be >= 0 or None, got {self.thinking_budget}")


@dataclass(frozen=True, slots=True)
class TopTokens:
    """The K most likely tokens at each of T steps, in descending order, under the distribution that was drawn from."""

    token_ids: NDArray[np.int32]
    """Shape [T, K]; K is the requested number, or the vocabulary size if that is smaller."""
    logprobs: NDArray[np.float32]
    """Shape [T, K]."""

    def since(self, start: int) -> TopTokens:
        """The steps from ``start`` on."""
        return TopTokens(self.token_ids[start:], self.logprobs[start:])


@dataclass(frozen=True, slots=True)
class TokenProgress:
    """Some tokens of an unfinished request, as `Completion` will have them."""

    token_ids: list[int]
    logprobs: list[float]
    top: TopTokens | None
    """Most likely tokens at each of these steps, with `Sampling.top_logprobs`."""


@dataclass(frozen=True, slots=True)
class ThinkingState:
    """State of a parked request's thinking."""

    open: bool
    spent: int
    """Thinking tokens so far, markers excluded."""
    counted: int
    """Tokens since thinking last opened."""
    opened_at: int
    """Index into the completion before which no end marker can begin."""
    budget_hit: bool


@dataclass(frozen=True, slots=True)
class PartialCompletion:
    """The unfinished completion of a parked request: all that is needed to continue it elsewhere.

    The four lists have the same length. All values are plain, so that it can be pickled, stored and passed to another
    engine. `logprobs`, `versions` and `sampled` mean what they mean in `Completion`; a request that was still waiting
    has empty lists.
    """

    request_id: str
    prompt_ids: tuple[int, ...]
    token_ids: list[int]
    logprobs: list[float]
    versions: list[int]
    sampled: list[bool]
    thinking: ThinkingState | None
    """None if the engine has no thinking markers."""
    segments: int
    """Number of vLLM requests that have served it so far. Later ones use new seeds."""
    started_at: float
    """`time.monotonic()` of the engine's host when it was submitted, adjusted to exclude time spent parked."""
    seconds: float
    """Time it spent in engines."""
    top: TopTokens | None = None
    """Most likely tokens at each step, as in `Completion`."""
    routes: NDArray[np.uint8] | NDArray[np.int16] | None = None
    """Routes of the tokens computed so far, from the first prompt token on; otherwise as in `Completion`."""


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt to continue. `request_id` must be unique among the unfinished requests.

    `prefix` continues a parked request of the same prompt: its tokens are recomputed under the current weights and stay
    in the completion with their original versions and log-probabilities. Length limit and thinking budget come from
    `sampling` and count from the first token of the prefix. `group` is needed for `Sampling.prune`.
    """

    request_id: str
    prompt_ids: tuple[int, ...]
    sampling: Sampling
    prefix: PartialCompletion | None = None
    group: SampleGroup | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """A request that has ended. The four token lists have the same length and include a continued prefix.

    `logprobs` are natural-log probabilities of each token under the distribution it was drawn from: after
    temperature, top-k and top-p, renormalised (0.0 for forced tokens; temperature 0 reports the untempered
    distribution). `versions` is the weight version that produced each token. `sampled` is False for tokens
    the engine forced. `thinking_tokens` counts the tokens between the markers, the markers excluded. `started_at` and
    `finished_at` are `time.monotonic()`; their difference leaves out the time a request was parked.
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
    top: TopTokens | None = None
    """Most likely tokens at each step, with `Sampling.top_logprobs`; zeros for forced tokens."""
    routes: NDArray[np.uint8] | NDArray[np.int16] | None = None
    """Experts that each token (prompt included, last one excluded) was routed to, with `EngineConfig.routes`. None for
    a request that ended before its first step. Shape [P + T - 1, layers, experts per token]."""


@dataclass(frozen=True, slots=True)
class ThinkTokens:
    """The token sequences around a policy's thinking.

    Empty `start_ids` mean that every completion starts inside thinking. `forced_end_ids` are injected when the
    budget is spent; if empty, `end_ids` are used.
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
class ConcurrencyConfig:
    """Limits the number of running sequences by the load of the KV cache.

    After as many sequences have ended as may run, the limit rises by `increase`, if others are waiting and the cache
    stayed below `kv_target`. After an eviction from the full cache, it falls to the share `decrease` of those that ran.
    """

    kv_target: float = 0.9
    increase: int = 1
    decrease: float = 0.75

    def __post_init__(self) -> None:
        if not 0 < self.kv_target <= 1:
            raise ValueError(f"kv_target must be in (0, 1], got {self.kv_target}")
        if self.increase < 1:
            raise ValueError(f"increase must be >= 1, got {self.increase}")
        if not 0 < self.decrease < 1:
            raise ValueError(f"decrease must be in (0, 1), got {self.decrease}")


@dataclass(frozen=True, slots=True)
class Fp8Config:
    """Linear layers in FP8; see `worker.engine.fp8`."""

    scales: Literal["block", "channel"] = "block"
    activations: bool = True
    execution: Literal["auto", "hardware", "simulated"] = "auto"


@dataclass(frozen=True, slots=True)
class EngineDevices:
    """Devices of one engine, and what each holds; see ``trainer_core.spec.generation.rollout.Engine``."""

    tensor: int = 1
    """Number of devices that every layer is split over."""
    pipeline: int = 1
    """Number of device groups that each hold some of the layers."""
    experts: bool = False
    """Whether experts are distributed whole."""

    @property
    def count(self) -> int:
        """Number of devices, and of processes that compute on them."""
        return self.tensor * self.pipeline


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """Construction of the engine.

    `model_dir` is a Hugging Face directory (config.json and safetensors; no tokenizer needed). `kv_cache_gib` is
    explicit, so start-up needs no profiling run. `max_num_seqs` is generous because a small policy's throughput grows
    with the number of running requests. `threads` is the engine's share of the CPU: one by default, because a second
    thread does not speed up a small policy and takes the learner's core. `stop_at_eos` adds the model's own
    end-of-sequence tokens to every request's stops. `prefix_caching` helps if prompts are longer than a KV block (128
    tokens on CPU). `version` is the weight version of `model_dir`. `lm_head_dtype` "float32" computes logits in float32
    from unrounded weights, regardless of `dtype`. `stop_strings` end every completion, with finish reason "stop"; they
    stay in it. `concurrency` None lets `max_num_seqs` sequences run at any time. `fp8` None leaves linear layers in
    `dtype`. `routes` returns the routes of a mixture of experts. `speculation` "tail" drafts tokens when few sequences
    run (`worker/engine/speculation`). `cuda_graphs` makes a GPU record its decoding steps (`worker/engine/graphs.py`);
    a CPU has none. With more than one of `devices` the model runs in one process per device (`worker/engine/devices`),
    without graphs.
    """

    model_dir: str
    dtype: str = "float32"
    max_model_len: int = 1024
    max_num_seqs: int = 512
    max_num_batched_tokens: int = 8192
    kv_cache_gib: float = 0.5
    seed: int = 0
    cuda_graphs: bool = True
    think: ThinkTokens | None = None
    threads: int = 1
    stop_at_eos: bool = True
    prefix_caching: bool = True
    version: int = 0
    lm_head_dtype: Literal["model", "float32"] = "model"
    concurrency: ConcurrencyConfig | None = None
    fp8: Fp8Config | None = None
    routes: bool = False
    speculation: Literal["off", "tail"] = "off"
    stop_strings: tuple[str, ...] = ()
    devices: EngineDevices = EngineDevices()
    extra: dict[str, object] = field(default_factory=dict)  # further vLLM engine arguments, for GPU machines


@dataclass(frozen=True, slots=True)
class SpeculationStats:
    """Totals of speculation since start."""

    drafted: int = 0
    """Number of proposed tokens."""
    accepted: int = 0
    """Number of proposed tokens that were accepted."""
    drafts: int = 0
    """Number of times a sequence had a draft."""
    drafted_steps: int = 0
    """Engine steps with drafts."""
    steps: int = 0
    """Engine steps of any kind."""


@dataclass(frozen=True, slots=True)
class EngineStats:
    """A snapshot of load and totals since start."""

    running: int
    """Number of sequences that advance with each step."""
    waiting: int
    running_limit: int
    """Current limit on sequences running at the same time."""
    running_tokens: int
    """Prompt and completion tokens of the running sequences. Routers balance load by this number."""
    kv_usage: float
    """Share of the KV cache in use, in [0, 1]."""
    preemptions: int
    generated_tokens: int
    """Sampled tokens, without forced ones and continued prefixes."""
    prompt_tokens: int
    """Tokens of submitted prompts, continued prefixes included."""
    aborted: int
    """Requests that ended as "aborted" or "pruned", without parked ones."""
    repetitions: int
    """Requests that ended as "repetition"."""
    budget_violations: int
    """Completions whose thinking, counted from their text, exceeds budget plus forced tokens. 0 while enforced."""
    at: float
    """Time of this snapshot, in seconds on the clock that `busy_s` uses."""
    busy_s: float
    """Time spent in `step`, including a call in progress."""
    fp8_simulated: bool | None = None
    """None if linear layers are not in FP8."""
    speculation: SpeculationStats | None = None
    """None if the engine does not speculate."""
