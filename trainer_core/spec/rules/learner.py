"""Rules on what the learner keeps beside the policy: critic, reference, proximal policy."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainer_core.spec.learner.adapter import LoRAAdapter
from trainer_core.spec.learner.precision import Float32Precision, HalfPrecision
from trainer_core.spec.learner.routing import LossFreeBalancing
from trainer_core.spec.methods.critic import GAEAdvantage
from trainer_core.spec.methods.distillation import PacedWeighting, ScopeWeighting
from trainer_core.spec.methods.filters import TruncatedFilter, ZeroAdvantageFilter
from trainer_core.spec.methods.kl import OWN_REFERENCES

if TYPE_CHECKING:
    from trainer_core.spec.run import RunSpec

Path = tuple[str | int, ...]


def critic(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """An advantage without its critic, a critic that nobody asks, a run that is all warm-up."""
    asked = isinstance(spec.advantage, GAEAdvantage)
    if asked and spec.critic is None:
        yield ("critic",), "gae takes its values from a critic: choose critic.type = head or separate"
    if spec.critic is None:
        return
    if not asked:
        yield ("critic",), f"the advantage {spec.advantage.type} uses no critic: remove it, or choose gae"
    if isinstance(spec.advantage, GAEAdvantage) and spec.advantage.truncated_end == "bootstrap":
        for index, chosen in enumerate(spec.filters):
            if isinstance(chosen, TruncatedFilter):
                yield (
                    ("filters", index),
                    "truncated excludes the completions whose end advantage.truncated_end = bootstrap values: remove"
                    " one of the two",
                )
    if spec.critic.warmup_steps >= spec.schedule.steps:
        yield ("critic", "warmup_steps"), "the policy would never be trained: the warm-up is as long as the run"


def reference(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """A schedule for a reference that does not exist, or cannot change."""
    if spec.kl.reset_steps is not None and spec.kl.coefficient == 0.0:
        yield ("kl", "reset_steps"), "without a KL penalty there is no reference policy to reset"
    if spec.kl.reset_steps is not None and spec.kl.reference not in OWN_REFERENCES:
        yield (
            ("kl", "reset_steps"),
            f"a reset puts the policy's weights into the reference, which is another policy ({spec.kl.reference!r}):"
            " choose kl.reference = base or start, or remove reset_steps",
        )
    if spec.kl.reset_steps is not None and isinstance(spec.policy.adapter, LoRAAdapter):
        yield (
            ("kl", "reset_steps"),
            "under an adapter the reference is the policy's own frozen weights, which cannot be reset: train all"
            " weights (policy.adapter = none), or remove reset_steps",
        )


def teacher(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """A teacher whose groups are thrown away for their rewards, or whose weights cannot be made."""
    if spec.distillation is None:
        return
    weighting = spec.distillation.weighting
    if isinstance(weighting, ScopeWeighting) and spec.distillation.distribution != "sampled":
        yield (
            ("distillation", "distribution"),
            "scope compares the probabilities of the sampled token: choose distribution = sampled",
        )
    if isinstance(weighting, PacedWeighting) and spec.rollout.group_size == 1:
        yield (
            ("distillation", "weighting"),
            "paced weights by the share of right samples of a prompt, which is 0 or 1 for one sample: raise"
            " rollout.group_size",
        )
    if not spec.distillation.alone:
        return
    for index, chosen in enumerate(spec.filters):
        if isinstance(chosen, ZeroAdvantageFilter):
            yield (
                ("filters", index),
                "only the teacher trains: groups of equal rewards train as much as others, remove zero_advantage",
            )
    if spec.critic is not None:
        yield ("critic",), "only the teacher trains: no loss uses the critic"


def adapter(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """Contradictions to what an adapter's matrices, or the policy that they share with the reference, can bear."""
    if not isinstance(spec.policy.adapter, LoRAAdapter):
        return
    if spec.kl.coefficient > 0 and isinstance(spec.policy.routing.balance, LossFreeBalancing):
        yield (
            ("policy", "routing", "balance"),
            "under an adapter the reference is the policy itself, and would be routed by the biases that loss_free"
            " moves: use auxiliary_loss, or train all weights",
        )
    # For the formats of engines see ``precision_rules``.
    if isinstance(spec.precision, HalfPrecision):
        yield (
            ("precision",),
            "half scales and rounds in the policy's own layers, but an adapter's matrices are separate: choose"
            " precision.type = float32, or policy.adapter.type = none",
        )


def memory(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """Ways to save memory that exclude one another, or another choice."""
    stage, optimizer = spec.parallelism.zero_stage, spec.optimizer
    if spec.policy.dtype == "bfloat16":
        yield from _bfloat16(spec)
    if optimizer.moment_bits == 8 and stage > 0:
        yield (
            ("optimizer", "moment_bits"),
            f"ZeRO stage {stage} splits the blocks that share a scale: 8-bit moments need parallelism.zero_stage 0",
        )
    if optimizer.offload and stage == 0:
        yield ("optimizer", "offload"), "ZeRO offloads what it partitions: choose parallelism.zero_stage 1, 2 or 3"


def context(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """Ranks that cannot be cut into groups, and what has not been seen to work where they share tokens out."""
    cut, where = spec.parallelism, ("parallelism", "context_parallel_size")
    size, ranks = cut.context_parallel_size, cut.learner_ranks
    if size == 1:
        return
    if ranks % size:
        divisors = ", ".join(str(number) for number in range(1, ranks + 1) if ranks % number == 0)
        yield where, f"{ranks} learner ranks cannot be split into groups of {size}: choose one of {divisors}"
    one = "set parallelism.context_parallel_size to 1"
    if cut.learner_placement == "spread":
        yield (
            ("parallelism", "learner_placement"),
            "context-parallel ranks exchange tokens in every layer, and spread puts them on as many nodes as possible:"
            f" set parallelism.learner_placement to pack, or {one}",
        )
    if cut.batch_invariant:
        yield (
            ("parallelism", "batch_invariant"),
            "context-parallel ranks multiply matrices of other shapes, which round differently: set"
            f" parallelism.batch_invariant to false, or {one}",
        )
    if not isinstance(spec.precision, Float32Precision):
        yield (
            ("precision",),
            f"precision.type = {spec.precision.type} is untested with context parallelism: choose precision.type ="
            f" float32, or {one}",
        )
    if spec.rollout.engine.quantization is not None:
        yield (
            ("rollout", "engine", "quantization"),
            "the learner's simulated FP8 is untested with context parallelism: remove rollout.engine.quantization, or"
            f" {one}",
        )
    for path, asked in (
        (("optimizer", "offload"), spec.optimizer.offload),
        (("policy", "activation_offload"), spec.policy.activation_offload),
    ):
        if asked:
            name = ".".join(path)
            yield path, f"{name} is untested with context parallelism: set {name} to false, or {one}"


def _bfloat16(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    where = ("policy", "dtype")
    if not isinstance(spec.precision, Float32Precision):
        yield (
            where,
            f"precision.type = {spec.precision.type} rounds float32 weights for each pass, and bfloat16 weights are "
            "rounded already: choose precision.type = float32, or policy.dtype = float32",
        )
    if spec.rollout.engine.quantization is not None:
        yield (
            where,
            "the engine's FP8 is rounded from float32 weights, as the learner does for the probe: choose policy.dtype ="
            " float32, or remove rollout.engine.quantization",
        )
