"""Generation of trajectories."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from trainer_core.spec.base import Advice, SpecModel, field, method_doc
from trainer_core.spec.generation.early_stop import EarlyStop
from trainer_core.spec.generation.environment import Environment
from trainer_core.spec.learner.precision import Fp8, probe_tolerance
from trainer_core.spec.watched import AGE


class SyncMode(SpecModel):
    """Generate, then learn: every token comes from the current weights (staleness 0)."""

    model_config = method_doc("Synchronous", "v_token = v_learner", "HybridFlow (arXiv 2409.19256)")
    advice: ClassVar[Advice] = Advice(
        "Exact and simple; engines and learner wait for each other.",
        ("timing_s/wait",),
    )
    type: Literal["sync"] = "sync"


class StreamedMode(SpecModel):
    """Finished groups go to the learner immediately. It accumulates their gradients while the rest of the batch is
    still being generated. One optimizer step per batch: strictly on-policy, the same gradient as ``sync``."""

    model_config = method_doc(
        "Streamed (periodic asynchrony)", "g = Σ_groups ∇L, v_token = v_learner", "arXiv 2511.18871"
    )
    advice: ClassVar[Advice] = Advice(
        "Strictly on-policy, with the learner's time hidden by generation.",
        ("timing_s/wait", "timing_s/learn", "perf/engine_busy_share"),
    )
    type: Literal["streamed"] = "streamed"


class AsyncMode(SpecModel):
    """Generation never waits for the learner; how far it runs ahead is bounded."""

    model_config = method_doc(
        "Asynchronous (AReaL)", "dispatched ≤ (η + version + 1) · prompts_per_step", "AReaL (arXiv 2505.24298), §5.1"
    )
    advice: ClassVar[Advice] = Advice(
        "Engines and learner on separate hardware; long tails of lengths.",
        AGE,
    )
    type: Literal["async"] = "async"
    max_staleness: int = field(1, ge=1, le=64, unit="versions")
    """η: largest distance between the weights that generated a token and the weights that are updated with it."""
    interruptible: bool = True
    """New weights apply to running sequences. If off, these finish with the old weights first."""


class InFlightMode(SpecModel):
    """Weights change immediately under running sequences, which keep their KV cache unless set otherwise."""

    model_config = method_doc("In flight (PipelineRL)", "v_learner − v_token ≤ max_staleness", "arXiv 2509.19128")
    advice: ClassVar[Advice] = Advice(
        "The freshest tokens at full speed; long completions.",
        (*AGE, "timing_s/paused"),
    )
    type: Literal["in_flight"] = "in_flight"
    max_staleness: int = field(4, ge=1, le=64, unit="versions")
    """Largest distance between the weights that generated a token and the weights that are updated with it."""


RolloutMode = Annotated[SyncMode | StreamedMode | AsyncMode | InFlightMode, Field(discriminator="type")]


class Partial(SpecModel):
    """Over-provisioning: more groups are started than a batch needs; when it is full, the rest are stopped."""

    model_config = method_doc(
        "Partial rollouts",
        "start ⌈f · B⌉ groups, stop at B, or at Σ |y| ≥ token_budget over finished groups",
        "APRIL (arXiv 2509.18521); token budget: C3PO++ (arXiv 2510.18855), algorithm 1",
    )
    advice: ClassVar[Advice] = Advice(
        "A few long completions hold up every batch of a synchronous run.",
        ("rollouts/parked", "rollouts/continued", "staleness/max", "timing_s/generate"),
    )
    over_provision: float = field(1.0, ge=1.0, le=8.0)
    """f: groups that are started, as a multiple of ``prompts_per_step``. 1 is off."""
    max_continuations: int = field(1, ge=0, le=16)
    """How often an unfinished group may be stopped and continued by newer weights: its largest staleness."""
    token_budget: int | None = field(None, ge=1, le=10**12, unit="tokens")
    """Φ of C3PO++: the batch is also full once finished groups hold this many completion tokens, so that every update
    learns from about as many. C3PO++ drops groups that were continued too often; here the batch waits for them. Needs
    over-provisioning. Plans still assume ``prompts_per_step`` groups. Empty: off."""


class FifoScheduler(SpecModel):
    """Groups in the order in which they were drawn; stopped groups continue first."""

    type: Literal["fifo"] = "fifo"


class TailBatchingScheduler(SpecModel):
    """Prompts whose answers were unfinished when the batch was full are collected and generated again in a separate
    long round. Strictly on-policy; needs over-provisioning."""

    model_config = method_doc(
        "Tail batching",
        "short rounds take the first B of ⌈f · B⌉; long rounds the rest",
        "RollPacker (arXiv 2509.21009)",
    )
    advice: ClassVar[Advice] = Advice(
        "Long tails, when every token must come from the current weights.",
        ("rollouts/deferred", "timing_s/generate"),
    )
    type: Literal["tail_batching"] = "tail_batching"


Scheduler = Annotated[FifoScheduler | TailBatchingScheduler, Field(discriminator="type")]


class DynamicSampling(SpecModel):
    """Groups without signal (all rewards equal) are replaced by new prompts while the others are still being
    generated."""

    model_config = method_doc(
        "Dynamic sampling", "draw until B groups have max(r) > min(r)", "DAPO (arXiv 2503.14476), §3.2"
    )
    advice: ClassVar[Advice] = Advice(
        "Every step should learn from a full batch of informative groups.",
        ("rollouts/rejected", "groups/zero_advantage_share", "timing_s/generate"),
    )
    enabled: bool = False
    """Off: groups without signal stay in the batch and are filtered out of the loss. Only rewards count here, not a KL
    penalty in them, which the learner scores later: groups that differ only by such a penalty are replaced too."""
    max_refills: int = field(3, ge=1, le=64)
    """Maximum of groups replaced per step, as a multiple of ``prompts_per_step``; then any group fills the batch."""


class FixedConcurrency(SpecModel):
    """The engine runs as many sequences as it has slots."""

    type: Literal["fixed"] = "fixed"


class AdaptiveConcurrency(SpecModel):
    """The number of running sequences follows the KV cache: full, but without preempted sequences."""

    model_config = method_doc(
        "Concurrency control",
        "N ← N + increase after N quiet completions; N ← decrease · N on preemption",
        "CoPRIS (arXiv 2511.05589) holds N constant; the law is that of Chiu and Jain (1989)",
    )
    advice: ClassVar[Advice] = Advice(
        "The KV cache is small for the lengths of the completions.",
        ("perf/kv_usage", "perf/preemptions", "perf/running_sequences"),
    )
    type: Literal["adaptive"] = "adaptive"
    kv_target: float = field(0.9, gt=0.0, le=1.0, unit="share")
    """The number rises only while less than this share of the KV cache is in use."""
    increase: int = field(1, ge=1, le=1024, unit="sequences")
    """Sequences added after each quiet round: as many completions as running sequences."""
    decrease: float = field(0.75, gt=0.0, lt=1.0)
    """Factor when the full cache has preempted a sequence."""


Concurrency = Annotated[FixedConcurrency | AdaptiveConcurrency, Field(discriminator="type")]


class Engine(SpecModel):
    """The vLLM engine of each rollout worker."""

    dtype: Literal["float32", "bfloat16", "float16"] = "float32"
    """Number type of weights and activations in the engine. ``precision`` is the learner's."""
    quantization: Fp8 | None = None
    """Linear layers in FP8. Empty: in ``dtype``."""
    max_model_len: int = field(512, ge=8, le=1_048_576, unit="tokens")
    """Longest prompt plus completion."""
    max_num_seqs: int = field(256, ge=1, le=4096, unit="sequences")
    """Sequences that run at the same time in one engine."""
    kv_cache_gib: float = field(0.5, gt=0.0, le=1024.0, unit="GiB")
    """Memory of the KV cache on each device of an engine."""
    tensor_parallel_size: int = field(1, ge=1, le=64, unit="devices")
    """Devices of one engine that split every layer: each computes some of the heads, and part of the values between a
    layer's matrices. For policies that do not fit on one device. As in vLLM."""
    pipeline_parallel_size: int = field(1, ge=1, le=64, unit="devices")
    """Groups of ``tensor_parallel_size`` devices that each hold some of the layers, in sequence. One engine computes
    one step at a time, so this gives memory but no speed."""
    expert_parallel: bool = False
    """Distribute whole experts over the devices of ``tensor_parallel_size``, instead of splitting each expert."""
    concurrency: Concurrency = FixedConcurrency()
    """How many sequences run, up to ``max_num_seqs``."""
    speculation: Literal["tail", "off"] = "off"
    """Sampling of several tokens of a sequence in one step when few sequences run. Drafts come from the answer itself,
    its group and earlier answers to the prompt, and are used only when measured to help. Samples have the same
    distribution and the same log-probabilities. ``tail`` is inactive for policies whose layers are not all full
    attention."""
    cuda_graphs: bool = True
    """Whether a GPU records its decoding step once and replays it, which saves Python's time for each step. The same
    kernels run, so samples do not change. Engines that return expert routes (``policy.routing.replay``), engines of
    several devices and engines on CPUs do without."""
    lm_head_dtype: Literal["model", "float32"] = "model"
    """Number type of the projection to logits: the only switch of a float32 head. With ``float32`` a narrower engine
    multiplies in float32, with the learner's own weights and as the learner always does, and the mismatch of
    log-probabilities shrinks (MiniMax-M1, arXiv 2506.13585)."""
    probe_tolerance: float | None = field(None, gt=0.0, le=5.0, unit="nats")
    """Largest mean difference between engine and learner log-probabilities that counts as noise at the start, when both
    have the same weights; updates are judged by the noise measured then. The learner scores the probe in the engine's
    precision. Empty: by the number type, 0.05 for float32, 0.1 for float16, 0.5 for bfloat16, twice that if the output
    layer is not float32, and 0.5 more if activations are in FP8."""

    @property
    def devices(self) -> int:
        """Devices that one engine computes on."""
        return self.tensor_parallel_size * self.pipeline_parallel_size

    @property
    def tolerance(self) -> float:
        """Largest mean difference of the probe that may count as noise at the start, in nats."""
        if self.probe_tolerance is not None:
            return self.probe_tolerance
        return probe_tolerance(self.dtype, self.lm_head_dtype, self.quantization)


class Rollout(SpecModel):
    """Sampling of prompt groups."""

    group_size: int = field(8, ge=1, le=1024, unit="samples")
    """Samples per prompt."""
    temperature: float = field(1.0, gt=0.0, le=2.0, steer="group_dispatch")
    """Sampling temperature; the learner scores tokens at the same temperature."""
    top_p: float = field(1.0, gt=0.0, le=1.0)
    """Nucleus sampling. Below 1 the behaviour policy is truncated and the importance ratios are biased."""
    top_k: int = field(0, ge=0)
    """Keep only the k likeliest tokens; 0 keeps all. Above 0 the behaviour policy is truncated."""
    max_tokens: int = field(128, ge=1, le=1_048_576, unit="tokens", steer="group_dispatch")
    """Longest completion, thinking included."""
    stop: tuple[Annotated[str, Field(min_length=1, max_length=200)], ...] = field((), max_length=16)
    """Texts after which a completion ends, in evaluations too; the text itself stays in it. The policy's own
    end-of-sequence tokens end it in any case."""
    mode: RolloutMode = SyncMode()
    """How generation and learning interleave."""
    kv_on_update: Literal["keep", "recompute"] | None = None
    """KV cache of running sequences at a weight update. None: kept in flight, otherwise recomputed."""
    weight_transport: Literal["auto", "object_store", "shared_memory", "distributed", "files", "cuda_ipc"] = "auto"
    """How new weights reach the engines. ``auto`` uses shared memory if all models are on one host, NCCL if they are on
    several with a GPU each, else Ray's object store; the run's log says which, and why. ``distributed`` sends them by
    torch.distributed, ``files`` through the folder or bucket that the operator configured for weights, ``cuda_ipc``
    within the memory of one GPU that all models share. An impossible choice is refused before the run starts."""
    partial: Partial = Partial()
    """Start more groups than needed, and stop when the batch is full."""
    scheduler: Scheduler = FifoScheduler()
    """Rounds in which prompts are generated."""
    dynamic_sampling: DynamicSampling = DynamicSampling()
    """Replacement of groups without signal."""
    early_stop: EarlyStop = EarlyStop()
    """Which completions are not worth finishing."""
    environment: Environment | None = None
    """What answers the policy between its turns. Empty: one turn."""
    engine: Engine = Engine()
    """Engine settings."""

    @property
    def max_staleness(self) -> int:
        """Largest age, in versions, of a token that is learned from; ``partial`` ages what it continues."""
        if isinstance(self.mode, AsyncMode | InFlightMode):
            return self.mode.max_staleness
        stops = self.partial.over_provision > 1.0 and isinstance(self.scheduler, FifoScheduler)
        return self.partial.max_continuations if stops else 0

    @property
    def overlaps(self) -> bool:
        """Whether generation goes on while the learner updates."""
        return isinstance(self.mode, AsyncMode | InFlightMode)

    @property
    def recompute_kv(self) -> bool:
        """Whether running sequences compute their keys and values again under new weights."""
        if self.kv_on_update is not None:
            return self.kv_on_update == "recompute"
        return not isinstance(self.mode, InFlightMode)
