"""Time and cost of a run spec on clusters of several sizes, before any of them exists."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from trainer_core.planning.cluster.hardware import cluster_of
from trainer_core.planning.cluster.layout import counted, smallest_engine, smallest_learner
from trainer_core.planning.cluster.scale import Scale
from trainer_core.planning.cluster.simulate import BatchWork, GpuTimeShares, Setting, simulate_cluster, workload
from trainer_core.planning.lengths import Lengths, LognormalLengths
from trainer_core.planning.memory import BYTES
from trainer_core.planning.modes import chosen_mode
from trainer_core.planning.split import best_split
from trainer_core.planning.workload import PlanError
from trainer_core.spec import RunSpec

SIZES = (8, 64, 1024)
"""Numbers of GPUs that are estimated by default."""
STEPS = 1000
"""Steps over which failures and checkpoints are averaged, and for which GPU hours and costs are given."""
PROMPT_TOKENS = 512.0
"""Prompt length that is assumed if none is given."""
SIGMA = 1.0
"""Standard deviation of the logarithm of lengths that is assumed if no lengths are given."""


@dataclass(frozen=True, slots=True)
class ClusterEstimate:
    """Time and cost of a run on one number of GPUs. Where ``refusal`` is given, it does not fit: all else is empty."""

    gpus: int
    """GPUs of the cluster."""
    refusal: str | None = None
    """Reason why the run does not fit, in a sentence."""
    rollout_engines: int = 0
    """Rollout engines."""
    gpus_per_engine: int = 0
    """Tensor parallel size."""
    rollout_gpus: int = 0
    """GPUs of all engines."""
    learner_gpus: int = 0
    """GPUs of the learner."""
    unused_gpus: int = 0
    """GPUs that would not make the step shorter."""
    step_seconds: float | None = None
    """Mean time of a step, with its share of checkpoints and failures."""
    shares: GpuTimeShares | None = None
    """Shares of the time of the GPUs in use."""
    sync_seconds: float | None = None
    """Time of a weight update."""
    tokens_per_s: float | None = None
    """Completion tokens learned per second."""
    failures: int = 0
    """Failures of engines and learner within a thousand steps."""
    gpu_hours: float | None = None
    """GPU hours of a thousand steps, unused GPUs left out."""
    cost: float | None = None
    """Cost of a thousand steps; empty without a price."""


def assumed_lengths(spec: RunSpec) -> Lengths:
    """Assumed lengths if none are known: the median is a quarter of the spec's limit."""
    return LognormalLengths(median=max(1.0, spec.rollout.max_tokens / 4), sigma=SIGMA)


def estimate(
    spec: RunSpec,
    scale: Scale,
    gpu: str,
    sizes: Sequence[int] = SIZES,
    *,
    prompt_tokens: float = PROMPT_TOKENS,
    lengths: Lengths | None = None,
    price: float | None = None,
) -> tuple[ClusterEstimate, ...]:
    """Estimates for each number of GPUs in ``sizes``, in the spec's own mode, with the best split of engines and
    learner.

    Args:
        spec: the run.
        scale: the size of its policy.
        gpu: kind of GPU, one of ``hardware.NODES``.
        sizes: numbers of GPUs: up to eight, or full hosts of eight.
        prompt_tokens: mean prompt length.
        lengths: distribution of completion lengths; ``assumed_lengths`` by default.
        price: the price of one GPU hour, in any currency.

    Raises:
        PlanError: kind or number of GPUs is invalid. A run that merely does not fit is reported in the result.
    """
    batch = batch_of(spec, prompt_tokens, lengths or assumed_lengths(spec))
    return tuple(_one(spec, scale, gpu, size, batch, price) for size in sizes)


def batch_of(spec: RunSpec, prompt_tokens: float, lengths: Lengths) -> BatchWork:
    """The work of a step of ``spec``."""
    return BatchWork(
        prompts=spec.schedule.prompts_per_step,
        group_size=spec.rollout.group_size,
        prompt_tokens=prompt_tokens,
        lengths=lengths,
        max_tokens=spec.rollout.max_tokens,
        updates=spec.schedule.updates_per_step,
        epochs=spec.schedule.epochs,
        max_running=spec.rollout.engine.max_num_seqs,
    )


def best_setting(spec: RunSpec, scale: Scale, gpu: str, gpus: int, batch: BatchWork) -> Setting:
    """The run with the smallest engines and learner that fit, and the fastest split of ``gpus`` between them.

    Raises:
        PlanError: it does not fit; the message says why.
    """
    cluster, mode = cluster_of(gpu, gpus), chosen_mode(spec)
    width = BYTES[spec.rollout.engine.dtype]
    engine = smallest_engine(cluster, scale, width, batch.prompt_tokens + batch.max_tokens)
    learner = smallest_learner(cluster, scale)
    if engine.tensor + learner.gpus > gpus:
        raise PlanError(
            f"one rollout engine needs {counted(engine.tensor)} and one copy of the learner {counted(learner.gpus)};"
            f" there are {gpus}."
        )
    # Publication and slow hosts depend on the split, and the split on them: start with half and half.
    setting = Setting(
        cluster=cluster,
        scale=scale,
        batch=batch,
        mode=mode,
        engine=engine,
        learner=learner,
        engines=max(1, (gpus - learner.gpus) // 2 // engine.tensor),
        copies=max(1, gpus // 2 // learner.gpus),
        checkpoint_every_steps=spec.checkpoint.every_steps,
    )
    split = best_split(workload(setting), mode, gpus)
    return replace(setting, engines=split.engines, copies=split.ranks)


def _one(spec: RunSpec, scale: Scale, gpu: str, gpus: int, batch: BatchWork, price: float | None) -> ClusterEstimate:
    cluster_of(gpu, gpus)  # raises for an invalid kind or number
    try:
        setting = best_setting(spec, scale, gpu, gpus, batch)
        run = simulate_cluster(setting, steps=STEPS)
    except PlanError as error:
        return ClusterEstimate(gpus=gpus, refusal=str(error))
    return ClusterEstimate(
        gpus=gpus,
        rollout_engines=setting.engines,
        gpus_per_engine=setting.engine.tensor,
        rollout_gpus=setting.engines * setting.engine.tensor,
        learner_gpus=setting.copies * setting.learner.gpus,
        unused_gpus=gpus - setting.gpus,
        step_seconds=run.step_seconds,
        shares=run.shares,
        sync_seconds=run.sync.publish_seconds + run.sync.load_seconds,
        tokens_per_s=run.tokens_per_s,
        failures=run.passage.learner_failures + run.passage.engine_failures,
        gpu_hours=run.gpu_hours_per_1000_steps,
        cost=None if price is None else price * run.gpu_hours_per_1000_steps,
    )
