"""Rules on what the learner keeps beside the policy: critic, reference, proximal policy."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainer_core.spec.learner.adapter import LoRAAdapter
from trainer_core.spec.learner.precision import Float32Precision, HalfPrecision
from trainer_core.spec.learner.routing import LossFreeBalancing
from trainer_core.spec.methods.critic import GAEAdvantage
from trainer_core.spec.methods.distillation import PacedWeighting, ScopeWeighting
from trainer_core.spec.methods.filters import TruncatedFilter, ZeroAdvantageFilter

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
        yield ("critic",), f"the advantage {spec.advantage.type} asks no critic: take it out, or choose gae"
    if isinstance(spec.advantage, GAEAdvantage) and spec.advantage.truncated_end == "bootstrap":
        for index, chosen in enumerate(spec.filters):
            if isinstance(chosen, TruncatedFilter):
                yield (
                    ("filters", index),
                    "truncated leaves out the completions whose end advantage.truncated_end = bootstrap values: leave "
                    "one of the two out",
                )
    if spec.critic.warmup_steps >= spec.schedule.steps:
        yield ("critic", "warmup_steps"), "the policy would never be trained: the warm-up is as long as the run"


def reference(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """A schedule for a reference that does not exist, or cannot change."""
    if spec.kl.reset_steps is not None and spec.kl.coefficient == 0.0:
        yield ("kl", "reset_steps"), "without a KL penalty there is no reference policy to renew"
    if spec.kl.reset_steps is not None and isinstance(spec.policy.adapter, LoRAAdapter):
        yield (
            ("kl", "reset_steps"),
            "under an adapter the reference is the policy's own resting weights, which nothing renews: train all "
            "weights (policy.adapter = none), or take reset_steps out",
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
            "paced weighs by the share of right samples of a prompt, which is 0 or 1 for one sample: raise "
            "rollout.group_size",
        )
    if not spec.distillation.alone:
        return
    for index, chosen in enumerate(spec.filters):
        if isinstance(chosen, ZeroAdvantageFilter):
            yield (
                ("filters", index),
                "the teacher alone trains: groups of equal rewards teach as much as others, take zero_advantage out",
            )
    if spec.critic is not None:
        yield ("critic",), "the teacher alone trains: no loss asks the critic"


def adapter(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """Contradictions to what an adapter's matrices, or the policy that they share with the reference, can bear."""
    if not isinstance(spec.policy.adapter, LoRAAdapter):
        return
    if spec.kl.coefficient > 0 and isinstance(spec.policy.routing.balance, LossFreeBalancing):
        yield (
            ("policy", "routing", "balance"),
            "under an adapter the reference is the policy itself, and would be routed by the biases that loss_free "
            "moves: balance by auxiliary_loss, or train all weights",
        )
    # For the formats of engines see ``precision_rules``.
    if isinstance(spec.precision, HalfPrecision):
        yield (
            ("precision",),
            "half scales and rounds in the policy's own layers, and an adapter's matrices stand beside them: choose "
            "precision.type = float32, or policy.adapter.type = none",
        )


def memory(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """Ways to save memory that exclude one another, or another choice."""
    stage, optimizer = spec.parallelism.zero_stage, spec.optimizer
    if spec.policy.dtype == "bfloat16":
        yield from _bfloat16(spec)
    if optimizer.moment_bits == 8 and stage > 0:
        yield (
            ("optimizer", "moment_bits"),
            f"ZeRO stage {stage} cuts through the blocks that share a scale: 8-bit moments need "
            "parallelism.zero_stage 0",
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
        yield where, f"{ranks} learner ranks cannot be cut into groups of {size}: choose one of {divisors}"
    one = "set parallelism.context_parallel_size to 1"
    if cut.learner_placement == "spread":
        yield (
            ("parallelism", "learner_placement"),
            "ranks that share tokens out exchange them in every layer, and spread puts them on as many nodes as can "
            f"be: set parallelism.learner_placement to pack, or {one}",
        )
    if cut.batch_invariant:
        yield (
            ("parallelism", "batch_invariant"),
            "ranks that share tokens out multiply matrices of other shapes, which round otherwise: set "
            f"parallelism.batch_invariant to false, or {one}",
        )
    if not isinstance(spec.precision, Float32Precision):
        yield (
            ("precision",),
            f"precision.type = {spec.precision.type} has not been seen where ranks share tokens out: choose "
            f"precision.type = float32, or {one}",
        )
    if spec.rollout.engine.quantization is not None:
        yield (
            ("rollout", "engine", "quantization"),
            "the learner's image of FP8 has not been seen where ranks share tokens out: leave "
            f"rollout.engine.quantization out, or {one}",
        )
    for path, asked in (
        (("optimizer", "offload"), spec.optimizer.offload),
        (("policy", "activation_offload"), spec.policy.activation_offload),
    ):
        if asked:
            name = ".".join(path)
            yield path, f"{name} has not been seen where ranks share tokens out: set {name} to false, or {one}"


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
            "the engine's FP8 is rounded from float32 weights, which the probe has the learner do too: choose "
            "policy.dtype = float32, or take rollout.engine.quantization out",
        )
